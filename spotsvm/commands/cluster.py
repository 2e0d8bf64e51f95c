"""The Dask cluster that the command line was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# seconds within which the scheduler must answer, and the first worker be there
_ANSWER = 10.0
_WORKER = 60.0


@contextmanager
def cluster(address: str | None) -> Iterator[Any]:
    """Give a client of the cluster at an address, None without one; leaving it cancels what still runs there.

    Raises
    ------
    ArgumentError, WorkersError
        If the address is none, nobody answers there, or no worker comes within a minute.
    """
    if address is None:
        yield None
        return
    from spotsvm.errors import WorkersError
    from spotsvm.workers.dask_connection import connect

    with connect(address, "--dask", timeout=_ANSWER) as client:
        try:
            client.wait_for_workers(1, timeout=_WORKER)
        except (OSError, RuntimeError) as error:  # a timeout is an OSError
            raise WorkersError(f"--dask {address}: no worker is there within {_WORKER:g} s ({error}); start one") from error
        yield client

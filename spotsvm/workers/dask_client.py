"""Find, or connect to, a Dask cluster, and say in one line what keeps it from being used."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from spotsvm.errors import ArgumentError, WorkersError

_log = logging.getLogger(__name__)


def is_dask(executor: Any) -> bool:
    """Tell whether an executor is a Dask client, or "dask", without loading Dask.

    Examples
    --------
    >>> is_dask("dask"), is_dask("loky"), is_dask(None)
    (True, False, False)
    """
    if isinstance(executor, str):
        return executor == "dask"
    return any(kind.__name__ == "Client" and kind.__module__.split(".")[0] == "distributed" for kind in type(executor).__mro__)


def dask_client(executor: Any) -> Any:
    """Give the client that `is_dask` is true of, or for "dask" the one in use.

    Raises
    ------
    ArgumentError
        If Dask is not installed, no client is in use, or the client is an asynchronous or a closed one.
    """
    client = _client_in_use() if isinstance(executor, str) else executor
    if client.asynchronous:
        raise ArgumentError(
            f"executor={client!r} is an asynchronous client, which answers only where it is awaited; use Client(...) without "
            "asynchronous=True"
        )
    if client.status != "running":
        raise ArgumentError(f"executor={client!r} is {client.status}; use a client that is connected to a scheduler")
    return client


def _client_in_use() -> Any:
    distributed = _distributed('executor="dask"')
    try:
        return distributed.Client.current()
    except ValueError as error:
        raise ArgumentError(
            'executor="dask" needs a client in use, and there is none; make one by distributed.Client(...), or give one'
        ) from error


def _distributed(wanted_by: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError(f'{wanted_by} needs Dask; install it by pip install "spotsvm[dask]"') from error
    return distributed


def connect(address: str, name: str, *, security: Any = None, timeout: float | str | None = None) -> Any:
    """Open a client of our own, which is nobody's default client.

    Parameters
    ----------
    address : str
        The scheduler's, as tcp://host:8786.
    name : str
        What gave the address, for messages.
    security : distributed.Security or None
        As of `distributed.Client`.
    timeout : float, str or None
        Seconds within which the scheduler must answer; None is what Dask is set to.

    Raises
    ------
    ArgumentError
        If Dask is not installed, or the address is none.
    WorkersError
        If no scheduler answers there.
    """
    distributed = _distributed(name)
    options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    try:
        _check_address(address)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            client = distributed.Client(address, security=security, set_as_default=False, name="spotsvm", **options)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{name} {address!r} is no address of a Dask scheduler: {error}; use one as tcp://host:8786"
        ) from error
    except (OSError, ImportError) as error:  # a timeout is an OSError
        raise WorkersError(f"{name} {address}: no Dask scheduler answers there ({type(error).__name__}: {error})") from error
    for warning in caught:
        if type(warning.message).__name__ == "VersionMismatchWarning":
            _log.warning("%s %s: %s", name, address, _differences(client))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return client


def _check_address(address: str) -> None:
    """Raise ValueError for what is no address; a client that fails so tries in vain to close for half a minute."""
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.comm.registry import get_backend

    scheme, _ = parse_address(address, strict=True)
    get_backend(scheme)
    if scheme in ("tcp", "tls", "ucx", "ws", "wss"):
        get_address_host_port(address, strict=True)


def _differences(client: Any) -> str:
    """Say in one line which versions differ between this process, the scheduler and the workers."""
    versions = client.get_versions()
    here = versions["client"]["packages"]
    there = {"the scheduler": versions["scheduler"], **versions["workers"]}
    differing = [
        f"{package} {other['packages'].get(package)} at {place} (here {version})"
        for place, other in there.items()
        for package, version in here.items()
        if other["packages"].get(package) != version
    ]
    more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
    return f"versions differ, and trials may fail: {', '.join(differing[:5])}{more}"

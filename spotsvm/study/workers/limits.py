"""Limits on the memory that trials take."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

from spotsvm.common.errors import ArgumentError
from spotsvm.common.text import shown_value
from spotsvm.trials.trial import Outcome, as_float

_UNITS = {"": 1, "b": 1} | {
    prefix + ending: base**power
    for power, prefix in enumerate("kmgt", start=1)
    for ending, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
_SMALLEST = 1_000_000


def checked_memory_limit(memory_limit: Any) -> int | None:
    """Return a memory limit in bytes; raise ArgumentError if it is not valid, or the system, other than Linux, cannot enforce it.

    It is at least a million bytes, or text such as "512MB" or "1.5 GiB": k, M, G and T are powers of 1000, Ki, Mi, Gi and Ti of
    1024, as in Dask.

    Examples
    --------
    >>> checked_memory_limit("1.5GB"), checked_memory_limit("64 MiB"), checked_memory_limit(2e9)
    (1500000000, 67108864, 2000000000)
    """
    if memory_limit is None:
        return None
    size = _size(memory_limit)
    if size is None or not _SMALLEST <= size < 2**62:
        raise ArgumentError(
            f"memory_limit={shown_value(memory_limit)} is not an amount of memory that a trial can run with; "
            "use bytes, at least 1000000, or text such as '2GB' or '512MiB'"
        )
    if not sys.platform.startswith("linux"):
        raise ArgumentError(
            f"memory_limit={memory_limit!r} cannot be enforced on {sys.platform}, only on Linux; use None, and limit the "
            "processes with the tools of the system or of its batch queue"
        )
    return int(size)


def _size(given: Any) -> float | None:
    if isinstance(given, Real) and not isinstance(given, bool):
        return as_float(given)
    if not isinstance(given, str):
        return None
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{0,18})?)\s*([a-z]*)\s*", given.lower())
    return None if found is None or found[2] not in _UNITS else float(found[1]) * _UNITS[found[2]]


def shown(size: int) -> str:
    """Return an amount of memory as text.

    Examples
    --------
    >>> shown(1_500_000_000), shown(2_000_000)
    ('1.5 GB', '2 MB')
    """
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


@contextmanager
def limited_memory(memory_limit: int | None) -> Iterator[None]:
    """Limit this process to the memory it has and `memory_limit` bytes more; beyond that MemoryError is raised.

    The limit is the soft one of RLIMIT_DATA, which counts all private memory that can be written, touched or not.
    """
    if memory_limit is None:
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    wanted = own_memory() + memory_limit
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if before[1] < 0 else min(wanted, before[1]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)


_lock = threading.Lock()
_n_inside = 0
_before = (0, 0)
_base = 0
_highest = 0


@contextmanager
def limited_process(memory_limit: int | None) -> Iterator[None]:
    """Limit this process, while trials run in its threads, to what it had before and `memory_limit` bytes for each of them.

    The system counts the memory of a process, not of a thread: concurrent trials share the sum of their limits. Beyond that
    MemoryError is raised.

    Examples
    --------
    >>> with limited_process(None):
    ...     pass
    """
    global _n_inside, _before, _base, _highest
    if memory_limit is None:
        yield
        return
    import resource

    with _lock:
        if _n_inside == 0:
            _before, _base, _highest = resource.getrlimit(resource.RLIMIT_DATA), own_memory(), 0
        _n_inside += 1
        # the limit never falls while trials run: it would leave nothing to those that start
        _highest = max(_highest, _base + _n_inside * memory_limit)
        soft = _highest if _before[1] < 0 else min(_highest, _before[1])
        resource.setrlimit(resource.RLIMIT_DATA, (soft, _before[1]))
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                resource.setrlimit(resource.RLIMIT_DATA, _before)


def own_memory() -> int:
    """Return the private writable memory of this process in bytes, as RLIMIT_DATA counts it; Linux only."""
    found = re.search(r"^VmData:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return 0 if found is None else 1024 * int(found[1])


def with_limit_named(outcome: Outcome, memory_limit: int | None) -> Outcome:
    """Return the outcome, with the limit named in its reason if it failed by it.

    Examples
    --------
    >>> with_limit_named(Outcome("failed", reason="MemoryError: ", error=MemoryError()), 2_000_000).reason
    'it took more than memory_limit=2 MB: MemoryError: '
    """
    # compiled code that finds no memory may raise a SystemError as well
    if memory_limit is None or not isinstance(outcome.error, MemoryError | SystemError):
        return outcome
    reason = f"it took more than memory_limit={shown(memory_limit)}: {outcome.reason}"
    return replace(outcome, reason=reason, error=MemoryError(reason))

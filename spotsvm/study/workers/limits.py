"""Limits on trials: on their memory, and to one thread in BLAS, OpenMP and numba, so that only trials run concurrently."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any

import threadpoolctl

from spotsvm.common.json_values import plain_number
from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError
from spotsvm.trials.outcome import Outcome

_UNITS = {"": 1, "b": 1} | {
    prefix + ending: base**power
    for power, prefix in enumerate("kmgt", start=1)
    for ending, base in (("", 1000), ("b", 1000), ("ib", 1024))
}
_SMALLEST = 1_000_000


def checked_memory_limit(memory_limit: Any) -> int | None:
    """Return a memory limit in bytes; ArgumentError if it is not valid, or the system, other than Linux, cannot enforce it.

    At least a million bytes, or text such as "512MB" or "1.5 GiB", with powers of 1000 and 1024 as in Dask.
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
        return plain_number(given)
    if not isinstance(given, str):
        return None
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{0,18})?)\s*([a-z]*)\s*", given.lower())
    return None if found is None or found[2] not in _UNITS else float(found[1]) * _UNITS[found[2]]


def memory_text(size: int) -> str:
    """Return an amount of memory as text, such as 1.5 GB."""
    return f"{size / 1e9:.3g} GB" if size >= 1e9 else f"{size / 1e6:.3g} MB"


_lock = threading.Lock()
_n_limited = 0
_before = (0, 0)
_base = 0
_highest = 0


@contextmanager
def limited_memory(memory_limit: int | None) -> Iterator[None]:
    """Limit this process, while trials run in it, to what it had before and `memory_limit` bytes for each; then MemoryError.

    The limit is the soft one of RLIMIT_DATA, which counts all private memory that can be written, touched or not. It is that of a
    process, not of a thread: concurrent trials share the sum of their limits.
    """
    global _n_limited, _before, _base, _highest
    if memory_limit is None:
        yield
        return
    import resource

    with _lock:
        if _n_limited == 0:
            _before, _base, _highest = resource.getrlimit(resource.RLIMIT_DATA), own_memory(), 0
        _n_limited += 1
        # the limit never falls while trials run: it would leave nothing to those that start
        _highest = max(_highest, _base + _n_limited * memory_limit)
        soft = _highest if _before[1] < 0 else min(_highest, _before[1])
        resource.setrlimit(resource.RLIMIT_DATA, (soft, _before[1]))
    try:
        yield
    finally:
        with _lock:
            _n_limited -= 1
            if _n_limited == 0:
                resource.setrlimit(resource.RLIMIT_DATA, _before)


def own_memory() -> int:
    """Return the private writable memory of this process in bytes, as RLIMIT_DATA counts it; Linux only."""
    found = re.search(r"^VmData:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    return 0 if found is None else 1024 * int(found[1])


def with_limit_named(outcome: Outcome, memory_limit: int | None) -> Outcome:
    """Return the outcome, with the limit named in its reason if it failed by it."""
    # compiled code that finds no memory may raise a SystemError as well
    if memory_limit is None or not isinstance(outcome.error, MemoryError | SystemError):
        return outcome
    reason = f"it took more than memory_limit={memory_text(memory_limit)}: {outcome.reason}"
    return replace(outcome, reason=reason, error=MemoryError(reason))


# variables that the libraries read when they are loaded
_LIBRARIES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA")
ENVIRONMENT = {f"{name}_NUM_THREADS": "1" for name in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}


class _Libraries:
    """The thread pools of the loaded libraries, searched again after further modules have been imported."""

    def __init__(self) -> None:
        self._n_modules = -1
        self._found: tuple[Any, Any] = None, None

    def blas_and_openmp(self) -> tuple[Any, Any]:
        if self._n_modules != len(sys.modules):
            self._n_modules, found = len(sys.modules), threadpoolctl.ThreadpoolController()
            # one controller for each: restoring a limit restores all libraries of its controller
            self._found = found.select(user_api="blas"), found.select(user_api="openmp")
        return self._found


_libraries = _Libraries()
_n_held = 0
_blas_limits: list[tuple[Any, Any]] = []


def hold_process_to_one_thread() -> None:
    """Limit a process that only evaluates trials to one thread, in the libraries it has loaded and in those it will load."""
    with _lock:
        os.environ.update(ENVIRONMENT)
        blas, openmp = _libraries.blas_and_openmp()
        _limit(blas)
        openmp.limit(limits=1)
    numba = sys.modules.get("numba")
    if numba is not None:
        numba.set_num_threads(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit the libraries to one thread while a trial runs in a thread of this process.

    The number of threads of OpenMP and numba belongs to the calling thread, that of BLAS to the process: it is restored when the
    last of the concurrent trials is completed. A library that a trial loads is limited from the next trial on.
    """
    global _n_held
    numba = sys.modules.get("numba")
    n_numba = None if numba is None else numba.get_num_threads()
    with _lock:
        blas, openmp = _libraries.blas_and_openmp()
        if not _blas_limits or _blas_limits[-1][0] is not blas:
            _blas_limits.append((blas, _limit(blas)))
        _n_held += 1
    try:
        if numba is not None:
            numba.set_num_threads(1)
        with openmp.limit(limits=1):
            yield
    finally:
        if numba is not None:
            numba.set_num_threads(n_numba)
        with _lock:
            _n_held -= 1
            while _n_held == 0 and _blas_limits:
                blas, limit = _blas_limits.pop()
                _take_control(blas)
                limit.restore_original_limits()
                _take_control(blas)


def _limit(blas: Any) -> Any:
    _take_control(blas)
    limit = blas.limit(limits=1)
    _take_control(blas)
    return limit


def _take_control(blas: Any) -> None:
    """Let any thread set the number of BLAS threads: threadpoolctl after 3.6 obeys one thread only, even if it is idle."""
    for library in blas.lib_controllers:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)

"""Hold BLAS, OpenMP and numba to one thread where trials run: trials at once are the one level of parallelism."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

# what the libraries read when they are loaded
ENVIRONMENT = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "BLIS_NUM_THREADS",
        "VECLIB_MAXIMUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "NUMBA_NUM_THREADS",
    ),
    "1",
)


class _Libraries:
    """The thread pools of the libraries that are loaded, looked for again when further modules have been."""

    def __init__(self) -> None:
        self._n_modules = -1
        self._found: tuple[Any, Any] = None, None

    def blas_and_openmp(self) -> tuple[Any, Any]:
        if self._n_modules != len(sys.modules):
            self._n_modules, found = len(sys.modules), threadpoolctl.ThreadpoolController()
            # one for each: giving back what was before gives back all that a controller has
            self._found = found.select(user_api="blas"), found.select(user_api="openmp")
        return self._found


_libraries = _Libraries()
_lock = threading.Lock()
_n_inside = 0
_blas_limits: list[tuple[Any, Any]] = []


def hold_process_to_one_thread() -> None:
    """Hold this process, which is there for trials alone, to one thread: the libraries it has loaded, and those it will load."""
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
    """Hold the libraries to one thread while a trial runs in a thread of this process.

    OpenMP's and numba's number of threads belongs to the thread that asks for it, BLAS's to the process: it is given back when
    the last of the trials that run at once has ended. A library that a trial loads is held from the next trial on.
    """
    global _n_inside
    numba = sys.modules.get("numba")
    n_numba = None if numba is None else numba.get_num_threads()
    with _lock:
        blas, openmp = _libraries.blas_and_openmp()
        if not _blas_limits or _blas_limits[-1][0] is not blas:
            _blas_limits.append((blas, _limit(blas)))
        _n_inside += 1
    try:
        if numba is not None:
            numba.set_num_threads(1)
        with openmp.limit(limits=1):
            yield
    finally:
        if numba is not None:
            numba.set_num_threads(n_numba)
        with _lock:
            _n_inside -= 1
            while _n_inside == 0 and _blas_limits:
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
    """Let any thread set the number of BLAS's threads: threadpoolctl after 3.6 heeds one thread only, be it idle."""
    for library in blas.lib_controllers:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)

"""Limit BLAS, OpenMP and numba to one thread where trials run: concurrent trials are the only level of parallelism."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import threadpoolctl

# variables that the libraries read when they are loaded
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
_lock = threading.Lock()
_n_inside = 0
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
    """Let any thread set the number of BLAS threads: threadpoolctl after 3.6 obeys one thread only, even if it is idle."""
    for library in blas.lib_controllers:
        release = getattr(library, "clear_controlling_thread", None)
        if release is not None:
            release(force=True)

"""Ctrl-C, which a terminal sends to all its processes: worker processes leave it to the process that starts them."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from multiprocessing import resource_tracker
from typing import Any


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in this thread; a process that the block starts inherits this, and gets none, not even before its imports.

    One that is pressed meanwhile is raised when the block is left.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it unblocks Ctrl-C when it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts_kept_from_workers() -> Iterator[None]:
    """Let the worker processes that joblib starts in this block get no Ctrl-C: joblib ends them when it is raised here.

    This holds for joblib's default backend, also where scikit-learn uses it, and not for one that the user has chosen.
    """
    from joblib.parallel import BACKENDS, LokyBackend, register_parallel_backend

    if BACKENDS.get("loky") is not LokyBackend:  # a block around this one, or the user, has replaced it
        yield
        return
    register_parallel_backend("loky", _backend())
    try:
        yield
    finally:
        register_parallel_backend("loky", LokyBackend)


@cache
def _backend() -> type[Any]:
    from joblib.parallel import LokyBackend

    class QuietLokyBackend(LokyBackend):  # type: ignore[misc, unused-ignore]
        """joblib's backend, whose processes start when they are given something to do."""

        def submit(self, func: Any, callback: Callable[[Any], Any] | None = None) -> Any:
            with interrupts_blocked():
                return super().submit(func, callback)

        def apply_async(self, func: Any, callback: Callable[[Any], Any] | None = None) -> Any:  # until joblib 1.4
            with interrupts_blocked():
                return super().apply_async(func, callback)

    return QuietLokyBackend

"""Exclusive access to a study: one run at a time, and one thread at a time."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

from spotsvm.common.errors import TrialStateError

P = ParamSpec("P")
Returned = TypeVar("Returned")


def in_turn(method: Callable[Concatenate[Any, P], Returned]) -> Callable[Concatenate[Any, P], Returned]:
    """Make threads take turns in a method of an object with a `guard`; the thread that holds it may call further methods."""

    @wraps(method)
    def one_at_a_time(self: Any, /, *args: P.args, **named: P.kwargs) -> Returned:
        with self.guard.turn:
            return method(self, *args, **named)

    return one_at_a_time


class RunGuard:
    """Exclusive access to a study: one run at a time, no other asking or telling during it, one thread at a time (`turn`)."""

    def __init__(self) -> None:
        self.renew_locks()
        self._running = False
        self._thread_of_loop: int | None = None
        _GUARDS.add(self)

    def renew_locks(self) -> None:
        """Create new locks, as a forked process needs: the thread that held one may not exist there."""
        self._lock, self.turn = threading.Lock(), threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a new guard: the copy of a running study is not running."""
        return RunGuard, ()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Mark the study as running in this block; raise TrialStateError if it is running already."""
        with self._lock:
            if self._running:
                raise TrialStateError(
                    "the study is being run already, by another thread or by the run that this was called from; wait until that "
                    "run() has returned, or pass it an executor to evaluate several trials at once"
                )
            self._running = True
        try:
            yield
        finally:
            self._running = False

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Allow this thread, which is that of the run, to ask and tell in this block."""
        self._thread_of_loop = threading.get_ident()
        try:
            yield
        finally:
            self._thread_of_loop = None

    def check(self, what: str) -> None:
        """Raise TrialStateError if a run is under way and the caller is not its loop."""
        if self._running and self._thread_of_loop != threading.get_ident():
            raise TrialStateError(f"{what}() cannot be called while the study is being run; call it after run() has returned")


_GUARDS: WeakSet[RunGuard] = WeakSet()


def _renew_all() -> None:
    for guard in list(_GUARDS):
        guard.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

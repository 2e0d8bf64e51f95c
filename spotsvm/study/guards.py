"""One run of a study at a time, nobody else who asks or tells meanwhile, and otherwise one thread after the other."""

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
    """Let threads take turns in a method of an object with a `guard`; the thread whose turn it is may call further ones."""

    @wraps(method)
    def one_at_a_time(self: Any, /, *args: P.args, **named: P.kwargs) -> Returned:
        with self.guard.turn:
            return method(self, *args, **named)

    return one_at_a_time


class RunGuard:
    """Knows whether a study is being run, and by whom it is asked and told.

    Attributes
    ----------
    turn : threading.RLock
        Held by the thread that asks or tells at the moment; see `in_turn`.

    Examples
    --------
    >>> guard = RunGuard()
    >>> with guard.running():
    ...     with guard.loop():
    ...         guard.check("ask")
    ...     guard.check("ask")
    Traceback (most recent call last):
    ...
    spotsvm.common.errors.TrialStateError: ask() while the study is being run: its run asks and tells by itself. \
Call it once run() has returned, or ask and tell without run()
    """

    def __init__(self) -> None:
        self.renew_locks()
        self._running = False
        self._thread_of_loop: int | None = None
        _GUARDS.add(self)

    def renew_locks(self) -> None:
        """Make the locks anew, as in a forked process: the thread that held one may not be in it."""
        self._lock, self.turn = threading.Lock(), threading.RLock()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as new: a copy of a study that is being run is not."""
        return RunGuard, ()

    @contextmanager
    def running(self) -> Iterator[None]:
        """For a run: raise TrialStateError if there is one already."""
        with self._lock:
            if self._running:
                raise TrialStateError(
                    "the study is being run already, by another thread or by the run that this was called from; wait until that "
                    "run() has returned, and give it an executor to evaluate several trials at once"
                )
            self._running = True
        try:
            yield
        finally:
            self._running = False

    @contextmanager
    def loop(self) -> Iterator[None]:
        """For what the run itself asks and tells."""
        self._thread_of_loop = threading.get_ident()
        try:
            yield
        finally:
            self._thread_of_loop = None

    def check(self, what: str) -> None:
        """Raise TrialStateError if somebody else than the run that is under way asks or tells."""
        if self._running and self._thread_of_loop != threading.get_ident():
            raise TrialStateError(
                f"{what}() while the study is being run: its run asks and tells by itself. Call it once run() has returned, or "
                "ask and tell without run()"
            )


_GUARDS: WeakSet[RunGuard] = WeakSet()


def _renew_all() -> None:
    for guard in list(_GUARDS):
        guard.renew_locks()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)

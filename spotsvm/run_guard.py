"""One run of a study at a time, and nobody else who asks or tells meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spotsvm.errors import TrialStateError


class RunGuard:
    """Knows whether a study is being run, and by whom it is asked and told.

    Examples
    --------
    >>> guard = RunGuard()
    >>> with guard.running():
    ...     with guard.loop():
    ...         guard.check("ask")
    ...     guard.check("ask")
    Traceback (most recent call last):
    ...
    spotsvm.errors.TrialStateError: ask() while the study is being run: its run asks and tells by itself. Call it once run() has \
returned, or ask and tell without run()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running = False
        self._thread_of_loop: int | None = None

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

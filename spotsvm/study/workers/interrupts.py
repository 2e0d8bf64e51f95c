"""Ctrl-C, held back while it would tear something, and raised where it does no harm."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from types import FrameType
from typing import Any


class Interrupts(AbstractContextManager["Interrupts"]):
    """Holds the first Ctrl-C (SIGINT) back until `check` asks for it, or a block of `allowed` is entered; a second one is raised.

    It does so in the main thread only, where Python takes signals, and only where Ctrl-C would raise KeyboardInterrupt: a handler
    of the user's own stays. Blocks may be nested, as where an objective runs a study of its own: the innermost takes the signal.

    Examples
    --------
    >>> with Interrupts() as interrupts:
    ...     signal.raise_signal(signal.SIGINT)
    ...     print("this is not torn")
    ...     try:
    ...         interrupts.check()
    ...     except KeyboardInterrupt:
    ...         print("now it is raised")
    this is not torn
    now it is raised
    """

    def __init__(self) -> None:
        self.pressed = False
        self._raised = False
        self._allowed = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if before is signal.default_int_handler or _is_of_a_run(before):
                self._before = before
                signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, kind: type[BaseException] | None, *details: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        if kind is None and self.pressed and not self._raised:
            raise KeyboardInterrupt

    @property
    def holds(self) -> bool:
        """Whether the first Ctrl-C is held back now."""
        return not self._allowed

    def _take(self, number: int, frame: FrameType | None) -> None:
        again, self.pressed = self.pressed, True
        if again or self._allowed:
            self._raise()

    def _raise(self) -> None:
        self._raised = True
        raise KeyboardInterrupt

    def check(self, patience: float = 0.0) -> None:
        """Raise KeyboardInterrupt if Ctrl-C has been pressed, or is within so many seconds."""
        until = time.monotonic() + patience
        while not self.pressed and time.monotonic() < until:
            time.sleep(0.01)
        if self.pressed:
            self._raise()

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """In this block, Ctrl-C raises KeyboardInterrupt at once."""
        self.check()
        before, self._allowed = self._allowed, True
        try:
            yield
        finally:
            self._allowed = before


def interrupts_allowed() -> AbstractContextManager[None]:
    """Return a block in which a run that holds Ctrl-C back, if there is one in this thread, lets it be raised at once."""
    run: Any = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    in_main = threading.current_thread() is threading.main_thread()
    return run.allowed() if in_main and isinstance(run, Interrupts) else nullcontext()


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Let an interrupt (SIGINT) that comes inside take effect when the block is left, and a second one at once.

    For a step after which memory and record agree. It does nothing within a run, whose `Interrupts` hold it back already, outside
    the main thread, which alone is interrupted, and where the program has no handler of Python's.

    Examples
    --------
    >>> steps = []
    >>> try:
    ...     with interrupts_held():
    ...         signal.raise_signal(signal.SIGINT)
    ...         steps.append("done")
    ... except KeyboardInterrupt:
    ...     steps.append("interrupted")
    >>> steps
    ['done', 'interrupted']
    """
    before: Any = signal.getsignal(signal.SIGINT)
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not callable(before) or (_is_of_a_run(before) and before.__self__.holds):
        yield
        return
    held: list[FrameType | None] = []

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(frame)
        if len(held) > 1:
            before(number, frame)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if len(held) == 1:
        before(signal.SIGINT, held[0])


def _is_of_a_run(handler: Any) -> bool:
    return isinstance(getattr(handler, "__self__", None), Interrupts)

"""The interface of workers: how outcomes are sent between processes, and where Ctrl-C is held back."""

from __future__ import annotations

import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any, Protocol, TypeGuard, runtime_checkable

import cloudpickle

from spotsvm.errors import ArgumentError
from spotsvm.trials.evaluation import Objective, call
from spotsvm.trials.outcome import Outcome, reason_of, timed_out


class LoadingError(ArgumentError):
    """The objective cannot be loaded in a worker process."""

    def __init__(self, reason: str):
        super().__init__(f"the objective cannot be loaded in a worker process: {reason}")
        self.reason = reason


class Interrupts(AbstractContextManager["Interrupts"]):
    """Holds the first Ctrl-C (SIGINT) back until `check` asks for it, or a block of `allowed` is entered; a second one is raised.

    In the main thread only, and where Ctrl-C would raise KeyboardInterrupt: a handler of the user's stays. Of nested blocks the
    innermost takes the signal.
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
        """Raise KeyboardInterrupt if Ctrl-C has been pressed, or is pressed within `patience` seconds."""
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
    """Delay an interrupt (SIGINT) until the block is left; a second one takes effect at once.

    Wraps a step that Ctrl-C must not tear. No effect within a run (see `Interrupts`), outside the main thread, or without a
    Python handler.
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


# a reply that fits the buffer of a pipe is written as a whole, or, by a worker that is killed, not at all
_LARGEST_ERROR = 8192


class Workers(Protocol):
    """Evaluates trials, several at once where it can; a context manager, and leaving it kills or releases everything.

    `n_workers` can be 0 for a while, if workers are stuck or have not started; trials can be submitted all the same, and `wait`
    raises an error if nothing will evaluate them.
    """

    @property
    def n_workers(self) -> int:
        """Number of trials that can be evaluated at once now."""
        ...

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Submit a trial; it starts at once, or as soon as a worker is free."""
        ...

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial is completed; return keys and outcomes of all that are, in the order of completion.

        The list is empty if none is completed within `timeout` seconds, or none is pending.
        """
        ...

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Return the completed trials, and kill or cancel the others."""
        ...

    def __enter__(self) -> Workers: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool | None: ...


@runtime_checkable
class TogetherWorkers(Workers, Protocol):
    """Workers that evaluate several trials faster together than one after the other."""

    @property
    def n_together(self) -> int:
        """Number of trials to submit together, if the search foresees as many."""
        ...


def is_workers(given: Any) -> TypeGuard[Workers]:
    """Check whether an object evaluates trials, rather than being an objective."""
    return all(hasattr(type(given), name) for name in ("submit", "wait", "abandon"))


def packed(outcome: Outcome) -> bytes:
    """Return an outcome as bytes that can always be read; its error is pickled apart, as errors can fail to be unpickled."""
    return pickle.dumps((replace(outcome, error=None), _packed_error(outcome.error)))


def _packed_error(error: BaseException | None) -> bytes:
    if error is None:
        return b""
    try:
        sent = cloudpickle.dumps(error)
        pickle.loads(sent)
    except BaseException:  # what an error of the user's raises when it is pickled can be anything
        return b"?"
    return sent if len(sent) <= _LARGEST_ERROR else b"?"


def unpacked(sent: bytes) -> Outcome:
    """Return the outcome from the bytes of `packed`; an error that cannot be read here becomes a RuntimeError of its text."""
    read: tuple[Outcome, bytes] = pickle.loads(sent)
    outcome, error_sent = read
    if not error_sent:
        return outcome
    error = None
    with suppress(Exception):
        error = pickle.loads(error_sent)
    return replace(outcome, error=error if isinstance(error, BaseException) else RuntimeError(outcome.reason))


def in_time(outcome: Outcome, timeout: float | None) -> Outcome:
    """Return the outcome of a trial, or that of a timeout if it took longer."""
    return timed_out(timeout) if timeout is not None and (outcome.seconds or 0.0) > timeout else outcome


def pickled_objective(objective: Objective) -> bytes:
    """Return an objective as bytes for worker processes; raise ArgumentError if it cannot be pickled."""
    try:
        pickled: bytes = cloudpickle.dumps(objective)
    except Exception as error:  # pickling an object of the user can raise anything
        raise ArgumentError(
            f"the objective cannot be sent to a worker process: {reason_of(error)}; create what cannot be pickled inside it"
        ) from error
    return pickled


class Here(AbstractContextManager["Here"]):
    """Evaluate one trial after the other in this process and thread, during `wait`.

    What the objective raises makes a failed outcome, except for KeyboardInterrupt and SystemExit, which are raised.
    """

    n_workers = 1

    def __init__(self, objective: Objective):
        self._objective = objective
        self._waiting: deque[tuple[int, dict[str, Any]]] = deque()

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Keep a trial for `wait` to evaluate."""
        self._waiting.append((key, params))

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Evaluate the trial that has waited longest, however long it takes."""
        if not self._waiting:
            return []
        key, params = self._waiting.popleft()
        with interrupts_allowed():
            return [(key, call(self._objective, params))]

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Forget what waits."""
        self._waiting.clear()
        return []

    def __exit__(self, *details: object) -> None:
        self._waiting.clear()

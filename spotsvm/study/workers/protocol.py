"""The interface of workers, and how outcomes are sent between processes."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol, TypeGuard

import cloudpickle

from spotsvm.errors import ArgumentError
from spotsvm.study.workers.interrupts import interrupts_allowed
from spotsvm.trials.trial import Objective, Outcome, call, reason_of, timed_out

# a reply that fits the buffer of a pipe is written as a whole, or, by a worker that is killed, not at all
_LARGEST_ERROR = 8192


class Workers(Protocol):
    """Evaluates trials, several at once where it can; a context manager, and leaving it kills or releases everything.

    `n_workers` can be 0 for a while, if workers are stuck or have not started; trials can be submitted all the same, and `wait`
    raises an error if nothing will evaluate them.
    """

    @property
    def n_workers(self) -> int:
        """Trials that it can evaluate at once, now."""
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


def is_workers(given: Any) -> TypeGuard[Workers]:
    """Check whether an object evaluates trials, rather than being an objective."""
    return all(hasattr(type(given), name) for name in ("submit", "wait", "abandon"))


def in_order(workers: Workers, batch: Sequence[dict[str, Any]]) -> Iterator[Outcome]:
    """Evaluate a batch; yield the outcomes in the order of the batch, each as soon as it and those before it are completed.

    The workers must have no other pending trials.
    """
    for key, params in enumerate(batch):
        workers.submit(key, params)
    completed: dict[int, Outcome] = {}
    for key in range(len(batch)):
        while key not in completed:
            completed.update(workers.wait())
        yield completed.pop(key)


def packed(outcome: Outcome) -> bytes:
    """Return an outcome as bytes that can always be read; its error is pickled apart, as errors can fail to be unpickled."""
    values = _plain(outcome.values) if isinstance(outcome.values, Mapping) else outcome.values
    sent = replace(outcome, extra={}, error=None, values=None)
    return pickle.dumps((sent, _plain(outcome.extra), values, _packed_error(outcome.error)))


def _plain(named: Mapping[str, float]) -> dict[str, float]:
    """Return named numbers with names that are plain strings: a name of another type may fail to be unpickled."""
    return {str.__str__(name) if isinstance(name, str) else repr(name): float(number) for name, number in named.items()}


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
    read: tuple[Outcome, dict[str, float], Any, bytes] = pickle.loads(sent)
    outcome, extra, values, error_sent = read
    outcome = replace(outcome, extra=extra, values=values)
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

    Examples
    --------
    >>> with Here(lambda params: params["x"] ** 2) as workers:
    ...     [outcome.value for outcome in in_order(workers, [{"x": 3}, {"x": 2}])]
    [9.0, 4.0]
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

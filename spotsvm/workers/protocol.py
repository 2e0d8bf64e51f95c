"""What the loop asks of whatever evaluates trials."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol

import cloudpickle

from spotsvm.evaluation import Outcome

# a reply that fits a pipe's buffer is written whole, or, by a worker that is killed, not at all
_LARGEST_ERROR = 8192


class Workers(Protocol):
    """Evaluates trials, several at once where it can; a context manager, and leaving it kills or releases everything.

    Attributes
    ----------
    n_workers : int
        How many trials it can evaluate at once, now. It can be 0 for a while, where workers are stuck or on their way; a trial
        can be submitted all the same, and `wait` then says what is to be said.
    """

    @property
    def n_workers(self) -> int:
        """How many trials it can evaluate at once, now."""
        ...

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Hand over a trial; it starts at once, or as soon as a worker is free.

        Parameters
        ----------
        key : int
            The trial's number.
        params : dict
            Its configuration, which the objective is called with.
        """
        ...

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial has ended; give all that have, in the order in which they ended.

        Parameters
        ----------
        timeout : float, optional
            Seconds after which to come back in any case, with an empty list if none has ended. None waits.

        Returns
        -------
        list of tuple of (int, Outcome)
            Key and outcome of each; empty too where no trial has been handed over.
        """
        ...

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Give what has ended meanwhile, and kill or cancel the rest."""
        ...

    def __enter__(self) -> Workers: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> bool | None: ...


def in_order(workers: Workers, batch: Sequence[dict[str, Any]]) -> Iterator[Outcome]:
    """Evaluate a batch; give the outcomes in the order of the batch, each as soon as it and those before it are there.

    Parameters
    ----------
    workers : Workers
        What evaluates; nothing else may be under way on it.
    batch : sequence of dict
        What to call the objective with.

    Examples
    --------
    >>> from spotsvm.workers.here import Here
    >>> with Here(lambda params: params["x"] ** 2) as workers:
    ...     [outcome.value for outcome in in_order(workers, [{"x": 3}, {"x": 2}])]
    [9.0, 4.0]
    """
    for key, params in enumerate(batch):
        workers.submit(key, params)
    ended: dict[int, Outcome] = {}
    for key in range(len(batch)):
        while key not in ended:
            ended.update(workers.wait())
        yield ended.pop(key)


def packed(outcome: Outcome) -> bytes:
    """Give an outcome as bytes; its error apart, for an error can raise when it is pickled or unpickled.

    Examples
    --------
    >>> unpacked(packed(Outcome("ok", 0.5, {"time": 2.0})))
    Outcome(state='ok', value=0.5, extra={'time': 2.0}, reason='', seconds=None, error=None, values=None, lost=False)
    """
    values = _plain(outcome.values) if isinstance(outcome.values, Mapping) else outcome.values
    sent = replace(outcome, extra={}, error=None, values=None)
    return pickle.dumps((sent, _plain(outcome.extra), values, _packed_error(outcome.error)))


def _plain(named: Mapping[str, float]) -> dict[str, float]:
    """Give named numbers by names that are strings and no more: a name of another type need not unpickle."""
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
    """Give the outcome that `packed` made bytes of; an error that cannot be read here becomes a RuntimeError of its text."""
    read: tuple[Outcome, dict[str, float], Any, bytes] = pickle.loads(sent)
    outcome, extra, values, error_sent = read
    outcome = replace(outcome, extra=extra, values=values)
    if not error_sent:
        return outcome
    try:
        error = pickle.loads(error_sent)
    except Exception:
        error = None
    return replace(outcome, error=error if isinstance(error, BaseException) else RuntimeError(outcome.reason))

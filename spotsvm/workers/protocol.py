"""What the loop asks of whatever evaluates trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeGuard

from spotsvm.evaluation import Outcome


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


def is_workers(given: Any) -> TypeGuard[Workers]:
    """Check whether an object evaluates trials, rather than being an objective."""
    return all(hasattr(type(given), name) for name in ("submit", "wait", "abandon"))


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

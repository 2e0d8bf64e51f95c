"""What an entrant of the study `equal_time` would return at several budgets of processor time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from spotsvm.studies.equal_time.tasks import Job, Params


class Choice(NamedTuple):
    """What an entrant would return if it was stopped at a budget.

    Attributes
    ----------
    params : dict
        The setting; an empty one is the estimator's defaults.
    seconds : float
        Processor time after which the setting was known.
    looks : int
        Settings that had been scored by then.
    """

    params: Params
    seconds: float
    looks: int


class Entrant(Protocol):
    """A way to tune: a function of a job and of rising budgets, in seconds of processor time, that returns a choice for each."""

    def __call__(self, job: Job, budgets: Sequence[float]) -> list[Choice]:
        """Tune, and return what would be returned at each budget."""
        ...


class Trail:
    """What an entrant would return, noted whenever that may have changed, with the processor time since the beginning.

    Examples
    --------
    >>> trail = Trail([0.0, 60.0])
    >>> trail.note({"C": 2.0}, looks=1)
    >>> [choice.params for choice in trail.choices()], trail.is_over
    ([{}, {'C': 2.0}], False)
    """

    def __init__(self, budgets: Sequence[float]):
        self._budgets = list(budgets)
        self._notes = [Choice({}, 0.0, 0)]
        self._best = -np.inf
        self._began = time.process_time()

    @property
    def seconds(self) -> float:
        """Processor time since the beginning."""
        return time.process_time() - self._began

    @property
    def is_over(self) -> bool:
        """Whether the last budget is spent."""
        return self.seconds >= self._budgets[-1]

    def note(self, params: Params, looks: int) -> None:
        """Note what would be returned now."""
        self._notes.append(Choice(dict(params), self.seconds, looks))

    def look(self, params: Params, score: float) -> None:
        """Note one more setting that was scored: it is returned if it is the best so far, else the one before."""
        better = bool(score > self._best)
        self._best = score if better else self._best
        self.note(params if better else self._notes[-1].params, self._notes[-1].looks + 1)

    def choices(self) -> list[Choice]:
        """Return what was noted last within each budget; the estimator's defaults if nothing was."""
        return [[note for note in self._notes if note.seconds <= budget][-1] for budget in self._budgets]


def once_for_each(
    budgets: Sequence[float], run: Callable[[int], Choice], first: Callable[[float], float], least: int, tries: int
) -> list[Choice]:
    """Return the choice of a whole run for each budget, the defaults if that is longer than the budget.

    Further tries have more or fewer looks, by the time that the one before took, and the longest run within the budget counts.
    That the number is found by trying is not counted.

    Parameters
    ----------
    budgets : sequence of float
        Seconds.
    run : callable
        From a number of looks to a choice.
    first : callable
        From a budget to the number of looks of the first try.
    least : int
        Number of looks below which there is no run.
    tries : int
        Number of runs, at most.
    """
    choices = []
    for budget in budgets:
        best, n = Choice({}, 0.0, 0), max(least, int(first(budget)))
        for _ in range(tries):
            choice = run(n)
            if best.looks < choice.looks and choice.seconds <= budget:
                best = choice
            further = int(0.95 * budget * n / choice.seconds)
            n = min(further, n - 1) if choice.seconds > budget else further
            if n < least or n <= 1.15 * best.looks:
                break
        choices.append(best)
    return choices

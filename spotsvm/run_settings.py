"""What a run is to do, and the checks of its arguments."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from numbers import Integral, Real

from spotsvm.errors import ArgumentError, BudgetError
from spotsvm.printable import shown_value
from surrogates.domain import Domain


@dataclass(frozen=True)
class RunSettings:
    """How long a run goes on, and how it deals with what comes back.

    Attributes
    ----------
    n_trials : int
        Finished trials that the study is to have in the end.
    batch_size : int or None
        Trials that are suggested together and told in the order asked; None gives each worker that is free the next trial.
    retries : int
        How often a trial whose worker died is evaluated again.
    raise_errors : bool
        Whether to raise what the objective raises, after the trial has been recorded.

    Raises
    ------
    ArgumentError
        If one of them is no such number.

    Examples
    --------
    >>> RunSettings(50, batch_size=4).retries
    0
    """

    n_trials: int
    batch_size: int | None = None
    retries: int = 0
    raise_errors: bool = False

    def __post_init__(self) -> None:
        if not _is_number(self.n_trials, Integral):
            raise ArgumentError(f"n_trials={shown_value(self.n_trials)} is not a number of trials; use a whole number")
        if self.batch_size is not None and (not _is_number(self.batch_size, Integral) or self.batch_size < 1):
            raise ArgumentError(f"batch_size={shown_value(self.batch_size)} is not a number of trials; use 1 or more, or None")
        if not _is_number(self.retries, Integral) or self.retries < 0:
            raise ArgumentError(f"retries={shown_value(self.retries)} is not a number of further attempts; use 0 or more")


def check_budget(n_trials: int, name: str, initial: tuple[int, str], domain: Domain) -> None:
    """Raise BudgetError if so many trials do not pay for a search's initial ones, nor for the whole of a small space.

    Parameters
    ----------
    n_trials : int
        The budget.
    name : str
        Name of the argument.
    initial : tuple of (int, str)
        How many trials the search begins with, and what they are; see `initial_trials`.
    domain : Domain
        The cube of the search space.
    """
    n_initial, what = initial
    if n_trials < min(n_initial, domain.size):
        raise BudgetError(f"{name}={n_trials} is below the {what} of {n_initial} trials; use at least that, or search='random'")


def checked_timeout(timeout: float | None) -> float | None:
    """Give the timeout back, or raise ArgumentError if it is not a time."""
    if timeout is not None and not (_is_number(timeout, Real) and 0 < timeout <= threading.TIMEOUT_MAX):
        raise ArgumentError(f"trial_timeout={shown_value(timeout)} is not a time; use a positive number of seconds, or None")
    return timeout


def _is_number(value: object, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)

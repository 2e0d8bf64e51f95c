"""The errors and warnings of the library: all errors are `SpotSVMError`s and, for bad arguments, ValueErrors.

It imports nothing, so that every package can import it.

Examples
--------
>>> from spotsvm import Study
>>> from spotsvm.errors import SpaceError
>>> try:
...     Study({"C": []})
... except SpaceError as error:
...     print(type(error).__name__)
SpaceError
"""

from typing import Any

__all__ = [
    "ArgumentError",
    "BudgetError",
    "DataError",
    "DataWarning",
    "FirstTrialsFailedError",
    "NoCompletedTrialError",
    "SearchExhaustedError",
    "SolverError",
    "SpaceError",
    "SpotSVMError",
    "StorageError",
    "StudyMismatchError",
    "TrialStateError",
    "WorkersError",
]


class SpotSVMError(Exception):
    """Root of every error that the library raises on purpose."""


class ArgumentError(SpotSVMError, ValueError):
    """An argument has an invalid value."""


class SpaceError(SpotSVMError, ValueError):
    """A search space, or a parameter in it, cannot be searched, or a value is outside it."""


class BudgetError(SpotSVMError, ValueError):
    """A budget is not a number of evaluations, or is smaller than a comparison of searches needs."""


class DataError(SpotSVMError, ValueError):
    """A table cannot be used as training data."""


class StorageError(SpotSVMError, ValueError):
    """A record cannot be read or written."""


class StudyMismatchError(StorageError):
    """A record exists, but it belongs to a study with another space, direction, search, seed or other data.

    `differs` names what differs, such as "space", where that is known.
    """

    differs: str = ""


class TrialStateError(SpotSVMError, ValueError):
    """A value was reported for a trial that is unknown, or no longer running."""


class WorkersError(SpotSVMError, RuntimeError):
    """The workers cannot continue: an executor is broken or stuck, or worker processes die while they start."""


class NoCompletedTrialError(SpotSVMError, ValueError):
    """A result was requested from a study in which no trial has succeeded yet, or every candidate of a search failed."""


class NoCompletedTrialTypeError(NoCompletedTrialError, TypeError):
    """No trial has succeeded, and the last one failed with a TypeError: the estimator does not accept this kind of data."""


class FirstTrialsFailedError(NoCompletedTrialError):
    """The first trials of a run failed for the same reason, or all of them; the traceback of the last is a note of the error.

    `Study.run` and `SpotSearchCV` raise it, unless `max_failures` is None.
    """


class SolverError(SpotSVMError, ValueError):
    """A solver, a kernel or a search was given an argument that it cannot work with."""


class SearchExhaustedError(SolverError):
    """Every configuration of a finite space has been asked for."""


class OutOfTimeError(SolverError):
    """A solver had to end before it had a solution."""


class SurrogateError(SpotSVMError, ValueError):
    """A surrogate, a design or an acquisition function was given an argument that it cannot work with."""


class NotPositiveDefiniteError(SpotSVMError, ArithmeticError):
    """A correlation matrix could not be factored, even with the largest jitter allowed."""


class DataWarning(UserWarning):
    """Data that a fit or a prediction left out, filled, converted or could not read, or that looks like a mistake.

    `notices` has a `code`, a `sentence`, and where it is about a column its name and the share of its rows.
    """

    def __init__(self, message: str, notices: tuple[Any, ...] = ()):
        super().__init__(message)
        self.notices = notices

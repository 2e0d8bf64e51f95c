"""The errors that users of the library meet, each also a ValueError or RuntimeError where callers expect one."""

from spotsvm.surrogates.errors import SpotSVMError

__all__ = [
    "ArgumentError",
    "BudgetError",
    "DataError",
    "NoCompletedTrialError",
    "NoCompletedTrialTypeError",
    "ShortSeriesWarning",
    "SpaceError",
    "SpotSVMError",
    "StorageError",
    "StudyMismatchError",
    "TrialStateError",
    "WorkersError",
]


class ArgumentError(SpotSVMError, ValueError):
    """An argument has a value that makes no sense."""


class SpaceError(SpotSVMError, ValueError):
    """A search space, or a parameter in it, cannot be searched."""


class BudgetError(SpotSVMError, ValueError):
    """A budget is too small for what it is to pay for."""


class DataError(SpotSVMError, ValueError):
    """A table cannot be used as training data."""


class StorageError(SpotSVMError, ValueError):
    """A record cannot be read or written."""


class StudyMismatchError(StorageError):
    """A record exists, but it belongs to a study with another space, direction, search or seed."""


class TrialStateError(SpotSVMError, ValueError):
    """A trial was told that is unknown, or not running any more."""


class WorkersError(SpotSVMError, RuntimeError):
    """What evaluates trials cannot go on: an executor that is broken or stuck, or worker processes that die while they start."""


class NoCompletedTrialError(SpotSVMError, ValueError):
    """A result was asked of a study in which no trial has succeeded yet."""


class NoCompletedTrialTypeError(NoCompletedTrialError, TypeError):
    """No trial has succeeded, and the last one failed with a TypeError: the data are of a kind that the estimator cannot take."""


class ShortSeriesWarning(UserWarning):
    """A series is shorter than the window that looks back over it."""

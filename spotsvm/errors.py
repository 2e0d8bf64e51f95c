"""The errors that the library raises: all are `SpotSVMError`s and, for bad arguments, ValueErrors.

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

from spotsvm.common.errors import (
    ArgumentError,
    BudgetError,
    DataError,
    FirstTrialsFailedError,
    NoCompletedTrialError,
    RefitTimeoutError,
    SpaceError,
    SpotSVMError,
    StorageError,
    StudyMismatchError,
    TrialStateError,
    WorkersError,
)
from spotsvm.solvers.errors import SearchExhaustedError, SolverError

__all__ = [
    "ArgumentError",
    "BudgetError",
    "DataError",
    "FirstTrialsFailedError",
    "NoCompletedTrialError",
    "RefitTimeoutError",
    "SearchExhaustedError",
    "SolverError",
    "SpaceError",
    "SpotSVMError",
    "StorageError",
    "StudyMismatchError",
    "TrialStateError",
    "WorkersError",
]

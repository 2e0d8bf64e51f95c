"""The errors that the library raises, each also a ValueError or RuntimeError where callers expect one."""

from typing import Any

from spotsvm.surrogates.errors import SpotSVMError as SpotSVMError


class ArgumentError(SpotSVMError, ValueError):
    """An argument has an invalid value.

    See Also
    --------
    SpotSVMError : All errors of the library.
    SpaceError : A space that cannot be searched.
    """


class SpaceError(SpotSVMError, ValueError):
    """A search space, or a parameter in it, cannot be searched, or a value is outside it.

    See Also
    --------
    spotsvm.Space : What is a space.
    """


class BudgetError(SpotSVMError, ValueError):
    """A budget is no number of evaluations, or smaller than a comparison of searches needs.

    See Also
    --------
    spotsvm.Study.run : Raises it before the first trial.
    """


class DataError(SpotSVMError, ValueError):
    """A table cannot be used as training data.

    See Also
    --------
    ArgumentError : An argument that is invalid.
    """


class StorageError(SpotSVMError, ValueError):
    """A record cannot be read or written.

    See Also
    --------
    StudyMismatchError : A record of another study.
    """


class StudyMismatchError(StorageError):
    """A record exists, but it belongs to a study with another space, direction, search, seed or other data.

    `differs` names what differs, such as "space", where that is known.

    See Also
    --------
    StorageError : A file that cannot be used.
    """

    differs: str = ""


class TrialStateError(SpotSVMError, ValueError):
    """A trial was told that is unknown, or no longer running.

    See Also
    --------
    spotsvm.Study.tell : Raises it for a trial that has ended.
    """


class WorkersError(SpotSVMError, RuntimeError):
    """The workers cannot continue: an executor is broken or stuck, or worker processes die while they start.

    See Also
    --------
    spotsvm.Study.run : Raises it.
    """


class RefitTimeoutError(SpotSVMError, TimeoutError):
    """A refit took longer than `refit_timeout`; `search` is the SpotSearchCV, whose results are complete but for the refit.

    See Also
    --------
    spotsvm.SpotSearchCV : Raises it.
    """

    search: Any = None


class NoCompletedTrialError(SpotSVMError, ValueError):
    """A result was requested from a study in which no trial has succeeded yet.

    See Also
    --------
    spotsvm.Study.recommend : Raises it.
    spotsvm.SpotSearchCV : Raises it if every candidate failed.
    """


class FirstTrialsFailedError(NoCompletedTrialError):
    """The first trials of a run failed for the same reason, or all of them; the traceback of the last is a note of the error.

    See Also
    --------
    spotsvm.Study.run : Raises it, unless `max_failures` is None.
    spotsvm.SpotSearchCV : Raises it likewise.
    """


class NoCompletedTrialTypeError(NoCompletedTrialError, TypeError):
    """No trial has succeeded, and the last one failed with a TypeError: the estimator does not accept this kind of data."""


class ShortSeriesWarning(UserWarning):
    """A series is shorter than the window that looks back over it."""

"""The errors of the solvers."""

from spotsvm.surrogates.errors import SpotSVMError


class SolverError(SpotSVMError, ValueError):
    """A solver was given something it cannot work with.

    See Also
    --------
    SearchExhaustedError : A search that has no further point.
    ArgumentError : An argument that is invalid.
    """


class SearchExhaustedError(SolverError):
    """Every configuration of a finite space has been asked for.

    See Also
    --------
    SolverError : What searches and solvers refuse.
    """


class OutOfTimeError(SolverError):
    """A solver was to end before it had a solution.

    See Also
    --------
    SolverError : What searches and solvers refuse.
    """

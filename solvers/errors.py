"""The errors of the solvers."""

from spotsvm.surrogates.errors import SpotSVMError


class SolverError(SpotSVMError, ValueError):
    """A solver was given something it cannot work with."""


class SearchExhaustedError(SolverError):
    """Every configuration of a finite space has been asked for."""

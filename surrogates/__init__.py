"""Surrogate models of expensive functions: Kriging, acquisition functions and initial designs."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spotsvm.surrogates.acquisition.acquisition import (
        expected_improvement,
        log_expected_improvement,
        log_expected_improvement_gradient,
        lower_confidence_bound,
        minimum_of_mean,
        probability_of_improvement,
    )
    from spotsvm.surrogates.domain import Coordinate, Domain
    from spotsvm.surrogates.kriging.kriging import Kriging

__all__ = [
    "Coordinate",
    "Domain",
    "Kriging",
    "expected_improvement",
    "log_expected_improvement",
    "log_expected_improvement_gradient",
    "lower_confidence_bound",
    "minimum_of_mean",
    "probability_of_improvement",
]

_HOMES = {"Coordinate": "domain", "Domain": "domain", "Kriging": "kriging.kriging"}


if not TYPE_CHECKING:  # a type checker that sees __getattr__ reports no unknown name

    def __getattr__(name: str) -> Any:
        """Import a public name at its first use: importing scikit-learn takes most of a second."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'acquisition.acquisition')}"), name)

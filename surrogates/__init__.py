"""What predicts an expensive function and where to look next: Kriging, acquisition, designs."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from surrogates.acquisition import (
        expected_improvement,
        log_expected_improvement,
        log_expected_improvement_gradient,
        lower_confidence_bound,
        minimum_of_mean,
        probability_of_improvement,
    )
    from surrogates.domain import Coordinate, Domain
    from surrogates.kriging import Kriging

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

# every logger of the tower is below this one; quiet unless the program that uses the library wants to hear
logging.getLogger("spotsvm").addHandler(logging.NullHandler())

_HOMES = {"Coordinate": "domain", "Domain": "domain", "Kriging": "kriging"}


def __getattr__(name: str) -> Any:
    """Load what is public when it is first asked for: importing scikit-learn takes most of a second."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"surrogates.{_HOMES.get(name, 'acquisition')}"), name)

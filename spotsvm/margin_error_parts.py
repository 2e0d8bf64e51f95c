"""The checks of `MarginErrorFront` before it is fitted, and the table of its points."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd

from solvers.dual.front import Front
from spotsvm.errors import ArgumentError


def check_parameters(given: Mapping[str, Any]) -> None:
    """Raise ArgumentError if a parameter of `MarginErrorFront` is invalid; the kernel checks its own parameters.

    Parameters
    ----------
    given : mapping
        Values of all parameters by name.

    Raises
    ------
    ArgumentError
        If one is invalid.
    """
    for name, lowest in (("n_exact", 2), ("population_size", 4), ("n_generations", 0)):
        value = given[name]
        if not isinstance(value, Integral) or isinstance(value, bool) or value < lowest:
            raise ArgumentError(f"{name}={value!r}; use an integer of at least {lowest}")
    for name, allowed in (("error", ("hinge", "count")), ("select", ("knee", "validation"))):
        if given[name] not in allowed:
            raise ArgumentError(f'{name}={given[name]!r}; use "{allowed[0]}" or "{allowed[1]}"')
    if not isinstance(given["bias"], bool | np.bool_):
        raise ArgumentError(f"bias={given['bias']!r}; use True or False")
    if not _between(given["validation_fraction"], 0.0, 1.0):
        raise ArgumentError(f"validation_fraction={given['validation_fraction']!r}; use a number between 0 and 1")
    if not _between(given["tol"], 0.0, np.inf):
        raise ArgumentError(f"tol={given['tol']!r}; use a positive, finite number")


def _between(value: Any, low: float, high: float) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and low < float(value) < high


def front_table(front: Front) -> pd.DataFrame:
    """Return one row per point, with the columns of `MarginErrorFront.front_` except the validation error."""
    points = front.expansions
    with np.errstate(divide="ignore"):  # the constant function has no norm, and an infinite margin
        margin = 1.0 / np.sqrt(points.norm_squared)
    return pd.DataFrame(
        {
            "margin": margin,
            "norm_squared": points.norm_squared,
            "hinge_error": points.hinge,
            "count_error": points.count,
            "misclassified": points.misclassified,
            "n_support": np.count_nonzero(points.alpha, axis=1),
            "source": front.source,
            "C": front.C,
        }
    )

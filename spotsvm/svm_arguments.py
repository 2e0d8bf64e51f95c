"""The arguments that the support vector machines share, checked."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.checked_numbers import as_float
from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]


def check_positive(name: str, value: Any, hint: str = "") -> float:
    """Give a positive, finite number as a float, or raise ArgumentError."""
    number = as_float(value)
    if not (np.isfinite(number) and number > 0):
        raise ArgumentError(f"{name}={value!r}; use a positive, finite number{hint}")
    return number


def check_not_negative(name: str, value: Any) -> float:
    """Give a finite number of at least 0 as a float, or raise ArgumentError."""
    number = as_float(value)
    if not (np.isfinite(number) and number >= 0):
        raise ArgumentError(f"{name}={value!r}; use a finite number, 0 or more")
    return number


def check_C(value: Any) -> float:
    """Give C as a float, or raise ArgumentError."""
    return check_positive("C", value, " (a large one, as 1e6, for a hard margin)")


def check_max_iter(value: Any) -> int | None:
    """Give the cap on iterations, None for the solver's own, or raise ArgumentError."""
    if not isinstance(value, Integral) or isinstance(value, bool) or (value != -1 and value < 1):
        raise ArgumentError(
            f"max_iter={value!r}; use a number of iterations, 1 or more, or -1 for a cap that grows with the data"
        )
    return None if value == -1 else int(value)


def check_cache_size(value: Any) -> int:
    """Give the number of megabytes as bytes, or raise ArgumentError."""
    size = check_positive("cache_size", value, " of megabytes") * 2**20
    if size == np.inf:
        raise ArgumentError(f"cache_size={value!r}; so many megabytes are no number of bytes, use a smaller one")
    return int(size)


def check_sample_weight(sample_weight: Any, n: int) -> Floats:
    """Give a weight for each of n rows, or raise ArgumentError."""
    if sample_weight is None:
        return np.ones(n)
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ArgumentError(f"sample_weight is not an array of numbers; {error}") from error
    if weights.shape != (n,):
        raise ArgumentError(f"sample_weight has shape {weights.shape}; X has {n} rows, so it must be ({n},)")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        i = int(wrong.argmax())
        raise ArgumentError(f"sample_weight[{i}] is {weights[i]}; weights are finite, and 0 or more")
    if not (weights > 0).any():
        raise ArgumentError("sample_weight is zero for every row; at least one weight must be positive")
    return weights


def check_bounds_finite(C: float, weights: Floats) -> None:
    """Raise ArgumentError if C times a weight overflows."""
    with np.errstate(over="ignore"):
        if not np.isfinite(C * weights.sum()):
            raise ArgumentError(f"C={C!r} times the weights, of {weights.sum():.3g} in all, overflows; use smaller ones")

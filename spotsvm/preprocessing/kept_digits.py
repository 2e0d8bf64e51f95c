"""Numbers as floats without loss of digits: an origin and a power of two for each column that needs them.

Numbers far from 0 and close together (time stamps in nanoseconds, 10^15 plus noise) lose digits when they become floats, or when
their mean is subtracted. The squares of very small or large numbers are 0 or infinite. Such a column is stored as
(x - origin) * factor: the difference is exact, and the factor is a power of two, so no digit changes. The factor is 0 for a
column that varies by rounding alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype, is_numeric_dtype, is_timedelta64_dtype

from spotsvm.common.notices import Notice

Floats = NDArray[np.float64]

#: numbers whose range is below this share of the largest absolute value are stored less an origin
NARROW = 1e-8
#: numbers whose range is at most this share of the largest absolute value, and below 1, differ by rounding alone
ROUNDING = 4 * np.finfo(np.float64).eps
#: squares of numbers in this range are floats
_LOW, _HIGH = 1e-140, 1e140
#: larger whole numbers are not always floats
_WHOLE = 2**53
_LARGEST = 1e300


def varies(low: Any, high: Any) -> NDArray[np.bool_]:
    """Return which columns have numbers that differ by more than rounding, from the smallest and largest of each column.

    Whole numbers up to 2^53 have no rounding.
    """
    half, largest = 0.5 * high - 0.5 * low, np.maximum(np.abs(low), np.abs(high))
    return np.asarray((half > 0.5 * ROUNDING * largest) | ((half >= 0.5) & (largest <= _WHOLE)))


def ends(values: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the smallest and largest number of each column without its gaps; 0 for a column of gaps."""
    missing = np.isnan(values)
    if not missing.any():
        return values.min(axis=0), values.max(axis=0)
    low, high = np.where(missing, np.inf, values).min(axis=0), np.where(missing, -np.inf, values).max(axis=0)
    known = ~missing.all(axis=0)
    return np.where(known, low, 0.0), np.where(known, high, 0.0)


def units(values: Floats, cells: Callable[[int], NDArray[Any]]) -> dict[int, tuple[float, float]]:
    """Return origin and factor of each column that needs them.

    `cells` maps a column's position to its numbers in their own type, without gaps.
    """
    low, high = ends(values)
    largest = np.maximum(np.abs(low), np.abs(high))
    half = 0.5 * high - 0.5 * low
    narrow = (half < 0.5 * NARROW * largest) & ((low < high) | (largest >= _WHOLE))
    extreme = (low < high) & ((largest < _LOW) | (largest > _HIGH))
    found = {}
    for k in np.flatnonzero(narrow | extreme).tolist():
        if (unit := _unit(cells(k), bool(narrow[k]))) is not None:
            found[k] = unit
    return found


def _unit(numbers: NDArray[Any], narrow: bool) -> tuple[float, float] | None:
    """Return origin and factor of the numbers of a column; None for equal numbers."""
    low, high = numbers.min(), numbers.max()
    if low == high:
        return None
    origin = float(low) if narrow else 0.0
    if numbers.dtype.kind in "iu":
        span = float(max(abs(int(high) - int(origin)), abs(int(low) - int(origin))))
    else:
        span = float(max(abs(low - origin), abs(high - origin)))
        if not varies(low, high):
            return origin, 0.0
    return origin, float(factors(np.array(span)))


def factors(span: Floats) -> Floats:
    """Return 1, or for absolute values whose squares would be 0 or infinite, a power of two that brings the largest near 1."""
    return np.where(
        (span > _LOW) & (span < _HIGH) | (span == 0), 1.0, 2.0 ** np.clip(-np.frexp(span)[1].astype(float), -1000, 1000)
    )


def lost_digits(name: str, numbers: NDArray[Any], floats: Floats) -> Notice | None:
    """Return a notice about a column that varies by rounding alone, or whose whole numbers became equal as floats."""
    lost = len(np.unique(numbers)) - len(np.unique(floats))
    if not lost:
        return None
    if floats.min() == floats.max():
        return rounding_alone(name)
    sentence = f"column {name!r} has whole numbers beyond 2^53: {lost} of its different values are equal as floats"
    return Notice("digits", sentence, name)


def rounding_alone(name: str) -> Notice:
    """Return the notice about a column that counts as constant."""
    return Notice("digits", f"the values of column {name!r} differ by rounding alone: taken as constant", name)


def stored(numbers: NDArray[Any], unit: tuple[float, float]) -> Floats:
    """Return the numbers of a column less its origin, times its factor; the difference of whole numbers is exact."""
    origin, factor = unit
    if numbers.dtype.kind in "iu":
        less = (numbers.astype(object) - int(origin)).astype(np.float64)
    else:
        less = numbers.astype(np.float64, copy=False) - origin
    with np.errstate(over="ignore"):
        return np.asarray(np.clip(less * factor, -_LARGEST, _LARGEST))


def has_large(values: Floats) -> NDArray[np.bool_]:
    """Return which columns have numbers of 2^53 or more, where whole numbers may be no floats."""
    low, high = ends(values)
    return np.asarray(np.maximum(-low, high) >= _WHOLE)


def has_large_integers(array: NDArray[Any]) -> bool:
    """Return whether an array has whole numbers that may be no floats."""
    return array.dtype.kind in "iu" and array.size > 0 and (int(array.max()) >= _WHOLE or int(array.min()) <= -_WHOLE)


def whole_numbers(column: pd.Series) -> NDArray[Any]:
    """Return the cells of a column of numbers without gaps, as integers if all are, and else as floats."""
    if is_timedelta64_dtype(column.dtype):
        return np.asarray(column.dt.total_seconds(), dtype=float)
    numbers = column if is_numeric_dtype(column.dtype) else pd.to_numeric(column.astype(object), errors="coerce")
    if not is_integer_dtype(numbers.dtype):
        return numbers.to_numpy(dtype=float)
    return np.asarray(numbers, dtype=np.uint64 if numbers.dtype.name.lower().startswith("u") else np.int64)

"""Responses that need care before they are modelled: those near the largest float, and penalty values of failures."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_LARGEST = 480  # binary exponent: the sum of a million squares is still below 2^1024


def within_reach(values: Floats) -> tuple[Floats, float]:
    """Return responses in a unit in which their squares do not overflow, and the unit: 1 unless a response is beyond 1e144.

    The unit is a power of two, so no digit changes.

    Parameters
    ----------
    values : ndarray
        Responses; nan and infinity stay as they are.

    Examples
    --------
    >>> within_reach(np.array([1.0, -3.0]))
    (array([ 1., -3.]), 1.0)
    >>> values, unit = within_reach(np.array([1e308, -1e308]))
    >>> bool(np.ptp(values) < 1e145), (values * unit).tolist()
    (True, [1e+308, -1e+308])
    """
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    power = int(np.frexp(largest)[1]) - _LARGEST
    return (values, 1.0) if power <= 0 else (np.ldexp(values, -power), float(np.ldexp(1.0, power)))


_FIRST, _LEAST = 10, 4
_FACTOR, _GAP = 1e4, 100.0


def are_penalties(values: ArrayLike) -> NDArray[np.bool_]:
    """Return which values are so much worse than the others that they must be penalty values of failures.

    The scale is twice the distance from the median to the lower quartile of the first ten values. These are usually spread over
    the space, so the scale does not shrink while a search converges. A repeated largest value is left out of the scale. A penalty
    is more than 10,000 scales above the median, and more than 100 times as far from it as any ordinary value. A skewed objective
    with values of all magnitudes therefore has no penalties.

    Parameters
    ----------
    values : array-like of shape (n,)
        Responses in the order of their reports, smaller being better; nan where an evaluation failed.

    Returns
    -------
    ndarray of bool, shape (n,)

    Notes
    -----
    Equation :eq:`penalty` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> are_penalties([3.0, 1.0, 1e10, 2.0, 5.0, 400.0]).tolist()
    [False, False, True, False, False, False]
    """
    told = np.asarray(values, dtype=float)
    finite = told[np.isfinite(told)]
    none = np.zeros(told.shape, dtype=bool)
    if len(finite) < _LEAST:
        return none
    largest = finite.max()
    base = finite[:_FIRST]
    if np.sum(finite == largest) > 1:
        base = base[base < largest]
    if len(base) < _LEAST:
        return none
    lower, median = np.quantile(base * 0.25, [0.25, 0.5])  # quartered, so that no difference overflows
    scale = 2.0 * (median - lower)
    if not scale > 0:
        return none
    with np.errstate(over="ignore"):
        distance = np.where(np.isfinite(told), 0.25 * told - median, -np.inf) / scale
        away = np.sort(distance[np.isfinite(told)])
        gap = away > np.maximum(_FACTOR, _GAP * np.append(np.inf, away[:-1]))
    return distance >= away[np.argmax(gap)] if gap.any() else none

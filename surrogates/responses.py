"""Responses before they are modelled: replicates and noise, the largest floats, and penalty values of failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Aggregated:
    """Data with a row for each distinct point.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Distinct points, in the order in which they first appear.
    mean : ndarray of shape (n,)
        Mean response at each point.
    count : ndarray of shape (n,)
        Number of responses at each point.
    within : float
        Sum of the squared deviations of all responses from the means of their points; inf beyond the largest float.
    index : ndarray of shape (N,)
        Index of the row of X for each original row.
    """

    X: Floats
    mean: Floats
    count: Floats
    within: float
    index: NDArray[np.intp]


def aggregate(X: Floats, y: Floats) -> Aggregated:
    """Aggregate equal rows of X.

    With counts and scatter, matrices of the n distinct points give the likelihood of all N responses
    (Binois, Gramacy, Ludkovski 2018, "Practical heteroscedastic Gaussian process modeling", lemma 3.1).

    Examples
    --------
    >>> a = aggregate(np.array([[0.0], [1.0], [0.0]]), np.array([1.0, 5.0, 3.0]))
    >>> a.mean.tolist(), a.count.tolist(), a.within
    ([2.0, 5.0], [2.0, 1.0], 2.0)
    """
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    index = rank[np.ravel(inverse)]
    count = np.bincount(index).astype(float)
    mean = np.bincount(index, weights=y) / count
    single = count[index] == 1
    mean[index[single]] = y[single]
    with np.errstate(over="ignore"):
        within = float(np.sum((y - mean[index]) ** 2))
    return Aggregated(X[first[order]], mean, count, within, index)


Noisiness = Literal["noisy", "deterministic", "unknown"]

_MANY_TIES = 0.05


def judge_noise(points: Floats, values: Floats, declared: bool | Literal["auto"] = "auto") -> Noisiness:
    """Return whether the response is noisy, as the user has declared, or judged by the replicates among the evaluations.

    Two different responses at a point prove noise; bit-identical responses are evidence against noise.

    Parameters
    ----------
    points : ndarray of shape (N, d)
        Canonical points; equal rows are replicates.
    values : ndarray of shape (N,)
        Finite responses.
    declared : bool or "auto", default="auto"
        Whether the response is noisy, if the user knows.

    Examples
    --------
    >>> judge_noise(np.array([[0.5], [0.2], [0.5]]), np.array([1.0, 2.0, 1.0]))
    'deterministic'
    """
    if declared != "auto":
        return "noisy" if declared else "deterministic"
    if len(values) < 2:
        return "unknown"
    data = aggregate(points, values)
    repeats = len(values) - len(data.mean)
    if repeats == 0:
        return "unknown"
    first = values[np.unique(data.index, return_index=True)[1]]
    return "noisy" if np.any(values != first[data.index]) else "deterministic"


def needs_second_look(points: Floats, values: Floats) -> bool:
    """Return whether a single pair of equal replicates may be chance.

    This is possible if different points often have equal responses, such as an error count on a small test set. Ties at the
    largest value do not count: many hopeless configurations have the same error.

    Parameters
    ----------
    points, values
        As in `judge_noise`, which returned "deterministic" for them.
    """
    data = aggregate(points, values)
    if len(values) - len(data.mean) != 1:
        return False
    below = data.mean[data.mean < np.max(data.mean)]
    if len(below) < 2:
        return False
    _, counts = np.unique(below, return_counts=True)
    ties = float(np.sum(counts * (counts - 1))) / (len(below) * (len(below) - 1))
    return ties > _MANY_TIES


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

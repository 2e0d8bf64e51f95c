"""Responses before they are modelled: replicates and noise, the largest floats, and penalty values of failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Aggregated:
    """Data with a row for each distinct point, in the order in which they first appear.

    `within` is the sum of squared deviations of all responses from their points' means, inf beyond the largest float; `index` the
    row of X of each original row.
    """

    X: Floats
    mean: Floats
    count: Floats
    within: float
    index: NDArray[np.intp]


def aggregate(X: Floats, y: Floats) -> Aggregated:
    """Aggregate equal rows of X: counts and scatter suffice for the likelihood of all N responses.

    Binois, Gramacy, Ludkovski 2018, "Practical heteroscedastic Gaussian process modeling", lemma 3.1.
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
    """Return whether a single pair of equal replicates may be chance: different points often have equal responses.

    An error count on a small test set, say. Ties at the largest value do not count: many hopeless configurations have the same
    error.
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

    The unit is a power of two, so no digit changes; nan and infinity stay as they are.
    """
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    power = int(np.frexp(largest)[1]) - _LARGEST
    return (values, 1.0) if power <= 0 else (np.ldexp(values, -power), float(np.ldexp(1.0, power)))


_FIRST, _LEAST = 10, 4
_FACTOR, _GAP = 1e4, 100.0


def are_penalties(values: ArrayLike) -> NDArray[np.bool_]:
    """Return which values are so much worse than the others that they must be penalty values of failures (:eq:`penalty`).

    More than 10,000 scales above the median, and 100 times as far from it as any ordinary value; the scale is twice the distance
    from median to lower quartile of the first ten values, without a repeated largest.
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

"""Repeated points: their means and scatter, and the conclusions about noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

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


Verdict = Literal["noisy", "deterministic", "unknown"]

_MANY_TIES = 0.05


def judge_noise(points: Floats, values: Floats) -> Verdict:
    """Judge by the replicates among the evaluations whether the response is noisy.

    Two different responses at a point prove noise; bit-identical responses are evidence against noise.

    Parameters
    ----------
    points : ndarray of shape (N, d)
        Canonical points; equal rows are replicates.
    values : ndarray of shape (N,)
        Finite responses.

    Examples
    --------
    >>> judge_noise(np.array([[0.5], [0.2], [0.5]]), np.array([1.0, 2.0, 1.0]))
    'deterministic'
    """
    if len(values) < 2:
        return "unknown"
    data = aggregate(points, values)
    repeats = len(values) - len(data.mean)
    if repeats == 0:
        return "unknown"
    first = values[np.unique(data.index, return_index=True)[1]]
    if np.any(values != first[data.index]):
        return "noisy"
    return "deterministic"


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

"""Repeated points: their means, their counts, and the scatter within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Aggregated:
    """Data with one row a distinct point.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Distinct points, in the order in which they first appear.
    mean : ndarray of shape (n,)
        Mean response at each.
    count : ndarray of shape (n,)
        Number of responses behind each mean.
    within : float
        Sum of the squared deviations of all responses from their point's mean; inf beyond the largest float.
    index : ndarray of shape (N,)
        The row of X to which each original row belongs.
    """

    X: Floats
    mean: Floats
    count: Floats
    within: float
    index: NDArray[np.intp]


def aggregate(X: Floats, y: Floats) -> Aggregated:
    """Aggregate equal rows of X.

    With the counts and the scatter, the likelihood of all N responses follows from matrices of the n distinct points
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

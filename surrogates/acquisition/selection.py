"""Selection of the evaluations that a model is fitted to, if there are more than about a thousand."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.correlation import Embedding
from spotsvm.surrogates.responses import aggregate

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

#: maximum number of distinct points of a model: with them a suggestion takes some tenths of a second
MAX_POINTS = 1000

_INCUMBENTS = 5
_NEIGHBOURS = 10  # over which a noisy response is averaged
_CANDIDATES = 200  # best responses among which the five best means are sought


def select_evaluations(domain: Domain, points: Floats, values: Floats, *, noisy: bool, n: int = MAX_POINTS) -> Indices:
    """Return the evaluations for a model of at most n distinct points; all evaluations if they have no more points.

    An eighth of the points are the newest. If the response is deterministic, a quarter are the best. If it is noisy, half are the
    nearest to the five points with the best means over ten neighbours: among thousands of noisy responses the smallest are the
    luckiest, and a model of these would be too optimistic about their neighbourhood. Each other point is as far as possible from
    those selected before, so explored regions do not look unexplored. All replicates of a selected point are included.

    Parameters
    ----------
    points : ndarray of shape (N, d)
        Canonical points; equal rows are replicates.
    values : ndarray of shape (N,)
        Finite responses, smaller being better.
    noisy : bool
        Whether two responses at one point may differ.
    n : int, default=1000
        Number of distinct points to select, at least 20.

    Returns
    -------
    ndarray of shape (N',)
        Row indices of `points`, ascending; deterministic.

    References
    ----------
    Gonzalez 1985, "Clustering to minimize the maximum intercluster distance" (farthest points first).

    Examples
    --------
    >>> points = np.linspace(0.0, 1.0, 101)[:, None]
    >>> rows = select_evaluations(
    ...     Domain.continuous(1),
    ...     points,
    ...     (points[:, 0] - 0.5) ** 2,
    ...     noisy=False,
    ...     n=20,
    ... )
    >>> rows[:10].tolist()
    [0, 6, 12, 18, 24, 30, 36, 48, 49, 50]
    >>> rows[10:].tolist()
    [51, 52, 58, 64, 75, 81, 87, 93, 99, 100]
    """
    if len(points) <= n:
        return np.arange(len(points))
    data = aggregate(points, values)
    if len(data.mean) <= n:
        return np.arange(len(points))
    embedded = Embedding.of_points(domain, data.X)[1]
    best = np.argsort(data.mean, kind="stable")
    if noisy:
        best = best[:_CANDIDATES]
        best = best[np.argsort(_smoothed(embedded, data.mean, data.count, best), kind="stable")]
        best = _nearest(embedded, embedded[best[:_INCUMBENTS]], n // 2)
    last = np.zeros(len(data.mean), dtype=np.intp)
    np.maximum.at(last, data.index, np.arange(len(points)))
    chosen = np.zeros(len(data.mean), dtype=bool)
    chosen[best[: n // 2 if noisy else n // 4]] = True
    chosen[np.argsort(-last, kind="stable")[: n // 8]] = True
    chosen[_spread_out(embedded, np.flatnonzero(chosen), n)] = True
    return np.flatnonzero(chosen[data.index])


def select_places(domain: Domain, points: Floats, around: Floats, n: int = MAX_POINTS) -> Indices:
    """Return the evaluations at n distinct points: half of them nearest to `around`, the others as far apart as possible.

    Results are not used, so the share of failures is not biased by the selection.
    """
    if len(points) <= n:
        return np.arange(len(points))
    data = aggregate(points, np.zeros(len(points)))
    if len(data.mean) <= n:
        return np.arange(len(points))
    both = Embedding.of_points(domain, np.vstack([data.X, around]))[1]
    embedded = both[: len(data.X)]
    chosen = np.zeros(len(data.mean), dtype=bool)
    chosen[_spread_out(embedded, _nearest(embedded, both[len(data.X) :], n // 2), n)] = True
    return np.flatnonzero(chosen[data.index])


def _smoothed(embedded: Floats, mean: Floats, count: Floats, at: Indices) -> Floats:
    """Return the mean response over the nearest neighbours of the points `at`."""
    distance = cdist(embedded[at], embedded, "sqeuclidean")
    near = np.argpartition(distance, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
    return np.asarray(np.sum(mean[near] * count[near], axis=1) / np.sum(count[near], axis=1))


def _nearest(embedded: Floats, around: Floats, n: int) -> Indices:
    """Return the n points nearest to any point of `around`, the nearest first."""
    distance = cdist(embedded, around, "sqeuclidean").min(axis=1)
    return np.argsort(distance, kind="stable")[:n]


def _spread_out(embedded: Floats, chosen: Indices, n: int) -> Indices:
    """Add to the chosen points, each time the point farthest from them, until there are n."""
    distance = np.full(len(embedded), np.inf)
    for block in np.array_split(chosen, max(1, len(chosen) // 64)):  # in blocks: all distances at once would fill the memory
        np.minimum(distance, cdist(embedded, embedded[block], "sqeuclidean").min(axis=1), out=distance)
    distance[chosen] = -np.inf
    squares = np.einsum("ij,ij->i", embedded, embedded)
    more = np.empty(n - len(chosen), dtype=np.intp)
    for k in range(len(more)):
        more[k] = at = int(np.argmax(distance))
        np.minimum(distance, squares - 2.0 * (embedded @ embedded[at]) + squares[at], out=distance)
        distance[at] = -np.inf
    return np.append(chosen, more)

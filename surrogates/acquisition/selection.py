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
    """Return the evaluations for a model of at most n distinct points (at least 20), with all their replicates; ascending.

    An eighth are the newest; a quarter the best, or, of noisy responses, half the nearest to the five best means of ten
    neighbours, as the smallest are the luckiest. The rest are farthest points (Gonzalez 1985).
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

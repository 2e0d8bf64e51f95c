"""Maximise an acquisition function over the unit cube."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

_STEP, _LEAST_STEP = 0.05, 1e-4  # of the pattern search
_APART = 0.05  # least difference in some coordinate between candidates that may lead to different maxima


class Acquisition(Protocol):
    """A function of points of the unit cube, to be maximised."""

    def value(self, points: Floats) -> Floats:
        """Return the values at points of shape (m, d); shape (m,)."""
        ...

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in the `free` coordinates, within [0, 1], and the value there."""
        ...


def maximize_acquisition(
    domain: Domain,
    acquisition: Acquisition,
    anchors: Floats,
    rng: np.random.Generator,
    *,
    allowed: Callable[[Floats], bool] = lambda point: True,
    n_global: int = 512,
    n_local: int = 256,
    n_polish: int = 3,
    polish_evaluations: int = 40,
) -> tuple[Floats, float] | None:
    """Maximise an acquisition function over a domain; return a canonical point and its value, or None if none is allowed.

    Quasi-random points and points around the anchors (the best first) are compared; the best few that are far enough apart are
    polished in their active continuous coordinates.
    """
    candidates = domain.snap(np.vstack([_global(domain, n_global, rng), _around(domain, anchors, n_local, rng)]))
    values = acquisition.value(candidates)
    best: tuple[Floats, float] | None = None
    starts: list[Floats] = []
    near = np.zeros(len(candidates), dtype=bool)  # close to a start
    for k in np.argsort(-values, kind="stable"):
        if not near[k] and allowed(candidates[k]):
            best = best or (candidates[k], float(values[k]))
            starts.append(candidates[k])
            near |= np.max(np.abs(candidates - candidates[k]), axis=1) <= _APART
            if len(starts) == n_polish:
                break
    for start in starts:
        point, value = _polish(domain, acquisition, start, polish_evaluations)
        if best is not None and value > best[1] and allowed(point):
            best = point, value
    return best


def pattern_search(
    function: Callable[[Floats], Floats], point: Floats, free: NDArray[np.bool_], evaluations: int
) -> tuple[Floats, float]:
    """Return a local maximum of a function that may have no gradient, in the `free` coordinates, and the value there.

    Hooke, Jeeves 1961: each step moves to the best neighbour, or halves the step length. `evaluations` is twice the number of
    steps.
    """
    columns = np.repeat(np.flatnonzero(free), 2)
    rows, sides = np.arange(len(columns)), np.tile([-1.0, 1.0], len(columns) // 2)
    best, value, step = point, float(function(point[None])[0]), _STEP
    for _ in range(evaluations // 2):
        beside = np.tile(best, (len(columns), 1))
        beside[rows, columns] = np.clip(beside[rows, columns] + step * sides, 0.0, 1.0)
        values = function(beside)
        k = int(np.argmax(values))
        if values[k] > value:
            best, value = beside[k], float(values[k])
        elif (step := step / 2) < _LEAST_STEP:
            break
    return best, value


def _global(domain: Domain, n: int, rng: np.random.Generator) -> Floats:
    """Draw points of a Sobol sequence, shifted modulo 1 by the same random vector (Cranley, Patterson 1976)."""
    return np.asarray((_sobol(domain.dimension, n) + rng.random(domain.dimension)) % 1.0)


@lru_cache(maxsize=8)
def _sobol(dimension: int, n: int) -> Floats:
    return np.asarray(qmc.Sobol(dimension, scramble=False).random_base2(max(n - 1, 1).bit_length()))


def _around(domain: Domain, anchors: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Draw points around the anchors, from 0.001 to 0.3 away, in a random share of the coordinates."""
    d = domain.dimension
    base = anchors[np.arange(n) % len(anchors)]
    size = 10.0 ** rng.uniform(-3.0, -0.5, size=(n, 1))
    moved = rng.random((n, d)) < np.maximum(1.0 / d, rng.random((n, 1)))
    step = rng.normal(size=(n, d)) * size
    # a discrete coordinate moves at least to the next value, a categorical one to any value
    width = np.where(domain.discrete, 1.0 / np.maximum(domain.levels, 1), 0.0)
    step = np.where(domain.discrete, np.copysign(np.maximum(np.abs(step), width), step), step)
    points = np.clip(base + np.where(moved, step, 0.0), 0.0, 1.0)
    return np.where(moved & domain.categorical, rng.random((n, d)), points)


def _polish(domain: Domain, acquisition: Acquisition, start: Floats, evaluations: int) -> tuple[Floats, float]:
    free = ~domain.discrete & domain.active(start)[0]
    if not free.any():
        return start, -np.inf
    point, value = acquisition.climb(start, free, evaluations)
    return domain.snap_one(point), value

"""Where in the unit cube an acquisition function is largest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

_APART = 0.05  # in some coordinate, for two candidates to lead to different maxima


class Acquisition(Protocol):
    """A function of points of the unit cube, to be maximised."""

    def value(self, points: Floats) -> Floats:
        """Return the values at points of shape (m, d); shape (m,)."""
        ...

    def climb(self, point: Floats, free: NDArray[np.bool_], evaluations: int) -> tuple[Floats, float]:
        """Return a local maximum in some continuous coordinates, shape (d,), and the value there.

        Parameters
        ----------
        point : ndarray of shape (d,)
            Where to begin.
        free : ndarray of bool, shape (d,)
            The coordinates to change, within [0, 1].
        evaluations : int
            Values at most, each with its gradient.
        """
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
    """Maximise an acquisition function over a domain.

    Quasi-random points and points around the anchors are compared; from the best few, far enough apart, a local maximum is
    sought in their active continuous coordinates.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean; every point tried is canonical.
    acquisition : Acquisition
        The function.
    anchors : ndarray of shape (k, d)
        Good points, the best first, to look around.
    rng : numpy.random.Generator
        Source of the candidates.
    allowed : callable, optional
        Tells of a canonical point whether it may be returned.
    n_global, n_local : int
        Quasi-random candidates, and candidates around the anchors.
    n_polish, polish_evaluations : int
        Candidates to polish, and evaluations for each.

    Returns
    -------
    (point, value), or None if no candidate is allowed.
    """
    candidates = domain.snap(np.vstack([_global(domain, n_global, rng), _around(domain, anchors, n_local, rng)]))
    values = acquisition.value(candidates)
    best: tuple[Floats, float] | None = None
    starts: list[Floats] = []
    near = np.zeros(len(candidates), dtype=bool)  # to a start
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


def _global(domain: Domain, n: int, rng: np.random.Generator) -> Floats:
    """Draw points of a Sobol sequence, all shifted by the same random vector around the cube (Cranley, Patterson 1976)."""
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
    # a discrete coordinate that moves goes at least to the next value, a categorical one to any
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

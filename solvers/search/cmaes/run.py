"""A run of CMA-ES, from its initial mean and standard deviation until it stops, by the cma package."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


class CmaesCoding:
    """The coordinates of CMA-ES for a domain.

    A continuous coordinate is unchanged. An ordered coordinate of k levels is an integer variable of cma, on [-0.5, k - 0.5]. A
    categorical coordinate has no order and is left to `CategoryShares`. cma needs at least two coordinates; missing ones are
    added without effect.

    Parameters
    ----------
    domain : Domain
        What the coordinates of the cube mean.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
        Index of the cube's coordinate for each coordinate of cma.
    widths : ndarray of shape (n,)
        Length of the range of each coordinate of cma; n = max(m, 2).
    low, high : ndarray of shape (n,)
        The ranges.
    integers : list of int
        Indices of cma's integer coordinates.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Coordinate
    >>> coding = CmaesCoding(
    ...     Domain(
    ...         (
    ...             Coordinate(),
    ...             Coordinate(levels=4),
    ...             Coordinate(levels=3, categorical=True),
    ...         )
    ...     )
    ... )
    >>> coding.decode(
    ...     coding.encode(np.array([0.3, 0.625, 0.5])), np.full(3, 0.5)
    ... ).tolist()
    [0.3, 0.625, 0.5]
    >>> coding.encode(np.array([0.3, 0.625, 0.5])).tolist(), coding.integers
    ([0.3, 2.0], [1])
    """

    def __init__(self, domain: Domain):
        self.domain = domain
        self.columns = np.flatnonzero((domain.levels != 1) & ~domain.categorical)
        levels = domain.levels[self.columns]
        self.integers = [int(j) for j in np.flatnonzero(levels > 0)]
        self.widths = np.ones(max(len(self.columns), 2))
        self.widths[self.integers] = levels[self.integers]
        self.low = np.zeros(len(self.widths))
        self.low[self.integers] = -0.5
        self.high = self.low + self.widths

    def encode(self, point: Floats) -> Floats:
        """Return the coordinates of cma for a point of the cube; shape (n,)."""
        inside = np.full(len(self.widths), 0.5)
        inside[: len(self.columns)] = point[self.columns]
        return np.asarray(self.low + inside * self.widths)

    def decode(self, x: Floats, categories: Floats) -> Floats:
        """Return the canonical point for coordinates of cma; `categories` is a point with the categorical coordinates."""
        point = np.array(categories, dtype=float)
        inside = (np.asarray(x) - self.low) / self.widths
        point[self.columns] = inside[: len(self.columns)]
        return self.domain.snap_one(point)


class CategoryShares:
    """A distribution of independent categorical coordinates: each value has a share.

    After a generation the shares move towards the categories of its better half, weighted as CMA-ES weights its mean. No share
    falls below a floor.

    Parameters
    ----------
    rate : float
        Step of the shares in each generation, in (0, 1].
    floor : float
        The smallest share, relative to an equal share, in [0, 1).
    start : ndarray of shape (d,), optional
        A point whose categories get half of the shares in advance; by default all shares are equal.

    References
    ----------
    Hamano, Saito, Nomura, Uchida, Shirakawa 2024, "CatCMA: Stochastic Optimization for Mixed-Category Problems", section 3, for
    the margin and the update by the natural gradient.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Coordinate
    >>> shares = CategoryShares(
    ...     Domain((Coordinate(levels=2, categorical=True),)), rate=0.5, floor=0.2
    ... )
    >>> shares.update(np.array([[0.75], [0.75]]), np.array([0.6, 0.4]))
    >>> shares.shares[0].tolist()
    [0.25, 0.75]
    """

    def __init__(self, domain: Domain, rate: float, floor: float, start: Floats | None = None):
        self.domain = domain
        self.rate = rate
        self.floor = floor
        self.shares: dict[int, Floats] = {}
        for j in np.flatnonzero(domain.categorical):
            k = int(domain.levels[j])
            self.shares[int(j)] = np.full(k, 1.0 / k)
            if start is not None and domain.active(start)[0, j]:
                self.shares[int(j)] = 0.5 * (self.shares[int(j)] + (np.arange(k) == domain.level_of(start)[0, j]))

    def sample(self, rng: np.random.Generator) -> Floats:
        """Draw a point's categories; the other coordinates are 0.5."""
        point = np.full(self.domain.dimension, 0.5)
        for j, shares in self.shares.items():
            point[j] = (np.searchsorted(np.cumsum(shares)[:-1], rng.random(), side="right") + 0.5) / len(shares)
        return point

    def update(self, points: Floats, weights: Floats) -> None:
        """Move the shares towards the categories of the better points; a point's inactive coordinates do not count."""
        active, levels = self.domain.active(points), self.domain.level_of(points)
        for j, shares in self.shares.items():
            w = weights * active[:, j]
            if w.sum() > 0:
                target = np.bincount(levels[:, j], weights=w, minlength=len(shares)) / weights.sum()
                moved = shares + self.rate * (target - w.sum() / weights.sum() * shares)
                least = self.floor / len(shares)
                self.shares[j] = least + (1.0 - self.floor) * moved if moved.min() < least else moved


_CONDITION = 1e14
_OWN_OPTIONS = ("popsize", "bounds", "CMA_stds", "integer_variables", "randn", "seed")


class Normals:
    """Normal random numbers from a Generator, with the interface that cma expects; can be pickled, unlike a lambda."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng

    def __call__(self, *shape: int) -> Floats:
        """Draw an array of this shape."""
        return self.rng.standard_normal(shape)


@dataclass
class Sample:
    """A point drawn by a run.

    Attributes
    ----------
    x : ndarray of shape (n,)
        The point in cma's coordinates.
    point : ndarray of shape (d,)
        The point in the cube.
    """

    x: Floats
    point: Floats


class CmaesRun:
    """A run of CMA-ES from an initial mean until it stops.

    Only the ranks of the values are used, and a failed point is worse than all others.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        The point of the cube to start from.
    sigma0 : float
        Standard deviation at the start, as a share of each coordinate's range.
    popsize : int
        Points in each generation.
    streams : sequence of two SeedSequence
        Seeds of the normal numbers, and of all other random numbers.
    tol_x : float
        The run stops when the standard deviations of all coordinates are below it, as a share of their ranges.
    options : dict
        Further options of `cma.CMAEvolutionStrategy`.
    """

    def __init__(
        self,
        coding: CmaesCoding,
        mean: Floats,
        sigma0: float,
        popsize: int,
        streams: list[np.random.SeedSequence],
        shares: CategoryShares,
        tol_x: float,
        options: dict[str, Any],
    ):
        self.coding = coding
        self.popsize = popsize
        self.shares = shares
        self.tol_x = tol_x
        self.stopped = ""
        self.all_failed = False
        self._others = np.random.default_rng(streams[1])
        self._flat = 0
        self._best = np.inf
        self._since_best = 0
        with _undisturbed(self._others):
            import cma

            self.es = cma.CMAEvolutionStrategy(coding.encode(mean), sigma0, cma_options(coding, popsize, streams[0]) | options)

    def begin_with_mean(self) -> None:
        """Make the mean itself the first sample."""
        self.es.inject([np.array(self.es.mean)], force=True)

    def sample(self, number: int | None = None) -> list[Sample]:
        """Draw a generation, or `number` further points of the current distribution."""
        with _undisturbed(self._others):
            drawn = self.es.ask(number)
        return [Sample(x, self.coding.decode(x, self.shares.sample(self._others))) for x in drawn]

    def tell(self, samples: list[Sample], values: Floats) -> None:
        """Update the distribution with samples of this run or other points, and check whether to stop."""
        ok = np.isfinite(values)
        if not ok.any():
            self.stopped, self.all_failed = "all points of a generation failed", True
            return
        ranks = np.full(len(values), float(len(values)))
        ranks[ok] = np.unique(values[ok], return_inverse=True)[1]
        with _undisturbed(self._others):
            self.es.tell([s.x for s in samples], ranks.tolist())
        order = np.argsort(ranks, kind="stable")[: self.es.sp.weights.mu]
        self.shares.update(np.array([samples[k].point for k in order]), np.array(self.es.sp.weights.positive_weights))
        self._look_for_the_end(np.sort(np.where(ok, values, np.inf)))

    def _look_for_the_end(self, values: Floats) -> None:
        n = len(self.coding.widths)
        self._flat = self._flat + 1 if values[0] == values[int(0.75 * len(values))] else 0
        self._since_best = 0 if values[0] < self._best else self._since_best + 1
        self._best = min(self._best, float(values[0]))
        spread = self.es.stds / self.coding.widths
        smooth = np.setdiff1d(np.arange(len(self.coding.columns)), self.coding.integers)
        if not (np.all(np.isfinite(self.es.mean)) and np.all(np.isfinite(spread)) and np.all(spread > 0)):
            self.stopped = "the distribution is no longer one"
        elif self._flat > 3 + 30 * len(self.coding.integers) / n:
            self.stopped = "generations without a difference"
        elif self._since_best > 10 + 30 * n / self.popsize:
            self.stopped = "no better point for many generations"
        elif len(smooth) and np.all(spread[smooth] < self.tol_x) and self._since_best > len(self.coding.integers):
            self.stopped = "the distribution has contracted"
        elif self.es.condition_number > _CONDITION:
            self.stopped = "the distribution has degenerated"


def cma_options(coding: CmaesCoding, popsize: int, stream: np.random.SeedSequence) -> dict[str, Any]:
    """Return the options with which a bare `cma.CMAEvolutionStrategy` draws the same points as a run."""
    return {
        "popsize": popsize,
        "bounds": [coding.low.tolist(), coding.high.tolist()],
        "CMA_stds": coding.widths.tolist(),
        "integer_variables": list(coding.integers),
        "randn": Normals(np.random.default_rng(stream)),
        "seed": np.nan,
        "verbose": -10,
        "verb_log": 0,
    }


def checked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return a user's options of `cma.CMAEvolutionStrategy`.

    Raises
    ------
    SolverError
        If an option is unknown to cma, or set by the run itself.
    """
    with _undisturbed(np.random.default_rng(0)):
        import cma

        known = set(cma.CMAOptions())
    for name in options:
        if name in _OWN_OPTIONS:
            raise SolverError(f"options has {name!r}, which the search sets itself; use its own arguments")
        if name not in known:
            raise SolverError(f"options has {name!r}, which is not an option of cma.CMAEvolutionStrategy; see cma.CMAOptions()")
    return dict(options)


@contextmanager
def _undisturbed(rng: np.random.Generator) -> Iterator[None]:
    """Run cma with its own random state and warnings, and restore those of the caller.

    cma uses numpy's global random state to move integers into their bounds, and it warns on import if matplotlib is missing,
    although only its plots need matplotlib.
    """
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(int(rng.integers(2**32)))  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(state)  # noqa: NPY002

"""CMA-ES: generations of points from a normal distribution that adapts to the better points, by the cma package.

The search asks a run for points; `Restarts` sizes the runs; a run works in cma's coordinates, and draws categories by shares.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_choice, is_count
from spotsvm.solvers.search.contract.base import Capabilities, Suggestion
from spotsvm.solvers.search.contract.planned_search import PlannedSearch
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
Schedule = Literal["ipop", "bipop"]

_FREE_GENERATIONS = 20  # without a single new point, before a random point is suggested
_EXTRA_DRAWS = 20
_SHARE_RATE = 0.5
_SHARE_FLOOR = 0.1


class CmaesSearch(PlannedSearch):
    """The covariance matrix adaptation evolution strategy, by the cma package.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    popsize : int or None, default=None
        Points in each generation of the first run, at least 3; None is 4 + 3 ln n for n coordinates, rounded down.
    sigma0 : float, default=0.25
        Standard deviation at the start of a run, as a share of each coordinate's range, in (0, 1).
    restarts : {"ipop", "bipop"}, default="ipop"
        After a run has stopped, the next has twice the population ("ipop"), or such runs take turns with small, narrow runs of as
        many evaluations ("bipop").
    tol_x : float, default=1e-4
        A run stops when the standard deviations of all continuous coordinates are below it, as a share of their ranges.
    options : dict, optional
        Further options of `cma.CMAEvolutionStrategy`, except those that follow from the other arguments.

    Raises
    ------
    SolverError
        If an argument is invalid, or `options` has an option that cma does not have or that must not be set.

    Notes
    -----
    The first run starts at the best point reported so far, or at the centre, and its first generation contains this point; later
    runs start at random points. A generation is complete as soon as `popsize` of its points are reported. Until then `ask`
    returns further points of the same distribution; late reports count in a later generation. So does a point that was never
    asked for, if it is better than the generation. A point with a known value is not evaluated again; its value is used again.

    Bounds are handled by cma's BoundTransform: the distribution is unbounded, and its draws are folded back into the cube, so it
    does not get stuck at the border. Ordered coordinates are cma's integer variables, with its lower bound on their standard
    deviation; categories are drawn by shares (`CategoryShares`). Only ranks count: a failed point is the worst of its generation,
    and after a generation without a success a new run begins.

    With noise, the weighted mean and the evolution path average over the ranks, and `Study.recommend` chooses by a model. No
    point is evaluated again: with one more evaluation of each generation's best point, the median regret of 16 runs on Branin
    with noise of deviation 3 was 0.18 after 100 evaluations and 0.13 after 200, in place of 0.18 and 0.11; on Hartmann's function
    of six variables with deviation 0.25 it was 0.52 and 0.30, in place of 0.51 and 0.23. Larger populations did not help either.

    References
    ----------
    Hansen 2016, "The CMA Evolution Strategy: A Tutorial". Auger, Hansen 2005, "A restart CMA evolution strategy with increasing
    population size". Hansen 2009, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed". Marty, Hansen, Auger,
    Semet, Heron 2024, "LB+IC-CMA-ES: Two simple modifications of CMA-ES to handle mixed-integer problems". Hansen,
    Niederberger, Guzzella, Koumoutsakos 2009, "A Method for Handling Uncertainty in Evolutionary Optimization", section III,
    for evaluating points again.

    Examples
    --------
    >>> search = CmaesSearch(Domain.continuous(2), seed=0)
    >>> for _ in range(60):
    ...     point = search.ask().point
    ...     search.tell(point, float(((point - 0.3) ** 2).sum()))
    >>> bool(search.values.min() < 1e-3)
    True
    """

    capabilities = Capabilities(initial_name="first generation", max_given=1, follows_given=True)

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        popsize: int | None = None,
        sigma0: float = 0.25,
        restarts: Schedule = "ipop",
        tol_x: float = 1e-4,
        options: dict[str, Any] | None = None,
    ):
        super().__init__(domain, seed)
        self.coding = CmaesCoding(domain)
        if popsize is not None and not is_count(popsize, 3):
            raise SolverError(f"popsize={popsize!r} is not a population size; use 3 points or more, or None")
        if not 0 < sigma0 < 1:
            raise SolverError(f"sigma0={sigma0} is not a part of a coordinate's range; use a number between 0 and 1")
        if not tol_x > 0:
            raise SolverError(f"tol_x={tol_x} is not positive; use a small part of a coordinate's range, such as 1e-4")
        self.popsize = int(4 + 3 * np.log(len(self.coding.widths))) if popsize is None else int(popsize)
        self.sigma0 = sigma0
        self.tol_x = tol_x
        self.options = checked_options(options or {})
        self.restarts = Restarts(restarts, self.popsize, sigma0)
        self.capabilities = replace(self.capabilities, n_initial=self.popsize)
        self._run: CmaesRun | None = None
        self._slots: list[Sample] = []
        self._late: list[Sample] = []
        self._heard = 0

    @property
    def n_foreseen(self) -> int:
        """Number of points left of the generation, or the size of the next one."""
        if not self._own or self._run is None:
            return self.popsize
        left = sum(self.is_new(sample.point) for sample in self._slots)
        return left or (1 if self._n_told() < self._run.popsize else self._run.popsize)

    def _plan(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point: of this generation, of the next if this is complete, or another of the same distribution."""
        if self.is_exhausted:
            return Suggestion(self.new_point(rng), "random")  # raises SearchExhaustedError
        run = self._first_run() if self._run is None or not self._own else self._run
        for _ in range(_FREE_GENERATIONS):
            for sample in self._slots:
                if self.is_new(sample.point):
                    return Suggestion(sample.point, "generation")
            if self._n_told() < run.popsize:
                break
            run = self._next_generation(run)
        for _ in range(_EXTRA_DRAWS):
            sample = run.sample(1)[0]
            if self.is_new(sample.point):
                self._slots.append(sample)
                return Suggestion(sample.point, "generation", "beyond a generation that is still being evaluated")
        return Suggestion(self.new_point(rng), "random", "every point that was drawn had been asked for")

    def _proceed(self, planned: Suggestion) -> None:
        """Leave the plan as it is: the points of a generation are drawn together."""

    def _n_told(self) -> int:
        return sum(self.response(sample.point) is not None for sample in self._slots)

    def _first_run(self) -> CmaesRun:
        """Start at the best point reported so far, or at the centre; repeated until a point of the run is asked for."""
        self.restarts = Restarts(self.restarts.schedule, self.popsize, self.sigma0)
        self._heard = len(self._points)
        told = self.best_told()
        run = self._new_run(np.full(self.domain.dimension, 0.5) if told is None else told, told)
        run.begin_with_mean()
        self._slots = run.sample()
        if told is not None:
            self._slots[0].point = told  # with its own categories
        return run

    def _new_run(self, mean: Floats | None, known: Floats | None) -> CmaesRun:
        streams = np.random.SeedSequence([self.seed, 1 << 42, self.restarts.n_runs]).spawn(3)
        rng = np.random.default_rng(streams[2])
        popsize, sigma0 = self.restarts.next(rng)
        start = rng.random(self.domain.dimension) if mean is None else mean
        shares = CategoryShares(self.domain, _SHARE_RATE, _SHARE_FLOOR, known)
        self._run = CmaesRun(self.coding, start, sigma0, popsize, streams[:2], shares, self.tol_x, self.options)
        self._late = []
        return self._run

    def _next_generation(self, run: CmaesRun) -> CmaesRun:
        """Update the run with the values of its own and other points, restart if it stops, and draw the next generation."""
        told = [(s, self.response(s.point)) for s in [*self._late, *self._slots]]
        done = [(s, v) for s, v in told if v is not None]
        values = [v for _, v in done]
        strangers = self._better_strangers(min((v for v in values if np.isfinite(v)), default=-np.inf))
        run.tell([s for s, _ in done] + strangers, np.array(values + [self.response(s.point) for s in strangers], dtype=float))
        self.restarts.spend(len(done))
        self._late = [s for s, v in told if v is None]
        if run.stopped:
            self.restarts.end(run.all_failed)
            run = self._new_run(None, None)
        self._slots = run.sample()
        return run

    def _better_strangers(self, best: float) -> list[Sample]:
        """Return up to two points reported since the last generation, but never asked for, that beat `best`."""
        values = {p.tobytes(): (self.response(p), p) for p in self.strangers(self._heard)}
        self._heard = len(self._points)
        better = sorted((v, key) for key, (v, _) in values.items() if v is not None and v < best)
        return [Sample(self.coding.encode(values[key][1]), values[key][1]) for _, key in better[:2]]


class CmaesCoding:
    """The coordinates of CMA-ES for a domain, at least two: missing ones are added without effect.

    An ordered coordinate of k levels is an integer of cma on [-0.5, k - 0.5]; categorical ones are left to `CategoryShares`.
    `columns`: the cube's coordinate of each of cma's.
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
    """A distribution of independent categorical coordinates: each value has a share, which moves to the better half's categories.

    CatCMA, section 3 (Hamano et al. 2024): weighted as CMA-ES weights its mean, never below `floor` times an equal share; the
    categories of `start` get half of the shares in advance.
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
    """A point drawn by a run: `x` in cma's coordinates, `point` in the cube."""

    x: Floats
    point: Floats


class CmaesRun:
    """A run of CMA-ES from an initial mean until it stops; only ranks count, and a failed point is worse than all others.

    `sigma0` and `tol_x`, at which it stops, are shares of each coordinate's range; the two `streams` seed normal and all other
    numbers.
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
            self.stopped = "the covariance is not positive definite"
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
    """Return a user's options of `cma.CMAEvolutionStrategy`; SolverError if one is unknown or set by the run itself."""
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


_MOST_DOUBLINGS = 9


class Restarts:
    """The population sizes and initial standard deviations of consecutive runs.

    "ipop" doubles the population each time (Auger, Hansen 2005, section 2); "bipop" takes turns with small, narrow runs: the kind
    that has used fewer evaluations is next (Hansen 2009, section 2).
    """

    def __init__(self, schedule: Schedule, popsize: int, sigma0: float):
        check_choice("restarts", schedule, get_args(Schedule))
        self.schedule: Schedule = schedule
        self.popsize = popsize
        self.sigma0 = sigma0
        self.n_runs = 0
        self._doublings = 0
        self._small = False
        self._spent = {False: 0, True: 0}

    def next(self, rng: np.random.Generator) -> tuple[int, float]:
        """Return the population size and the standard deviation of the next run; `rng` is for small runs."""
        self.n_runs += 1
        large = self.popsize * 2**self._doublings
        self._small = self.schedule == "bipop" and self._doublings > 0 and self._spent[True] < self._spent[False]
        if not self._small:
            return large, self.sigma0
        size = int(self.popsize * (0.5 * large / self.popsize) ** (rng.random() ** 2))
        return size, self.sigma0 * 10.0 ** (-2.0 * rng.random())

    def spend(self, evaluations: int) -> None:
        """Count evaluations of the current run; the first run counts for neither kind."""
        if self._doublings > 0:
            self._spent[self._small] += evaluations

    def end(self, all_failed: bool) -> None:
        """End the current run; if all its points failed, the population does not grow, as that would not help."""
        if not self._small and not all_failed:
            self._doublings = min(self._doublings + 1, _MOST_DOUBLINGS)

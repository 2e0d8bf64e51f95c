"""CMA-ES: generations of points from a normal distribution that adapts to the better points."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_choice, is_count
from spotsvm.solvers.search.cmaes.run import CategoryShares, CmaesCoding, CmaesRun, Sample, checked_options
from spotsvm.solvers.search.contract.base import Capabilities, Noise, Suggestion
from spotsvm.solvers.search.contract.planned_search import PlannedSearch
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
Schedule = Literal["ipop", "bipop"]

_MOST_DOUBLINGS = 9


class Restarts:
    """The population sizes and initial standard deviations of consecutive runs.

    Parameters
    ----------
    schedule : {"ipop", "bipop"}
        "ipop": each run has twice the population of the previous run. "bipop": such large runs take turns with small, narrow
        runs; next is the kind that has used fewer evaluations so far.
    popsize : int
        Population of the first run.
    sigma0 : float
        Standard deviation of the first run, and of all large runs.

    References
    ----------
    Auger, Hansen 2005, "A restart CMA evolution strategy with increasing population size", section 2.
    Hansen 2009, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed", section 2.

    Examples
    --------
    >>> restarts = Restarts("ipop", popsize=6, sigma0=0.25)
    >>> sizes = []
    >>> for _ in range(3):
    ...     sizes.append(restarts.next(np.random.default_rng(0))[0])
    ...     restarts.end(all_failed=False)
    >>> sizes
    [6, 12, 24]
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
    noise : "auto" or bool, default="auto"
        Whether two evaluations of a point may differ; with True, `n_again` is 1 by default. With "auto" and a positive `n_again`,
        the best point of the first generation is evaluated again to detect noise.
    popsize : int or None, default=None
        Points in each generation of the first run, at least 3; None is 4 + 3 ln n for n coordinates, rounded down.
    sigma0 : float, default=0.25
        Standard deviation at the start of a run, as a share of each coordinate's range, in (0, 1).
    restarts : {"ipop", "bipop"}, default="ipop"
        After a run has stopped, the next has twice the population ("ipop"), or such runs take turns with small, narrow runs of as
        many evaluations ("bipop").
    n_again : int or None, default=None
        Number of repeated evaluations of each generation's best point before the ranking, if there is noise; None is 1 with
        `noise=True`, and 0 otherwise.
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

    With noise, the weighted mean and the evolution path average over the ranks, and `Study.recommend` chooses by a model. With
    `noise=True` the best point of each generation is also evaluated again, so that it does not lead by luck alone. This makes
    little difference at these budgets, so it is off by default: median regret of 16 runs on Branin with noise of deviation 3 is
    0.18 after 100 evaluations and 0.11 after 200 with `n_again=0`, 0.18 and 0.13 with 1; on Hartmann's function of six variables
    with deviation 0.25 it is 0.51 and 0.23, and 0.52 and 0.30. Larger populations did not help either.

    References
    ----------
    Hansen 2016, "The CMA Evolution Strategy: A Tutorial". Auger, Hansen 2005, "A restart CMA evolution strategy with increasing
    population size". Hansen 2009, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed". Marty, Hansen, Auger,
    Semet, Heron 2024, "LB+IC-CMA-ES: Two simple modifications of CMA-ES to handle mixed-integer problems". Hansen,
    Niederberger, Guzzella, Koumoutsakos 2009, "A Method for Handling Uncertainty in Evolutionary Optimization", section III,
    for evaluating points again.

    Examples
    --------
    >>> search = CmaesSearch(Domain.continuous(2), seed=0, noise=False)
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
        noise: Noise = "auto",
        popsize: int | None = None,
        sigma0: float = 0.25,
        restarts: Schedule = "ipop",
        n_again: int | None = None,
        tol_x: float = 1e-4,
        options: dict[str, Any] | None = None,
    ):
        super().__init__(domain, seed)
        self.coding = CmaesCoding(domain)
        if popsize is not None and not is_count(popsize, 3):
            raise SolverError(f"popsize={popsize!r} is not a population size; use 3 points or more, or None")
        if not 0 < sigma0 < 1:
            raise SolverError(f"sigma0={sigma0} is not a part of a coordinate's range; use a number between 0 and 1")
        if n_again is not None and not is_count(n_again, 0):
            raise SolverError(f"n_again={n_again!r} is not a number of evaluations; use 0 to evaluate no point again, or more")
        if not tol_x > 0:
            raise SolverError(f"tol_x={tol_x} is not positive; use a small part of a coordinate's range, such as 1e-4")
        self.noise = noise
        self.popsize = int(4 + 3 * np.log(len(self.coding.widths))) if popsize is None else int(popsize)
        self.sigma0 = sigma0
        self.n_again = int(noise != "auto" and bool(noise)) if n_again is None else int(n_again)
        self.tol_x = tol_x
        self.options = checked_options(options or {})
        self.restarts = Restarts(restarts, self.popsize, sigma0)
        self.capabilities = replace(self.capabilities, n_initial=self.popsize)
        self._run: CmaesRun | None = None
        self._slots: list[Sample] = []
        self._late: list[Sample] = []
        self._again = 0
        self._heard = 0

    @property
    def n_foreseen(self) -> int:
        """Number of points left of the generation, or the size of the next one."""
        if not self._own or self._run is None:
            return self.popsize
        left = sum(self.is_new(sample.point) for sample in self._slots)
        return left or (1 if self._n_told() < self._run.popsize or self._due_again() else self._run.popsize)

    def _plan(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point: of this generation, of the next if this is complete, or another of the same distribution."""
        if len(self._seen) >= self.domain.size:
            return Suggestion(self.new_point(rng), "random")  # raises SearchExhaustedError
        run = self._first_run() if self._run is None or not self._own else self._run
        for _ in range(_FREE_GENERATIONS):
            for sample in self._slots:
                if self.is_new(sample.point):
                    return Suggestion(sample.point, "generation")
            if self._n_told() < run.popsize:
                break
            if again := self._due_again():
                if not self.is_pending(again.point):
                    return Suggestion(again.point, "replicate", "to rank the best of the generation under noise")
                break
            run = self._next_generation(run)
        for _ in range(_EXTRA_DRAWS):
            sample = run.sample(1)[0]
            if self.is_new(sample.point):
                self._slots.append(sample)
                return Suggestion(sample.point, "generation", "beyond a generation that is still being evaluated")
        return Suggestion(self.new_point(rng), "random", "every point that was drawn had been asked for")

    def _proceed(self, planned: Suggestion) -> None:
        self._again += planned.origin == "replicate"

    def _n_told(self) -> int:
        return sum(self.response(sample.point) is not None for sample in self._slots)

    def _due_again(self) -> Sample | None:
        """Return the point to evaluate again before the generation is ranked, or None."""
        # judging the noise reads the whole history: only if needed
        verdict = self.judge(self.noise) if self.n_again else "deterministic"
        due = {"noisy": self.n_again, "unknown": min(self.n_again, 1), "deterministic": 0}[verdict]
        values = [(v, s) for s in self._slots if (v := self.response(s.point)) is not None and np.isfinite(v)]
        if waiting := [s for _, s in values if self.is_pending(s.point)]:
            return waiting[0]
        return min(values, key=lambda told: told[0])[1] if values and self._again < due else None

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
        self._again = 0
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
        self._again = 0
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

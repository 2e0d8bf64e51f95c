"""Sequential search with a Kriging model: design, fit, look where improvement is expected, evaluate, again."""

from __future__ import annotations

import inspect
import logging
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from spotsvm.errors import NotPositiveDefiniteError, SearchExhaustedError, SolverError
from spotsvm.solvers.search.contract.base import Capabilities, Noise, PointPrior, Search, Suggestion
from spotsvm.solvers.search.kriging.model import Evaluations, Prospect, SearchModel
from spotsvm.solvers.search.kriging.ocba import ocba_next
from spotsvm.solvers.search.kriging.regressor import RegressorModel
from spotsvm.surrogates.acquisition.averaged_improvement import AveragedImprovement, Criterion
from spotsvm.surrogates.acquisition.maximize_acquisition import Acquisition, maximize_acquisition
from spotsvm.surrogates.acquisition.pointwise import AcquisitionFunction, takes_best
from spotsvm.surrogates.acquisition.prior_weight import PriorWeighted
from spotsvm.surrogates.acquisition.selection import MAX_POINTS
from spotsvm.surrogates.domain import Domain, initial_design
from spotsvm.surrogates.kriging.ensemble import Inference, KrigingEnsemble
from spotsvm.surrogates.kriging.noise import Aggregated, Verdict, aggregate, judge_noise, needs_second_look
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.surrogates.responses import are_penalties, within_reach

Floats = NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_SECOND_LOOK = 20
_FILL_STREAM = 1 << 44
_FILL_TRIES = 16
_FAR_APART = 1e6  # standard deviations
_MANY = 256  # points up to which many candidates are compared and local maxima sought from three
_COST_BLIND_EVERY = 6  # ignore cost in every 6th suggestion, to escape cheap local optima
_PRIOR_BLIND_EVERY = 2  # ignore the prior of the optimum in every second suggestion
#: the power of the prior of the optimum, times the number of evaluations; as in piBO
PRIOR_STRENGTH = 10.0
_FEWEST = 3  # values told, before which pending points say more than a model would


class KrigingSearch(Search):
    """Sequential parameter optimisation with Kriging, after Koch et al. 2011; `KochSearch` has their repeats.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of one point may differ. "auto" finds out: the best point of the initial design is
        evaluated once more.
    n_initial : int, default=6
        Points of the initial design: the centre and a Latin hypercube. Points that are assumed before the first own one,
        such as those at which a study starts, take the place of as many of them.
    correlation : {"matern52", "gaussian"}, default="matern52"
        The correlation function.
    inference : {"sampled", "mle", "mle-cmaes"}, default="sampled"
        Expected improvement averaged over sampled hyperparameters, or at those of the largest likelihood.
    n_members : int, default=4
        Number of sampled sets.
    nugget_bounds : (float, float), default=(1e-8, 10)
        Where maximum likelihood seeks the nugget; equal bounds fix it.
    warped : "auto" or bool, default="auto"
        Whether the response's warp is among what is sampled; "auto" warps a response known to be deterministic.
    criterion : {"auto", "reinterpolation", "plain"}, default="auto"
        What improvement means; "auto" is "plain" for a response known to be deterministic, else "reinterpolation".
    repeat_below : float, default=0.1
        Under noise, the expected improvement, in standard errors of the incumbent's predicted mean, below which one of the
        five best predicted points is evaluated once more instead; OCBA says which. 0 for no repeats.
    centre : bool, default=True
        Whether the design begins with the centre.
    max_points : int, default=1000
        Distinct points that a model sees at most, at least 20, so that a suggestion takes less than a second after any number of
        trials. Of more, an eighth are the newest, a quarter the best (under noise half, those at the best places), and the others
        are spread over the space (`select_evaluations`); which they are follows from the record alone. What is new, and whether
        there is noise, is judged by all.
    per_second : bool, default=False
        Whether to look for the largest expected improvement per predicted second, by a model of the seconds that `take_seconds`
        was given; `"kriging_per_second"` by name. Every sixth suggestion is made whatever it costs, lest a cheap local
        optimum hold the search for long. What is suggested then depends on the clock as well: the same seed gives the same points
        for the same seconds only. A study passes on those of its trials, of a resumed record the recorded ones, so that it goes
        on exactly as it would have.
    surrogate : estimator, optional
        A regressor with `predict(X, return_std=True)` that takes the place of the Kriging model, such as
        `GaussianProcessRegressor` or `BayesianRidge`. Clones of it are fitted to points in [0, 1], with an indicator column for
        each category, and to standardised responses, the mean of those at one point. Under noise its standard deviation should
        be that of the mean response. A `random_state` that is None follows from `seed`.
    acquisition : callable, optional
        What a new point maximises, in place of the averaged improvement: a function of `spotsvm.acquisition`, or another one of
        the predicted mean, the standard deviation, and `best`, the response to improve on. The smaller response is the better
        one. Larger values of such a function are better; of one without `best`, such as `lower_confidence_bound`, smaller ones.
        By default with a `surrogate` the logarithm of the expected improvement.

    Raises
    ------
    SolverError
        If an argument is invalid, or a setting of the Kriging model is given beside a `surrogate`.

    See Also
    --------
    KochSearch : The paper's way.
    ParegoSearch : The same for several objectives.
    spotsvm.Kriging : The model alone.

    Notes
    -----
    Equation :eq:`replicate-rule` of the chapter :doc:`/method/index`.

    A point that failed never enters the model of the response; a second model steers away from failures (`Chance.of_success`),
    the more firmly the more of the last evaluations failed. Values far beyond the others, as objectives return them for what they
    could not do (`are_penalties`), are modelled as failures.

    Where bounds of further numbers are given (`take_margins`), these are modelled too: expected improvement on the best that
    holds them is weighed with the probability that they hold (Gelbart, Snoek, Adams 2014).

    Under noise, a finite space of which every configuration has been evaluated is evaluated again: OCBA says which of them, so
    that the rest of a budget tells the best ones apart.

    Pending points are taken to give what the model predicts (Kriging believer). As long as fewer than three values are told,
    what is asked for beyond the design continues it by a Sobol sequence. Where nothing has been told since the last suggestion,
    its fit is used again; under many pending points the hyperparameters are sampled anew once for every eighth of them told.

    How much is spent on a suggestion follows from the numbers of points and of values told alone, never from a clock, so that a
    resumed search makes the same trials. Beyond 45 points the chains make a share of their moves, the square of 45 / n; beyond
    256 fewer models are averaged, fewer candidates compared, and one local maximum is sought in place of three. The points of a
    batch share a fit, whose chains make up for the sweeps of all values told.

    Maximum likelihood, which needs many times the operations of a sample, is sought on 200 points where there are more, by
    L-BFGS-B from the last optimum; the model is of all points all the same.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels".
    Jones, Schonlau, Welch 1998, "Efficient Global Optimization of Expensive Black-Box Functions".
    Ginsbourger, Le Riche, Carraro 2010, "Kriging is well-suited to parallelize optimization".

    Examples
    --------
    >>> search = KrigingSearch(Domain.continuous(2), seed=0, noise=False)
    >>> for _ in range(12):
    ...     point = search.ask().point
    ...     search.tell(point, float(((point - 0.3) ** 2).sum()))
    >>> bool(search.values.min() < 0.01)
    True

    With another model, and another acquisition function:

    >>> from functools import partial
    >>> from scipy.stats import uniform
    >>> from sklearn.linear_model import BayesianRidge
    >>> from spotsvm import Study
    >>> from spotsvm.acquisition import lower_confidence_bound
    >>> search = partial(KrigingSearch, surrogate=BayesianRidge(), acquisition=lower_confidence_bound)
    >>> study = Study({"x": uniform(-1, 2)}, search, seed=0).run(lambda p: p["x"], n_trials=10)
    >>> round(study.best_trial.params["x"], 3)
    -1.0
    """

    capabilities = Capabilities(respects_constraints=True, models_bounds=True, follows_prior=True)
    #: whether the response to model changes from suggestion to suggestion, so that each needs a fit of its own
    _refits = False
    #: evaluations of a point at most, where an exhausted space is evaluated again
    _most_repeats: float = np.inf

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        noise: Noise = "auto",
        n_initial: int = 6,
        correlation: Literal["matern52", "gaussian"] = "matern52",
        inference: Inference = "sampled",
        n_members: int = 4,
        nugget_bounds: tuple[float, float] = (1e-8, 10.0),
        warped: bool | Literal["auto"] = "auto",
        criterion: Criterion | Literal["auto"] = "auto",
        repeat_below: float = 0.1,
        centre: bool = True,
        max_points: int = MAX_POINTS,
        per_second: bool = False,
        surrogate: Any = None,
        acquisition: AcquisitionFunction | None = None,
    ):
        super().__init__(domain, seed)
        if n_initial < 2:
            raise SolverError(f"n_initial={n_initial} is too few points for a model; use 2 or more")
        if max_points < 20:
            raise SolverError(f"max_points={max_points} is too few points for a model of many; use 20 or more")
        if not repeat_below >= 0:
            raise SolverError(f"repeat_below={repeat_below} is negative; use 0 for no repeats, or more")
        self.capabilities = replace(self.capabilities, n_initial=n_initial, models_seconds=per_second)
        self.noise = noise
        self.criterion = criterion
        self.repeat_below = repeat_below
        self.per_second = per_second
        self._margins: dict[int, tuple[float, ...]] = {}
        self._seconds: dict[int, float] = {}
        self._design = initial_design(domain, n_initial, np.random.default_rng([self.seed, 1 << 40]), centre=centre)
        self.acquisition = _checked_acquisition(acquisition)
        self._model: SearchModel | RegressorModel
        if surrogate is None:
            ensemble = KrigingEnsemble(
                domain, correlation=correlation, inference=inference, n_members=n_members, nugget_bounds=nugget_bounds
            )
            self._model = SearchModel(ensemble, warped, max_points)
        else:
            _refuse_settings(
                correlation=correlation, inference=inference, n_members=n_members, nugget_bounds=nugget_bounds, warped=warped,
                criterion=criterion,
            )  # fmt: skip
            self._model = RegressorModel(domain, surrogate, max_points, self.seed)
        self._prospect: Prospect | None = None  # of the last suggestion, and how many values had been told
        self._prospect_at = 0
        self._prior: PointPrior | None = None
        self._modes: list[Floats] = []

    @property
    def n_foreseen(self) -> int:
        """Number of points left of the initial design."""
        return max(len(self._design) - self.n_asked, 1)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose a new point, or one to evaluate again; under noise one of all, by OCBA, where the space has no new one.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        try:
            return self._next(rng)
        except SearchExhaustedError:
            again = self._of_all(rng)
            if again is None:
                raise
            return Suggestion(again, "replicate", "every configuration has been evaluated: to tell the best apart")

    def _next(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point: from the design, as a replicate, or where improvement is expected.

        After the design a suggestion is made by four parts, each of which a subclass can replace: what is known of the noise
        (`_judge_noise`), the model (`_model`), the criterion (`_expect`) and what maximises it (`_maximise`).
        """
        if self.n_asked < len(self._design):
            believed = self._modes[: len(self._design) // 2]
            point = next((mode for mode in believed if self.is_new(mode)), self._design[self.n_asked])
            return Suggestion(point, "design") if self.is_new(point) else Suggestion(self.new_point(rng), "random")
        told = self._evaluations()
        ok = told.succeeded
        if len(told) < min(_FEWEST, len(self._design)):
            return self._fill(rng, "too few values are known for a model")
        if not ok.any():
            return self._fill(rng, "no evaluation has succeeded yet")
        points, values = told.points[ok], told.values[ok]
        noise = self._judge_noise(points, values)
        if self._should_probe(points, values, noise):
            return Suggestion(points[np.argmin(values)], "replicate", "to find out whether the objective is noisy")
        try:
            with one_blas_thread():
                began = time.perf_counter()
                prospect = self._expect(told, noise, rng)
                fitted = time.perf_counter()
                suggestion = self._choose(prospect, noise, rng)
                return replace(suggestion, fit_seconds=fitted - began, acquisition_seconds=time.perf_counter() - fitted)
        except NotPositiveDefiniteError as error:
            _LOG.warning("suggestion %d is random: %s", self.n_asked, error)
            return Suggestion(self.new_point(rng), "random", f"the model failed: {error}")

    def _fill(self, rng: np.random.Generator, note: str) -> Suggestion:
        """Choose the next point of a sequence that fills the space evenly."""
        sequence = qmc.Sobol(self.domain.dimension, rng=np.random.default_rng([self.seed, _FILL_STREAM]))
        sequence.fast_forward(self.n_asked)
        for point in self.domain.snap(sequence.random(_FILL_TRIES)):
            if self.is_new(point):
                return Suggestion(point, "design", note)
        return Suggestion(self.new_point(rng), "random", note)

    def _evaluations(self) -> Evaluations:
        """Return what was told, as the models see it."""
        n = len(self._points)
        margins = seconds = None
        if self._margins:
            unknown = (np.nan,) * len(next(iter(self._margins.values())))
            margins = np.array([self._margins.get(k, unknown) for k in range(n)], dtype=float).reshape(n, -1)
        if self.per_second:
            seconds = np.array([self._seconds.get(k, np.nan) for k in range(n)])
        return Evaluations(self.points, self._modelled(), margins, seconds)

    def _modelled(self) -> Floats:
        """Return the response to model at each point told, in some unit, nan where the evaluation failed; shape (n,)."""
        values = self.values
        penalties = are_penalties(values)
        return within_reach(np.where(penalties, np.nan, values) if penalties.any() else values)[0]

    def _judge_noise(self, points: Floats, values: Floats) -> Verdict:
        if self.noise != "auto":
            return "noisy" if self.noise else "deterministic"
        return judge_noise(points, values)

    def _should_probe(self, points: Floats, values: Floats, noise: Verdict) -> bool:
        """Return whether to evaluate the best point once more, only to see whether the response is the same."""
        if self.noise != "auto" or any(self.is_told(waiting) for waiting in self.pending):
            return False
        if noise == "deterministic":
            return self.n_asked >= _SECOND_LOOK and needs_second_look(points, values)
        return noise == "unknown"

    def _expect(self, told: Evaluations, noise: Verdict, rng: np.random.Generator) -> Prospect:
        """Fit the model and make the criterion, or take those of the last suggestion where nothing has been told since."""
        sweeps = 1 if self._refits else self._model.sweeps_due(len(told), len(self.pending))
        if not sweeps and self._prospect is not None and self._prospect_at == len(told):
            return self._prospect
        fit = self._model.fit(told, noise, rng, sweeps)
        criterion: Criterion = "plain" if noise == "deterministic" else "reinterpolation"
        if self.criterion != "auto":
            criterion = self.criterion
        self._prospect = Prospect.of(self.domain, fit, told, criterion, self._model.max_points, self.acquisition)
        self._prospect_at = len(told)
        return self._prospect

    def _choose(self, prospect: Prospect, noise: Verdict, rng: np.random.Generator) -> Suggestion:
        """Choose the point of the largest criterion or, under noise and where that promises little, one to evaluate again."""
        improvement = prospect.improvement if self.n_asked % _COST_BLIND_EVERY else prospect.improvement.whatever_it_costs()
        if len(waiting := self._waiting()):
            improvement = improvement.believe(self.domain.model_inputs(waiting))
        criterion: Acquisition = improvement
        if self._prior is not None and self.n_asked % _PRIOR_BLIND_EVERY:
            criterion = PriorWeighted(improvement, self._prior.log_density, PRIOR_STRENGTH / len(self._points))
        best = self._maximise(criterion, prospect, rng)
        if best is None:
            return Suggestion(self.new_point(rng), "random", "; ".join([*prospect.notes, "every candidate had been asked for"]))
        point, gain = best
        if self.per_second or not isinstance(criterion, AveragedImprovement):
            gain = improvement.log_gain(point)
        if noise == "noisy" and np.exp(gain) < self.repeat_below * prospect.incumbent_error() / prospect.fit.models.unit:
            again = self._replicate(prospect)
            if again is not None:
                return Suggestion(again, "replicate", "to tell the best points apart")
        return Suggestion(point, "improvement", "; ".join(prospect.notes))

    def _waiting(self) -> Floats:
        """Return the pending points at which no value is known; shape (q, d)."""
        waiting = [point for point in np.unique(self.pending, axis=0) if not self.is_told(point)] if self.pending else []
        return np.array(waiting).reshape(-1, self.domain.dimension)

    def _maximise(self, criterion: Acquisition, prospect: Prospect, rng: np.random.Generator) -> tuple[Floats, float] | None:
        """Return the new point at which the criterion is largest, and its value there; None if no new point was found."""
        sizes = (512, 256, 3, 40) if len(prospect.fit.points) <= _MANY else (256, 128, 1, 20)
        effort = dict(zip(("n_global", "n_local", "n_polish", "polish_evaluations"), sizes, strict=True))
        anchors = prospect.anchors()
        if isinstance(criterion, PriorWeighted):
            anchors = np.vstack([anchors, *self._modes])
        return maximize_acquisition(self.domain, criterion, anchors, rng, allowed=self.is_new, **effort)

    def _replicate(self, prospect: Prospect) -> Floats | None:
        """Choose by OCBA which of the five best predicted points to evaluate once more; none that is pending."""
        data, mean = _by_point(prospect)
        best = np.argsort(mean, kind="stable")[:5]
        best = best[np.isfinite(mean[best])]  # of those that hold their bounds
        if self.pending:
            best = best[[not (np.array(self.pending) == x).all(axis=1).any() for x in data.X[best]]]
        if not len(best):
            return None
        gap = (mean[best] - mean[best[0]]) / max(prospect.fit.models.noise, np.finfo(float).tiny)
        chosen: Floats = data.X[best[ocba_next(gap, np.ones(len(best)), data.count[best])]]
        return chosen

    def _of_all(self, rng: np.random.Generator) -> Floats | None:
        """Choose by OCBA which point of an exhausted space to evaluate once more, those pending included; None without noise."""
        told = self._evaluations()
        ok = told.succeeded
        noise = self._judge_noise(told.points[ok], told.values[ok])
        if noise == "deterministic" or not ok.any():
            return None
        try:
            with one_blas_thread():
                prospect = self._expect(told, noise, rng)
        except NotPositiveDefiniteError:
            return None
        data, mean = _by_point(prospect)
        count = data.count + [sum(np.array_equal(x, waiting) for waiting in self.pending) for x in data.X]
        few = np.flatnonzero(count < self._most_repeats)
        if not len(few):
            return None
        gap = (mean[few] - mean[few].min()) / max(prospect.fit.models.noise, np.finfo(float).tiny)
        chosen: Floats = data.X[few[ocba_next(np.minimum(gap, _FAR_APART), np.ones(len(few)), count[few])]]
        return chosen

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take by how much each bound was held at the evaluation told last; see `Search.take_margins`."""
        self._margins[len(self._points) - 1] = tuple(margins)
        self._prospect = None

    def take_seconds(self, seconds: float) -> None:
        """Take how long the evaluation told last took, which only `per_second` makes use of."""
        self._seconds[len(self._points) - 1] = float(seconds)
        self._prospect = None

    def take_prior(self, prior: PointPrior) -> None:
        """Take where the optimum is believed to be; its modes are the first points of the design, up to half of it.

        A criterion is weighted with the density to the power of `PRIOR_STRENGTH` over the number of evaluations (Hvarfner et al.
        2022), but for every second suggestion, which ignores the prior, so that a wrong one cannot hold the search.
        """
        self._prior, self._modes = prior, prior.modes()

    def state(self) -> dict[str, Any]:
        """Return the chains, which a search that goes on needs and cannot compute from the history alone, and when they moved.

        Returns
        -------
        dict
            The state by name.
        """
        return self._model.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Take the chains back."""
        if state:
            self._model.restore(state)


def _by_point(prospect: Prospect) -> tuple[Aggregated, Floats]:
    """Return the evaluations of a fit by distinct points, and the response predicted at each point."""
    data = aggregate(prospect.fit.points, prospect.fit.values)
    return data, prospect.predicted[np.unique(data.index, return_index=True)[1]]


def _checked_acquisition(acquisition: Any) -> AcquisitionFunction | None:
    """Return an acquisition function; raise SolverError for what is none."""
    if acquisition is None:
        return None
    try:
        takes_best(acquisition)
    except (TypeError, ValueError):
        raise SolverError(
            f"acquisition={acquisition!r} is not a function of a mean and a standard deviation; use one of spotsvm.acquisition"
        ) from None
    return cast("AcquisitionFunction", acquisition)


def _refuse_settings(**settings: Any) -> None:
    """Raise SolverError if a setting of the Kriging model is not the default."""
    parameters = inspect.signature(KrigingSearch).parameters
    for name, value in settings.items():
        if value != parameters[name].default:
            raise SolverError(f"{name}={value!r} is a setting of the Kriging model, which surrogate replaces; leave it out")

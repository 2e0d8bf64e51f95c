"""Sequential search with a Kriging model: initial design, fit, maximise the expected improvement, evaluate, repeat."""

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
from spotsvm.solvers.search.kriging.model import Evaluations, FittedCriterion, ModelFit, ResponseModel, SearchModel
from spotsvm.solvers.search.kriging.ocba import ocba_next
from spotsvm.solvers.search.kriging.regressor import RegressorModel
from spotsvm.surrogates.acquisition.criterion import (
    AcquisitionFunction,
    AveragedImprovement,
    Criterion,
    PriorWeighted,
    takes_best,
)
from spotsvm.surrogates.acquisition.maximize_acquisition import Acquisition, maximize_acquisition
from spotsvm.surrogates.acquisition.selection import MAX_POINTS
from spotsvm.surrogates.domain import Domain, initial_design
from spotsvm.surrogates.kriging.ensemble import Inference, KrigingEnsemble
from spotsvm.surrogates.one_thread import one_blas_thread
from spotsvm.surrogates.responses import (
    Aggregated,
    Noisiness,
    aggregate,
    are_penalties,
    judge_noise,
    needs_second_look,
    within_reach,
)

Floats = NDArray[np.float64]

_LOG = logging.getLogger(__name__)
_SECOND_LOOK = 20
_FILL_STREAM = 1 << 44
_FILL_TRIES = 16
_FAR_APART = 1e6  # standard deviations
_MANY = 256  # maximum points for which many candidates are compared and three local maxima are sought
_COST_BLIND_EVERY = 6  # ignore cost in every 6th suggestion, to escape cheap local optima
_PRIOR_BLIND_EVERY = 2  # ignore the prior of the optimum in every second suggestion
#: the power of the prior of the optimum, times the number of evaluations; as in piBO
PRIOR_STRENGTH = 10.0
_FEWEST = 3  # reported values below which pending points inform more than a model


class KrigingSearch(Search):
    """Sequential parameter optimisation with Kriging, after Koch et al. 2011; `KochSearch` repeats evaluations as they do.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of a point may differ. "auto" evaluates the best point of the initial design again to detect
        noise.
    n_initial : int, default=6
        Points of the initial design: the centre and a Latin hypercube. Points asked for before the first own point, such as the
        starts of a study, replace as many of them.
    correlation : {"matern52", "gaussian"}, default="matern52"
        The correlation function.
    inference : {"sampled", "mle", "mle-cmaes"}, default="sampled"
        Expected improvement averaged over sampled hyperparameters, or with maximum-likelihood hyperparameters.
    n_members : int, default=4
        Number of sampled sets of hyperparameters.
    nugget_bounds : (float, float), default=(1e-8, 10)
        Bounds of the nugget in maximum likelihood; equal bounds fix the nugget.
    warped : "auto" or bool, default="auto"
        Whether the response is warped with a sampled strength; "auto" warps a response known to be deterministic.
    criterion : {"auto", "reinterpolation", "plain"}, default="auto"
        Definition of the improvement; "auto" is "plain" for a response known to be deterministic, otherwise "reinterpolation".
    repeat_below : float, default=0.1
        With noise, threshold of the expected improvement, in standard errors of the incumbent's predicted mean. Below it, one of
        the five best predicted points, chosen by OCBA, is evaluated again instead. 0 for no repeats.
    centre : bool, default=True
        Whether the design begins with the centre.
    max_points : int, default=1000
        Maximum number of distinct points of a model, at least 20, so that a suggestion takes less than a second after any number
        of trials. If there are more, an eighth of the points are the newest, a quarter the best (with noise, half are in the best
        regions), and the others are spread over the space (`select_evaluations`); the selection depends only on the record. All
        points are used to detect noise and to avoid duplicates.
    per_second : bool, default=False
        Whether to maximise the expected improvement per predicted second, by a model of the durations passed to `take_seconds`;
        the name of this search is `"kriging_per_second"`. Every sixth suggestion ignores the cost, to escape cheap local optima.
        Suggestions then depend on measured times: the same seed gives the same points only for the same durations. A study passes
        the durations of its trials, and the recorded durations when it resumes a record, so that a resumed search continues
        exactly.
    surrogate : estimator, optional
        A regressor with `predict(X, return_std=True)` that replaces the Kriging model, such as `GaussianProcessRegressor` or
        `BayesianRidge`. Clones of it are fitted to points in [0, 1], with an indicator column for each category, and to
        standardised responses, averaged at each point. With noise its standard deviation should be that of the mean response. A
        `random_state` of None is replaced by a number derived from `seed`.
    acquisition : callable, optional
        Acquisition function in place of the averaged improvement: a function of `spotsvm.acquisition`, or another function of the
        predicted mean, the standard deviation, and `best`, the response to improve on (smaller is better). It is maximised; a
        function without `best`, such as `lower_confidence_bound`, is minimised. The default with a `surrogate` is the logarithm
        of the expected improvement.

    Raises
    ------
    SolverError
        If an argument is invalid, or a setting of the Kriging model is combined with a `surrogate`.

    Notes
    -----
    Equation :eq:`replicate-rule` of the chapter :doc:`/method/index`.

    A failed point never enters the model of the response. A second model steers the search away from failures
    (`Chance.of_success`), more strongly if more of the last evaluations failed. Penalty values far beyond the others
    (`are_penalties`) are treated as failures.

    Bounds on further numbers (`take_margins`) are modelled too: the expected improvement on the best feasible point is multiplied
    by the probability that the bounds hold (Gelbart, Snoek, Adams 2014).

    With noise, when every configuration of a finite space has been evaluated, configurations chosen by OCBA are evaluated again,
    so that the rest of the budget separates the best configurations.

    Pending points are assumed to have their predicted responses (Kriging believer). While fewer than three values are reported,
    points beyond the design continue it by a Sobol sequence. If no value was reported since the last suggestion, its fit is
    reused; with many pending points the hyperparameters are resampled only after an eighth of these have been reported.

    The effort for a suggestion depends only on the numbers of points and reported values, never on a clock, so that a resumed
    search makes the same trials. Beyond 45 points the chains make only the share (45 / n)^2 of their moves. Beyond 256 points
    fewer models are averaged, fewer candidates compared, and one local maximum is sought instead of three. The points of a batch
    share a fit, for which the chains make the sweeps of all values reported since the last fit.

    Maximum likelihood needs many times the operations of a sample. With more than 200 points it is computed on 200 of them, by
    L-BFGS-B from the last optimum; the model still includes all points.

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
    >>> search = partial(
    ...     KrigingSearch,
    ...     surrogate=BayesianRidge(),
    ...     acquisition=lower_confidence_bound,
    ... )
    >>> study = Study({"x": uniform(-1, 2)}, search, seed=0).run(
    ...     lambda p: p["x"], n_trials=10
    ... )
    >>> round(study.best_trial.params["x"], 3)
    -1.0
    """

    capabilities = Capabilities(respects_constraints=True, models_bounds=True, follows_prior=True)
    #: whether the modelled response changes from suggestion to suggestion, so that each needs its own fit
    _refits = False
    #: maximum number of evaluations of a point when an exhausted space is evaluated again
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
        self._model: ResponseModel
        if surrogate is None:
            ensemble = KrigingEnsemble(
                domain, correlation=correlation, inference=inference, n_members=n_members, nugget_bounds=nugget_bounds
            )
            self._model = self._modelling(SearchModel(ensemble, warped, max_points))
        else:
            _refuse_settings(
                correlation=correlation, inference=inference, n_members=n_members, nugget_bounds=nugget_bounds, warped=warped,
                criterion=criterion,
            )  # fmt: skip
            self._model = RegressorModel(domain, surrogate, max_points, self.seed)
        self._fitted: FittedCriterion | None = None  # of the last suggestion, with the number of values reported by then
        self._fitted_at = 0
        self._prior: PointPrior | None = None
        self._modes: list[Floats] = []

    def _modelling(self, model: SearchModel) -> ResponseModel:
        """Return the model of the search, from one of a single response without data."""
        return model

    @property
    def n_foreseen(self) -> int:
        """Number of points left of the initial design."""
        return max(len(self._design) - self.n_asked, 1)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Choose a new point or a point to evaluate again; with noise, OCBA chooses in a space without new points.

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

        After the design a suggestion is made by four parts, each of which a subclass can replace: the judgement of the noise
        (`_judge_noise`), the model (`_model`), the criterion (`_expect`) and its maximisation (`_maximise`).
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
                fitted = self._expect(told, noise, rng)
                chosen_from = time.perf_counter()
                suggestion = self._choose(fitted, noise, rng)
                return replace(suggestion, fit_seconds=chosen_from - began, acquisition_seconds=time.perf_counter() - chosen_from)
        except NotPositiveDefiniteError as error:
            _LOG.warning("suggestion %d is random: %s", self.n_asked, error)
            return Suggestion(self.new_point(rng), "random", f"the model failed: {error}")

    def _fill(self, rng: np.random.Generator, note: str) -> Suggestion:
        """Choose the next point of a space-filling sequence."""
        sequence = qmc.Sobol(self.domain.dimension, rng=np.random.default_rng([self.seed, _FILL_STREAM]))
        sequence.fast_forward(self.n_asked)
        for point in self.domain.snap(sequence.random(_FILL_TRIES)):
            if self.is_new(point):
                return Suggestion(point, "design", note)
        return Suggestion(self.new_point(rng), "random", note)

    def _evaluations(self) -> Evaluations:
        """Return the reported evaluations for the models."""
        n = len(self._points)
        margins = seconds = None
        if self._margins:
            unknown = (np.nan,) * len(next(iter(self._margins.values())))
            margins = np.array([self._margins.get(k, unknown) for k in range(n)], dtype=float).reshape(n, -1)
        if self.per_second:
            seconds = np.array([self._seconds.get(k, np.nan) for k in range(n)])
        return Evaluations(self.points, self._modelled(), margins, seconds)

    def _modelled(self) -> Floats:
        """Return the response to model at each reported point, in some unit, nan where the evaluation failed; shape (n,)."""
        return without_penalties(self.values)

    def _judge_noise(self, points: Floats, values: Floats) -> Noisiness:
        return judge_noise(points, values, self.noise)

    def _should_probe(self, points: Floats, values: Floats, noise: Noisiness) -> bool:
        """Return whether to evaluate the best point again only to detect noise."""
        if self.noise != "auto" or any(self.is_told(waiting) for waiting in self.pending):
            return False
        if noise == "deterministic":
            return self.n_asked >= _SECOND_LOOK and needs_second_look(points, values)
        return noise == "unknown"

    def _expect(self, told: Evaluations, noise: Noisiness, rng: np.random.Generator) -> FittedCriterion:
        """Fit the model and make the criterion, or reuse the last ones if no value was reported since."""
        sweeps = 1 if self._refits else self._model.sweeps_due(len(told), len(self.pending))
        if not sweeps and self._fitted is not None and self._fitted_at == len(told):
            return self._fitted
        fit = self._model.fit(told, noise, rng, sweeps)
        criterion: Criterion = "plain" if noise == "deterministic" else "reinterpolation"
        if self.criterion != "auto":
            criterion = self.criterion
        self._fitted = self._weigh(fit, told, criterion)
        self._fitted_at = len(told)
        return self._fitted

    def _weigh(self, fit: ModelFit, told: Evaluations, criterion: Criterion) -> FittedCriterion:
        """Return the criterion of a fit."""
        return FittedCriterion.of(self.domain, fit, told, criterion, self._model.max_points, self.acquisition)

    def _choose(self, fitted: FittedCriterion, noise: Noisiness, rng: np.random.Generator) -> Suggestion:
        """Choose the point of the largest criterion or, with noise and if the criterion is small, a point to evaluate again."""
        improvement = fitted.improvement if self.n_asked % _COST_BLIND_EVERY else fitted.improvement.cost_blind()
        if len(waiting := self._waiting()):
            improvement = improvement.believe(self.domain.model_inputs(waiting))
        criterion: Acquisition = improvement
        if self._prior is not None and self.n_asked % _PRIOR_BLIND_EVERY:
            criterion = PriorWeighted(improvement, self._prior.log_density, PRIOR_STRENGTH / len(self._points))
        best = self._maximise(criterion, fitted, rng)
        if best is None:
            return Suggestion(self.new_point(rng), "random", "; ".join([*fitted.notes, "every candidate had been asked for"]))
        point, gain = best
        if self.per_second or not isinstance(criterion, AveragedImprovement):
            gain = improvement.log_gain(point)
        if noise == "noisy" and np.exp(gain) < self.repeat_below * fitted.incumbent_error() / fitted.fit.models.unit:
            again = self._replicate(fitted)
            if again is not None:
                return Suggestion(again, "replicate", "to tell the best points apart")
        return Suggestion(point, "improvement", "; ".join(fitted.notes))

    def _waiting(self) -> Floats:
        """Return the pending points without a known value; shape (q, d)."""
        waiting = [point for point in np.unique(self.pending, axis=0) if not self.is_told(point)] if self.pending else []
        return np.array(waiting).reshape(-1, self.domain.dimension)

    def _maximise(self, criterion: Acquisition, fitted: FittedCriterion, rng: np.random.Generator) -> tuple[Floats, float] | None:
        """Return the new point of the largest criterion, and the criterion's value; None if no new point was found."""
        sizes = (512, 256, 3, 40) if len(fitted.fit.points) <= _MANY else (256, 128, 1, 20)
        effort = dict(zip(("n_global", "n_local", "n_polish", "polish_evaluations"), sizes, strict=True))
        anchors = self._anchors(fitted, rng)
        if isinstance(criterion, PriorWeighted):
            anchors = np.vstack([anchors, *self._modes])
        return maximize_acquisition(self.domain, criterion, anchors, rng, allowed=self.is_new, **effort)

    def _anchors(self, fitted: FittedCriterion, rng: np.random.Generator) -> Floats:
        """Return the points around which candidates are drawn."""
        return fitted.anchors()

    def _replicate(self, fitted: FittedCriterion) -> Floats | None:
        """Choose by OCBA which of the five best predicted points to evaluate again; pending points are excluded."""
        data, mean = _by_point(fitted)
        best = np.argsort(mean, kind="stable")[:5]
        best = best[np.isfinite(mean[best])]  # only feasible points
        if self.pending:
            best = best[[not self.is_pending(x) for x in data.X[best]]]
        if not len(best):
            return None
        gap = (mean[best] - mean[best[0]]) / max(fitted.fit.models.noise, np.finfo(float).tiny)
        chosen: Floats = data.X[best[ocba_next(gap, np.ones(len(best)), data.count[best])]]
        return chosen

    def _of_all(self, rng: np.random.Generator) -> Floats | None:
        """Choose by OCBA a point of an exhausted space to evaluate again, also a pending point; None without noise."""
        told = self._evaluations()
        ok = told.succeeded
        noise = self._judge_noise(told.points[ok], told.values[ok])
        if noise == "deterministic" or not ok.any():
            return None
        try:
            with one_blas_thread():
                fitted = self._expect(told, noise, rng)
        except NotPositiveDefiniteError:
            return None
        data, mean = _by_point(fitted)
        count = data.count + [sum(np.array_equal(x, waiting) for waiting in self.pending) for x in data.X]
        few = np.flatnonzero(count < self._most_repeats)
        if not len(few):
            return None
        gap = (mean[few] - mean[few].min()) / max(fitted.fit.models.noise, np.finfo(float).tiny)
        chosen: Floats = data.X[few[ocba_next(np.minimum(gap, _FAR_APART), np.ones(len(few)), count[few])]]
        return chosen

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take the margin of each bound at the evaluation reported last; see `Search.take_margins`."""
        self._margins[len(self._points) - 1] = tuple(margins)
        self._fitted = None

    def take_seconds(self, seconds: float) -> None:
        """Take the duration of the evaluation reported last; used only with `per_second`."""
        self._seconds[len(self._points) - 1] = float(seconds)
        self._fitted = None

    def take_prior(self, prior: PointPrior) -> None:
        """Take the prior of the optimum; its modes are the first points of the design, up to half of it.

        The criterion is multiplied by the density to the power of `PRIOR_STRENGTH` / number of evaluations (Hvarfner et al.
        2022). Every second suggestion ignores the prior, so that a wrong prior cannot trap the search.
        """
        self._prior, self._modes = prior, prior.modes()

    def state(self) -> dict[str, Any]:
        """Return the chains and the time of their last moves, which a resumed search cannot compute from the history.

        Returns
        -------
        dict
            The state by name.
        """
        return self._model.state()

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the chains."""
        if state:
            self._model.restore(state)


def without_penalties(values: Floats) -> Floats:
    """Return reported values for a model: nan in place of penalty values, in a unit in which squares do not overflow."""
    penalties = are_penalties(values)
    return within_reach(np.where(penalties, np.nan, values) if penalties.any() else values)[0]


def _by_point(fitted: FittedCriterion) -> tuple[Aggregated, Floats]:
    """Return the evaluations of a fit, aggregated to distinct points, and the predicted response at each point."""
    data = aggregate(fitted.fit.points, fitted.fit.values)
    return data, fitted.predicted[np.unique(data.index, return_index=True)[1]]


def _checked_acquisition(acquisition: Any) -> AcquisitionFunction | None:
    """Return an acquisition function, or raise SolverError if it is invalid."""
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

"""The data that the sections of a report share: the study, its axes, models, main effects and importances."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc, sobol_indices, uniform

from spotsvm.common.text import printable_line
from spotsvm.errors import ArgumentError, NoCompletedTrialError, SpaceError
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.fold_bias import optimism_of_trials, tuned_metric
from spotsvm.luck.intervals import bounded
from spotsvm.luck.optimism import Optimism
from spotsvm.luck.verdict import Verdict
from spotsvm.reports.axes import StudyAxis, study_axes
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.model import Floats, StudyModel, fit_study_model
from spotsvm.surrogates.responses import Noisiness, judge_noise
from spotsvm.trials.findings import OVERSEARCHING, VERDICT, Findings
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.own_unit import OwnUnits, in_own_unit
from spotsvm.trials.recommendation import Recommendation, losses_of, may_be_best, why_none
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import FAILED, FINISHED, Trial, holds_bounds

_GRID = 25
_OTHERS = 64
_SOBOL = 1024
#: half the length of a 95 % interval, in standard errors
SURE = 1.96


@dataclass(frozen=True)
class MainEffect:
    """The mean prediction along one parameter, over all others, and its standard error, at positions of shape (g,)."""

    axis: StudyAxis
    places: Floats
    mean: Floats
    error: Floats

    @property
    def band(self) -> tuple[Floats, Floats]:
        """The ends of the 95 % confidence band."""
        return self.mean - SURE * self.error, self.mean + SURE * self.error


def main_effects(model: StudyModel, axes: Sequence[StudyAxis], seed: int) -> list[MainEffect]:
    """Return the main effect of each coordinate; a conditional coordinate is averaged over configurations that have it."""
    others = qmc.Sobol(model.domain.dimension, rng=np.random.default_rng([seed, 1 << 43])).random(_OTHERS)
    return [_main_effect(model, axis, others) for axis in axes]


def _main_effect(model: StudyModel, axis: StudyAxis, others: Floats) -> MainEffect:
    coordinate = model.domain.coordinates[axis.column]
    if coordinate.parent >= 0:
        allowed = np.array(sorted(coordinate.parent_levels))
        chosen = allowed[np.minimum((others[:, coordinate.parent] * len(allowed)).astype(int), len(allowed) - 1)]
        others = others.copy()
        others[:, coordinate.parent] = (chosen + 0.5) / model.domain.coordinates[coordinate.parent].levels
    places = axis.grid(_GRID)
    groups = np.repeat(others[None], len(places), axis=0)
    groups[:, :, axis.column] = places[:, None]
    mean, error = model.average(groups)
    return MainEffect(axis, places, mean, error)


@dataclass(frozen=True)
class Importance:
    """Sobol indices of a model's mean: shares of the variance that each coordinate explains alone and together with others."""

    first: Floats
    total: Floats

    @property
    def order(self) -> list[int]:
        """The coordinates, the most important first."""
        return [int(j) for j in np.argsort(-self.total, kind="stable")]


def importance(model: StudyModel, seed: int) -> Importance | None:
    """Return the Sobol indices of all coordinates, for points drawn uniformly; None if the model is flat.

    Sobol 2001 and Saltelli et al. 2010, by `scipy.stats.sobol_indices`. A conditional coordinate has no effect on configurations
    without it.
    """
    rng = np.random.default_rng([seed, 1 << 44])
    spread = model.mean(rng.random((256, model.domain.dimension)))
    centre, width = float(np.median(spread)), float(np.ptp(spread))
    if not width > 1e-12 * max(float(np.abs(spread).max()), 1e-300):
        return None
    if model.domain.dimension == 1:  # scipy's function is for two or more
        return Importance(np.ones(1), np.ones(1))
    # in units of their own spread, as squares of huge values overflow and squares of tiny values are 0
    indices = sobol_indices(
        func=lambda x: (model.mean(x.T) - centre) / width, n=_SOBOL, dists=[uniform()] * model.domain.dimension, rng=rng
    )
    # estimates of shares can be slightly below 0 or above 1
    first, total = (np.clip(np.atleast_1d(index), 0.0, 1.0) for index in (indices.first_order, indices.total_order))
    return Importance(first, np.maximum(first, total))


#: maximum number of trials in a picture or a table
MOST = 500
SHOWN = "the best, the first and the last trials, and an even selection of the others"


def thinned(losses: Sequence[float] | NDArray[np.float64], most: int = MOST) -> NDArray[np.intp]:
    """Return the indices of `most` trials to show: a quarter best, a quarter first and last, the rest evenly spread.

    Losses of trials without a value are infinite or nan.
    """
    n = len(losses)
    if n <= most:
        return np.arange(n)
    kept = np.zeros(n, dtype=bool)
    kept[np.argsort(losses, kind="stable")[: most // 4]] = True
    kept[: most // 8] = kept[n - most // 8 :] = True
    others = np.flatnonzero(~kept)
    kept[others[np.linspace(0, len(others) - 1, most - int(kept.sum())).astype(int)]] = True
    return np.flatnonzero(kept)


HUGE = 1e301
_FOLD = re.compile(r"split(\d+)_test_")
_MOST_ROWS = 2000


def _read_optimism(finding: Mapping[str, Any]) -> Optimism | str:
    try:
        if any(isinstance(value, list) and len(value) > _MOST_ROWS for value in finding.values()):
            raise ValueError(f"it has more than {_MOST_ROWS} rows")
        return Optimism.from_dict(finding)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        return f"The finding on oversearching cannot be read: {printable_line(str(error), 200)}"


class StudyView:
    """A study, or its record, at one moment, with the derived data of its report.

    `source` is the recorded study; `study` is the same study, or a study of the errors if the recorded values are negated errors.
    `fitted` is the model that the search behind the study has fitted, if there is one.
    """

    def __init__(self, study: StudyResults, fitted: FittedModel | None = None):
        self.source, self.fitted = study, fitted
        self.study = in_own_unit(study)
        self.trials: tuple[Trial, ...] = self.study.trials
        self.axes: list[StudyAxis] = study_axes(study.space)

    @property
    def search(self) -> str:
        """Name of the search; empty if it is unknown."""
        return str(self.study.about.get("search", ""))

    @property
    def constraints(self) -> list[str]:
        """The constraints of the search as texts, such as "load <= 8.0"."""
        found = self.study.about.get("constraints")
        return [str(constraint) for constraint in found] if isinstance(found, list) else []

    @property
    def seconds(self) -> float:
        """Time of the evaluations, added up."""
        return sum(t.seconds or 0.0 for t in self.trials)

    @property
    def sign(self) -> float:
        """1 if smaller values of the first objective are better, else -1."""
        return float(self.study.objectives.signs[0])

    @cached_property
    def findings(self) -> Findings:
        """The findings of the study."""
        return self.study.findings

    @cached_property
    def unit(self) -> ScoreUnit | None:
        """The unit of the error if the trials of a study of one objective have negated errors; else None."""
        return self.own_units.error

    @cached_property
    def own_units(self) -> OwnUnits:
        """The units of the scores of the recorded study."""
        return OwnUnits.of(self.source.about, self.source.objectives)

    @cached_property
    def n_folds(self) -> int:
        """Number of folds in the trials' scores; 0 if the scores are not from cross-validation."""
        return len({int(fold[1]) for t in self.trials for name in t.extra if (fold := _FOLD.match(name))})

    @property
    def score_name(self) -> str:
        """The name of a trial's score in sentences: the metric's name if it is an error."""
        return "score" if self.unit is None else self.unit.title

    @cached_property
    def done(self) -> list[Trial]:
        """The trials that succeeded."""
        return [t for t in self.trials if t.state == "ok" and t.values is not None]

    @cached_property
    def failed(self) -> list[Trial]:
        """The trials that failed or timed out."""
        return [t for t in self.trials if t.state in FAILED]

    @cached_property
    def ended(self) -> list[Trial]:
        """The finished trials: those that succeeded, failed, timed out or ended early."""
        return [t for t in self.trials if t.state in FINISHED]

    @cached_property
    def stopped(self) -> list[Trial]:
        """The trials that ended early."""
        return [t for t in self.trials if t.state == "stopped"]

    def rows(self, most: int = MOST) -> NDArray[np.intp]:
        """Return the numbers of at most `most` trials to show, including the recommended trial."""
        if self.study.objectives.several:
            front = {t.number for t in self.front}
            losses = np.array([0.0 if t.number in front else 1.0 for t in self.trials])
        else:
            losses = losses_of(self.trials, self.sign)
            if self.recommended is not None:
                losses[self.recommended.number] = -np.inf
        return thinned(losses, most)

    @cached_property
    def drawn(self) -> list[Trial]:
        """The trials that pictures show: all finished trials, or a selection of many."""
        return [t for t in (self.trials[k] for k in self.rows()) if t.state in FINISHED]

    @property
    def thinned_words(self) -> str:
        """A note if a picture does not show all trials, else empty."""
        return f" Of {len(self.trials)} trials {MOST} are drawn: {SHOWN}." if len(self.trials) > MOST else ""

    @cached_property
    def too_large(self) -> str:
        """A note if values are too large for a model or an axis, else empty."""
        largest = max((abs(value) for t in self.done for value in t.values or ()), default=0.0)
        return f"A value of {largest:.3g} is beyond {HUGE:g}, too large to be drawn or modelled." if largest > HUGE else ""

    @property
    def n_running(self) -> int:
        """Number of trials without a result."""
        return sum(t.state == "running" for t in self.trials)

    @cached_property
    def recommended(self) -> Recommendation | None:
        """The recommended trial; None if no trial has succeeded and holds the bounds, or there are several objectives."""
        if self.study.objectives.several or not any(map(may_be_best, self.done)):
            return None
        found = self.study.recommend()
        return replace(found, value=float(self.possible(np.array([found.value]))[0]))

    def possible(self, values: Floats) -> Floats:
        """Return predicted values, clipped to the range of the score; a Kriging model has no such limits."""
        metric = tuned_metric(self.done[:5])
        seen = self.values()
        if self.unit is not None:  # an error is 0 or more
            return np.maximum(values, 0.0) if seen.min() >= 0 else values
        if metric is None or self.sign > 0:  # a score is maximised
            return values
        ends = bounded((float(np.nanmin(values)), float(np.nanmax(values))), seen, metric)
        return np.asarray(np.clip(values, *ends))

    @cached_property
    def noise(self) -> Noisiness | Literal["declared noisy", "declared deterministic"]:
        """Whether two evaluations of a configuration may differ, as declared by the user or shown by replicates."""
        if self.study.noise != "auto":
            return "declared noisy" if self.study.noise else "declared deterministic"
        done = [t for t in self.done if t.value is not None]
        return judge_noise(np.array([t.point for t in done]), np.array([t.value for t in done], dtype=float))

    @cached_property
    def front(self) -> tuple[Trial, ...]:
        """The non-dominated trials of several objectives; empty as long as no trial holds the bounds."""
        return self.study.pareto() if any(map(holds_bounds, self.done)) else ()

    @cached_property
    def models(self) -> list[StudyModel | str]:
        """The model of each objective, or a sentence that says why there is no model."""
        s = self.study
        return [
            fit_study_model(self.trials, s.space.domain, s.objectives, k, noise=s.noise, seed=s.seed)
            for k in range(len(s.objectives))
        ]

    @cached_property
    def importances(self) -> list[Importance | None]:
        """The Sobol indices of the model of each objective, or None."""
        return [None if isinstance(model, str) else importance(model, self.study.seed) for model in self.models]

    @cached_property
    def verdict(self) -> Verdict | None:
        """The comparison with the default, if a tuning has made it and it covers all finished trials."""
        if self.findings.compared(self.study.n_finished) is None:
            return None
        try:
            return Verdict.from_dict(self.findings[VERDICT])
        except (TypeError, ValueError, LookupError):  # the record was written by another program
            return None

    @property
    def has_unread_verdict(self) -> bool:
        """Whether the study has a verdict in the form of another version."""
        return self.verdict is None and self.findings.compared(self.study.n_finished) is not None

    @cached_property
    def chosen_number(self) -> int | None:
        """The number of the recommended trial, which pictures and tables mark; None if the recommended model is no trial."""
        if self.verdict is not None and self.verdict.number is None:
            return None
        return None if self.recommended is None else self.recommended.number

    @cached_property
    def default_point(self) -> Floats | None:
        """The point of a recommended default that is no trial; None if the default is a trial or is not in the space."""
        if self.verdict is None or self.verdict.number is not None:
            return None
        try:
            return self.study.space.encode(self.verdict.params)
        except SpaceError:
            return None

    @property
    def params(self) -> Mapping[str, Any]:
        """The recommended parameters; NoCompletedTrialError is raised if there are none."""
        if self.recommended is None:
            raise NoCompletedTrialError(why_none(self.trials))
        if self.verdict is not None and self.verdict.number is None:
            return self.verdict.params
        return self.recommended.params

    @property
    def is_in_space(self) -> bool:
        """Whether the recommended model is a trial, or a default that is in the space."""
        return self.chosen_number is not None or self.default_point is not None

    @property
    def chosen_words(self) -> str:
        """A word for the trial at `chosen_point`."""
        if self.recommended is not None:
            return "recommended" if self.is_in_space else "best of the search"
        return "middle of the front" if self.study.objectives.several and self.front else "best, out of bounds"

    @cached_property
    def luck(self) -> Optimism | str:
        """How much of the tuned score is luck, measured or from the scores of the trials, or a sentence why it is unknown."""
        if (found := self.findings.get(OVERSEARCHING)) is not None:
            read = _read_optimism(found)
            return read if isinstance(read, str) or read.metric != "score" else self._of_error(read)
        trials, best = self.source.trials, self.recommended
        metric = tuned_metric([t for t in trials if t.values is not None][:5])
        if metric is None or self.study.objectives.several or best is None:
            return ""
        try:
            chosen = best.number if best.basis == "verdict" else None
            error = "value" if self.source.objectives.directions[0] == "minimize" else ""
            return self._of_error(optimism_of_trials(trials, metric, chosen=chosen, error=error))
        except (ArgumentError, NoCompletedTrialError):
            return ""  # one fold only: nothing can be said from the folds

    @property
    def expected(self) -> Estimate | None:
        """The score to expect on new rows: of the fitted model, else of the recommended trial as far as its luck is known."""
        if self.fitted is not None and self.fitted.expected is not None:
            return self.fitted.expected
        return None if isinstance(self.luck, str) else self.luck.expected_score

    def _of_error(self, luck: Optimism) -> Optimism:
        """Return an estimate with the name of the scorer if it is an error, and its interval cut to the range of the error."""
        if self.unit is None:
            return luck
        metric, expected = self.unit.metric, luck.expected_score
        interval = bounded(expected.interval, [luck.tuned_score], metric)
        return replace(luck, metric=metric, expected_score=replace(expected, metric=metric, interval=interval))

    @property
    def chosen_point(self) -> Floats:
        """The point of the recommended trial, of the best trial if no trial holds the bounds, or of the middle of a front."""
        if self.default_point is not None:
            return self.default_point
        if self.recommended is not None:
            return np.array(self.trials[self.recommended.number].point)
        if not self.study.objectives.several or not self.front:
            return np.array(min(self.done, key=lambda t: self.sign * float((t.values or (0.0,))[0])).point)
        return np.array(self.front[len(self.front) // 2].point)

    def objective_name(self, k: int) -> str:
        """Return the name of an objective; "value" for a single one."""
        return self.study.objectives.labels[k].partition(" (")[0]

    def values(self, k: int = 0) -> Floats:
        """Return the values of the successful trials, shape (n,)."""
        return np.array([t.values[k] for t in self.done if t.values is not None])

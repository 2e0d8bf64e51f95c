"""From the scores of candidates to outcomes of trials: metrics, bounds, and sweeps of the values of one parameter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sklearn.base import is_classifier, is_regressor

from spotsvm.common.compat import scorer_parts
from spotsvm.common.text import shown_value
from spotsvm.cross_validation.climb import Climb
from spotsvm.cross_validation.fold_answers import FoldAnswers
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.fold_scores import FoldScores
from spotsvm.cross_validation.scorers import metric_names
from spotsvm.errors import ArgumentError
from spotsvm.search_cv.estimator_space import samples
from spotsvm.solvers.search import needs_several_objectives
from spotsvm.space.space import Space
from spotsvm.study.given import ROUNDING
from spotsvm.trials.constraints import N_VALUES, Constraints, allowed_keys
from spotsvm.trials.metrics import scorer_name
from spotsvm.trials.outcome import MOST_ANSWERS, Outcome, one_line
from spotsvm.trials.sweep import SPARED, SweptParameter
from spotsvm.trials.trial import BOUNDS_HELD, Trial

TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


def check_bounded(constraints: Constraints, scoring: Any) -> None:
    """Raise ArgumentError, which names the first bound on neither a metric nor a time; a callable's metrics are not known."""
    if callable(scoring):
        return
    metrics = ["score"] if isinstance(scoring, str | None) else metric_names(scoring)
    for name in constraints.bounds:
        if name not in (*metrics, *(f"mean_test_{metric}" for metric in metrics), *TIMES):
            raise ArgumentError(
                f"constraints has a bound of {name!r}, which candidates do not have; use a metric of scoring "
                f"({', '.join(metrics)}) or one of {', '.join(TIMES)}"
            )


def bounded_means(constraints: Constraints, scores: FoldScores, scorer: FoldScorer) -> dict[str, float]:
    """Return the mean test scores that have a bound, by the names in the bounds."""
    metrics = {name: name.removeprefix("mean_test_") for name in constraints.bounds}
    return {name: scores.mean(metric, scorer.n_splits) for name, metric in metrics.items() if metric in scorer.metrics}


def why_none_holds(trials: Sequence[Trial], constraints: Constraints) -> str:
    """Return the error text if no candidate satisfies all bounds: it has the numbers of the nearest candidate."""
    bounds = " and ".join(f"{name} {sign} {bound:.6g}" for name, (sign, bound) in constraints.bounds.items())
    said = f"none of the {len(trials)} candidates holds the bounds of constraints, {bounds}"
    margins = np.array([constraints.margins(t.extra) for t in trials])
    nearest = trials[int(np.argmax(np.nan_to_num(margins, nan=-np.inf).min(axis=1)))]
    numbers = [f"{name}={nearest.extra[name]:.6g}" for name in constraints.bounds if name in nearest.extra]
    near = f"; the nearest has {', '.join(numbers)}, with {shown_value(dict(nearest.params))}" if numbers else ""
    return f"{said}{near}. Widen the bounds, or raise n_iter; cv_results_ and study_ of the search have all candidates"


@dataclass(frozen=True)
class CandidateScoring:
    """The metrics that count for a `SpotSearchCV` with these arguments."""

    search: Any
    scoring: Any
    refit: bool | str | Callable[[dict[str, Any]], int]
    #: their bounds name mean scores that outcomes must have
    constraints: Constraints = Constraints((), {})

    @property
    def objectives(self) -> list[str]:
        """The metrics that are the objectives of a search for several; empty for a search with one objective."""
        if not needs_several_objectives(self.search):
            return []
        if self._is_single or len(self.scoring) < 2:
            raise ArgumentError(
                f"search={self.search!r} is for two or more objectives, and scoring={self.scoring!r} names no more than one "
                "metric; use a list or a dictionary of two or more, or a search of one objective such as 'kriging'"
            )
        return metric_names(self.scoring)

    def metric(self, metrics: Sequence[str], multimetric: bool) -> str:
        """Return the metric to optimise; ArgumentError if `refit` must name it and does not."""
        if isinstance(self.refit, str) and self.refit in metrics:
            return self.refit
        if multimetric and self.refit is not False and not callable(self.refit):
            raise ArgumentError(
                "For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit an estimator "
                "with the best parameter setting on the whole data and make the best_* attributes available for that metric. "
                f"If this is not needed, refit should be set to False explicitly. {self.refit!r} was passed."
            )
        return metrics[0]

    def check(self) -> None:
        """Raise ArgumentError if there are several metrics and none is named to be optimised."""
        if not self._is_single:
            self.metric(metric_names(self.scoring), multimetric=True)

    @property
    def _is_single(self) -> bool:
        return callable(self.scoring) or isinstance(self.scoring, str | None)

    def merit(self, one: Trial | Outcome) -> float:
        """Return the number by which candidates are compared; nan if the candidate failed, or violates the bounds."""
        if one.state != "ok" or one.value is None or one.extra.get(BOUNDS_HELD) == 0.0:
            return float("nan")
        return one.value

    def outcome(self, scores: FoldScores, scorer: FoldScorer) -> Outcome:
        """Return the outcome of a candidate with these scores."""
        if scores.out_of_time:
            return Outcome("timeout", reason=scores.reason)
        if not scorer.metrics:
            return Outcome("failed", reason=scores.reason, traceback=scores.traceback, error_type=scores.error_type)
        metrics = self.objectives or [self.metric(scorer.metrics, scorer.multimetric)]
        means = {metric: scores.mean(metric, scorer.n_splits) for metric in metrics}
        for metric, mean in means.items():
            if not np.isfinite(mean):
                which = f" {metric}" if len(metrics) > 1 else ""
                numbers = {name: float(number) for name, number in scores.numbers.items()}
                reason = one_line(scores.reason or f"the mean test score{which} is {mean}")
                return Outcome("failed", None, numbers, reason, traceback=scores.traceback, error_type=scores.error_type)
        values = tuple(means.values())
        bounded = bounded_means(self.constraints, scores, scorer) if self.constraints.bounds else {}
        extra = {**bounded, **scores.numbers}
        outcome = Outcome("ok", values[0], extra) if len(values) == 1 else Outcome("ok", extra=extra, values=values)
        return with_answers(outcome, scores.answers)


#: name of the attribute of a trial that says which method has given its answers, if it is not `decision_function`
_RESPONSE = "response"
#: number of candidates whose answers a trial with a sweep can keep, whatever their size
_LARGEST_SWEEP = 16


def with_answers(outcome: Outcome, answers: FoldAnswers | None) -> Outcome:
    """Return an outcome with a candidate's answers."""
    if answers is None or outcome.state != "ok" or answers.values.nbytes > MOST_ANSWERS // _LARGEST_SWEEP:
        return outcome
    said = {} if answers.response == "decision_function" else {_RESPONSE: answers.response}
    return replace(outcome, answers=answers.values, attributes={**outcome.attributes, **said})


def kept_answers(trial: Trial) -> FoldAnswers | None:
    """Return the answers of a candidate; None if they are not kept."""
    if trial.answers is None:
        return None
    return FoldAnswers(trial.attributes.get(_RESPONSE, "decision_function"), np.asarray(trial.answers, dtype=np.float64))


def metric_name(search: Any) -> str:
    """Return scikit-learn's name of the metric that a fitted search optimises; "score" if it has none."""
    if isinstance(search.scoring, str):
        return search.scoring
    if isinstance(search.refit, str) and search.multimetric_:
        return search.refit
    if search.scoring is None:
        return "accuracy" if is_classifier(search.estimator) else "r2" if is_regressor(search.estimator) else "score"
    return scorer_name(scorer_parts(search.scoring)) or "score"


AUTO = "auto"
#: values of C in a sweep before any are skipped
_LEAST = 3


@dataclass(frozen=True)
class CandidateSweeps:
    """The outcomes of candidates; with a `sweep`, those of the values in their sweeps."""

    scoring: CandidateScoring
    swept: SweptParameter | None = None
    #: constraints on the values in a sweep
    constraints: Constraints = Constraints((), {})
    #: values of the grid over a range
    n_values: int = N_VALUES

    def outcomes(self, batch: Sequence[Mapping[str, Any]], scorer: FoldScorer) -> list[Outcome]:
        """Score candidates, passed to the scorer together, in the order given; values for which there is no time are left out.

        A sweep has every second value of a grid and those beside the best, the whole grid if no value needs its own fit, all of a
        list, and a candidate's own. C above a clearly worse value is skipped, and the last one's `extra` counts these.
        """
        if self.swept is None:
            return [self.scoring.outcome(scores, scorer) for scores in scorer.score(batch)]
        name, sweeps = self.swept.name, [dict[float, Outcome]() for _ in batch]
        grids = [self._grid(params) for params in batch]
        whole = bool(self.swept.listed) or scorer.needs_no_fit(name)
        every_second = set(self.swept.values(self.n_values)[::2]) if not whole else set()
        first = [{key for key in grid if whole or key in every_second} or set(grid) for grid in grids]
        own = [{self.swept.key(params[name])} if name in params else set[float]() for params in batch]
        # a grid refined by the budget is scored completely
        climbs = not whole and self.n_values == N_VALUES and name.split("__")[-1] == "C"
        for sweep, params, some, more in zip(sweeps, batch, first, own, strict=True):
            if climbs:
                self._climb(sweep, params, sorted(some | more), max(more, default=-np.inf), scorer)
        if not climbs:
            self._extend(sweeps, batch, [some | more for some, more in zip(first, own, strict=True)], scorer)
        if not self.swept.listed:
            self._extend(
                sweeps, batch, [self._beside_best(sweep, grid) for sweep, grid in zip(sweeps, grids, strict=True)], scorer
            )
        return [_outcome_of_sweep(sweep) for sweep in sweeps]

    def _grid(self, params: Mapping[str, Any]) -> list[float]:
        """Return the allowed values of the grid; a value that equals the candidate's own up to rounding is replaced by it."""
        swept = cast("SweptParameter", self.swept)
        keys = allowed_keys(swept, self.constraints, params, self.n_values)
        if swept.listed or swept.name not in params:
            return keys
        own = swept.key(params[swept.name])
        at = swept.coordinate(own)
        return [own if abs(swept.coordinate(key) - at) <= ROUNDING else key for key in keys]

    def _climb(
        self, sweep: dict[float, Outcome], params: Mapping[str, Any], values: Sequence[float], least: float, scorer: FoldScorer
    ) -> None:
        """Score values in ascending order; after `least` stop at a value that is a standard error behind the best mean."""
        climb = Climb(_LEAST)
        for k, value in enumerate(values):
            self._extend([sweep], [params], [{value}], scorer)
            over = climb.is_over(self.scoring.merit(sweep[value]), lambda: self._largest_error(sweep.values(), scorer))
            spared = len(values) - k - 1
            if over and spared and value >= least:
                sweep[value] = replace(sweep[value], extra={**sweep[value].extra, SPARED: float(spared)})
                return

    def _largest_error(self, scored: Iterable[Outcome], scorer: FoldScorer) -> float:
        """Return the largest standard error of the means over the folds."""
        if scorer.n_splits == 1:
            return np.inf
        metric = self.scoring.metric(scorer.metrics, scorer.multimetric)
        folds = [[o.extra.get(f"split{k}_test_{metric}", np.nan) for k in range(scorer.n_splits)] for o in scored]
        return float(np.std(folds, axis=1, ddof=1).max() / np.sqrt(scorer.n_splits))

    def _extend(
        self,
        sweeps: list[dict[float, Outcome]],
        batch: Sequence[Mapping[str, Any]],
        values: Sequence[set[float]],
        scorer: FoldScorer,
    ) -> None:
        """Score further values on sweeps."""
        swept = cast("SweptParameter", self.swept)
        todo = [(k, key) for k, more in enumerate(values) for key in sorted(more - sweeps[k].keys())]
        scores = scorer.score([{**batch[k], swept.name: swept.value(key)} for k, key in todo]) if todo else []
        for (k, value), of_one in zip(todo, scores, strict=True):
            sweeps[k][value] = self.scoring.outcome(of_one, scorer)

    def _beside_best(self, sweep: Mapping[float, Outcome], grid: Sequence[float]) -> set[float]:
        """Return the values of the grid next to the best one in a sweep."""
        merits = {value: self.scoring.merit(outcome) for value, outcome in sweep.items()}
        known = [value for value in merits if np.isfinite(merits[value])]
        known = [value for value in known if self.constraints.held(sweep[value].extra)] or known
        if not known:
            return set()
        best = max(known, key=lambda value: merits[value])
        return {*[v for v in grid if v < best][-1:], *[v for v in grid if v > best][:1]}


def grid_size(swept: SweptParameter, n_suggestions: int) -> int:
    """Return the number of values of the grid over the range of a swept parameter (:eq:`grid-size`).

    With fewer configurations of the others than suggestions, the grid is finer: each gets as many values as suggestions.
    """
    size = swept.searched.domain.size
    return max(N_VALUES, 2 * (int(n_suggestions / size) - 2) - 1)


def _outcome_of_sweep(sweep: Mapping[float, Outcome]) -> Outcome:
    """Return the outcome of a sweep, without the values for which there was no time; a timeout if no value was scored."""
    scored = tuple((key, sweep[key]) for key in sorted(sweep) if sweep[key].state != "timeout")
    return Outcome("ok", sweep=scored) if scored else Outcome("timeout", reason=next(iter(sweep.values())).reason)


def swept_parameter(given: str | None, space: Space, estimator: Any, scorer: FoldScorer, plain: bool) -> SweptParameter | None:
    """Return the parameter that a search sweeps, or None; ArgumentError for a named one if work cannot be shared.

    "auto" is the C of a machine whose work is shared for all configurations, if C has a range and others are searched, and the
    rest of the search allows it (`plain`).
    """
    if given is None:
        return None
    name = given
    if given == AUTO:
        name = _name_of_C(estimator)
        axes = [axis for axis in space.axes if axis.name == name]
        if not plain or len(axes) != 1 or axes[0].parameter.kind != "continuous":
            return None
    try:
        swept = SweptParameter(space, name)
    except ArgumentError:
        if given == AUTO:
            return None
        raise
    for params in samples(swept.space):
        if why := scorer.why_not_shared(params, swept.name):
            if given == AUTO:
                return None
            raise ArgumentError(f"sweep={given!r} needs work that candidates share: {why}; use sweep=None")
    return swept


def _name_of_C(estimator: Any) -> str:
    last = "" if not hasattr(estimator, "steps") else f"{estimator.steps[-1][0]}__"
    return f"{last}C"

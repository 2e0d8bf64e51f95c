"""The metrics of a cross-validated search: which are optimised, and the outcomes that follow from a candidate's scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor

from spotsvm.cross_validation.fold_scorer import FoldScorer, FoldScores, metric_names
from spotsvm.errors import ArgumentError
from spotsvm.search_cv.bounds import bounded_means
from spotsvm.solvers.search import needs_several_objectives
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.recommendation import BOUNDS_HELD
from spotsvm.trials.trial import Outcome, Trial, one_line, outcome_of


@dataclass(frozen=True)
class CandidateScoring:
    """The metrics that count for a `SpotSearchCV` with these arguments."""

    search: Any
    scoring: Any
    refit: bool | str | Callable[[dict[str, Any]], int]
    #: whose bounds name mean scores that outcomes are to have
    constraints: Constraints = Constraints((), {})

    @property
    def objectives(self) -> list[str]:
        """The metrics that are the objectives of a search of several; empty for a search of one objective."""
        if not needs_several_objectives(self.search):
            return []
        if self._is_single or len(self.scoring) < 2:
            raise ArgumentError(
                f"search={self.search!r} is for two or more objectives, and scoring={self.scoring!r} names no more than one "
                "metric; use a list or a dictionary of two or more, or a search of one objective such as 'kriging'"
            )
        return metric_names(self.scoring)

    def metric(self, metrics: Sequence[str], multimetric: bool) -> str:
        """Return the metric to optimise; ArgumentError if `refit` has to name it and does not."""
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
        """Return the number by which a candidate is compared with others; nan if it failed, or does not hold the bounds."""
        if one.state != "ok" or one.value is None or one.extra.get(BOUNDS_HELD) == 0.0:
            return float("nan")
        return one.value

    def outcome(self, scores: FoldScores, scorer: FoldScorer) -> Outcome:
        """Return the outcome of a candidate with these scores."""
        if scores.out_of_time:
            return Outcome("timeout", reason=scores.reason)
        if not scorer.metrics:
            return Outcome("failed", reason=scores.reason, traceback=scores.traceback)
        metrics = self.objectives or [self.metric(scorer.metrics, scorer.multimetric)]
        means = {metric: scores.mean(metric, scorer.n_splits) for metric in metrics}
        for metric, mean in means.items():
            if not np.isfinite(mean):
                which = f" {metric}" if len(metrics) > 1 else ""
                numbers = {name: float(number) for name, number in scores.numbers.items()}
                reason = one_line(scores.reason or f"the mean test score{which} is {mean}")
                return Outcome("failed", None, numbers, reason, traceback=scores.traceback)
        values = list(means.values())
        told: dict[str, Any] = {"values": values} if len(metrics) > 1 else {"value": values[0]}
        bounded = bounded_means(self.constraints, scores, scorer) if self.constraints.bounds else {}
        return outcome_of({**bounded, **told, **scores.numbers})


def metric_name(search: Any) -> str:
    """Return scikit-learn's name of the metric that counts for a fitted search; "score" if it has none."""
    if isinstance(search.scoring, str):
        return search.scoring
    if isinstance(search.refit, str) and search.multimetric_:
        return search.refit
    if search.scoring is None:
        return "accuracy" if is_classifier(search.estimator) else "r2" if is_regressor(search.estimator) else "score"
    return "score"

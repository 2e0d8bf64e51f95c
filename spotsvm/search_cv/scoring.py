"""What the scores of a candidate are worth to the study of a cross-validated search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spotsvm.common.errors import ArgumentError
from spotsvm.cross_validation.fold_scorer import FoldScorer, FoldScores, metric_names
from spotsvm.solvers.search import needs_several_objectives
from spotsvm.trials.outcome import Outcome, one_line, outcome_of


@dataclass(frozen=True)
class CandidateScoring:
    """Which metrics of a candidate count, and what follows from its scores.

    Attributes
    ----------
    search, scoring, refit
        Those of `SpotSearchCV`.

    Examples
    --------
    >>> CandidateScoring("kriging", ["accuracy", "f1"], "f1").metric(["accuracy", "f1"], multimetric=True)
    'f1'
    """

    search: Any
    scoring: Any
    refit: bool | str | Callable[[dict[str, Any]], int]

    @property
    def objectives(self) -> list[str]:
        """The metrics that are all objectives of a search of several; none where the search has one."""
        return metrics_as_objectives(self.search, self.scoring)

    def metric(self, metrics: Sequence[str], multimetric: bool) -> str:
        """Give the metric to optimise, or raise ArgumentError if `refit` has to name it and does not."""
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
        """Raise ArgumentError if of several metrics it is not known which to optimise."""
        if not self._is_single:
            self.metric(metric_names(self.scoring), multimetric=True)

    @property
    def race_for(self) -> str:
        """The metric by which candidates race."""
        return "score" if self._is_single else self.metric(metric_names(self.scoring), multimetric=True)

    @property
    def _is_single(self) -> bool:
        return callable(self.scoring) or isinstance(self.scoring, str | None)

    def outcome(self, scores: FoldScores, scorer: FoldScorer) -> Outcome:
        """Give what is told of a candidate with these scores."""
        if not scorer.metrics:
            return Outcome("failed", reason=scores.reason)
        metrics = self.objectives or [self.metric(scorer.metrics, scorer.multimetric)]
        return outcome_of_scores(scores, metrics, scorer.n_splits)


def metrics_as_objectives(search: Any, scoring: Any) -> list[str]:
    """Give the metrics that are all objectives of a search of several; none where the search has one objective.

    Parameters
    ----------
    search, scoring
        Those of `SpotSearchCV`.

    Raises
    ------
    ArgumentError
        If the search is one of several objectives, and `scoring` does not name as many metrics.

    Examples
    --------
    >>> metrics_as_objectives("nsga2", ["accuracy", "f1"]), metrics_as_objectives("kriging", ["accuracy", "f1"])
    (['accuracy', 'f1'], [])
    """
    if not needs_several_objectives(search):
        return []
    if callable(scoring) or isinstance(scoring, str | None) or len(scoring) < 2:
        raise ArgumentError(
            f"search={search!r} is for two or more objectives, and scoring={scoring!r} names no more than one metric; "
            "use a list or a dictionary of two or more, or a search of one objective such as 'kriging'"
        )
    return metric_names(scoring)


def outcome_of_scores(scores: FoldScores, metrics: list[str], n_splits: int) -> Outcome:
    """Give what a study is told of a candidate: its mean test scores, or that one of them is no number and it has failed.

    Parameters
    ----------
    scores : FoldScores
        Its scores.
    metrics : list of str
        Names of the metrics, in the order of the study's objectives.
    n_splits : int
        Number of folds.

    Examples
    --------
    >>> outcome_of_scores(FoldScores({"split0_test_score": 0.5, "split1_test_score": 1.0}), ["score"], 2).value
    0.75
    """
    means = {metric: scores.mean(metric, n_splits) for metric in metrics}
    for metric, mean in means.items():
        if not np.isfinite(mean):
            which = f" {metric}" if len(metrics) > 1 else ""
            numbers = {name: float(number) for name, number in scores.numbers.items()}
            return Outcome("failed", None, numbers, one_line(scores.reason or f"the mean test score{which} is {mean}"))
    values = list(means.values())
    told: dict[str, Any] = {"values": values} if len(metrics) > 1 else {"value": values[0]}
    return outcome_of({**told, **scores.numbers})

"""What the scores of a candidate are worth to the study of a cross-validated search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from spotsvm.errors import ArgumentError
from spotsvm.evaluation import Outcome
from spotsvm.fold_scores import FoldScorer, FoldScores, metric_names
from spotsvm.scored_objectives import metrics_as_objectives, outcome_of_scores


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

"""Which scores of a candidate are what its study optimises."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.search import needs_several_objectives
from spotsvm.errors import ArgumentError
from spotsvm.evaluation import Outcome, one_line, outcome_of
from spotsvm.fold_scores import FoldScores, metric_names


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

"""Which scores of a candidate are what its study optimises."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.search import needs_several_objectives
from spotsvm.errors import ArgumentError
from spotsvm.fold_scores import FoldScores, metric_names
from spotsvm.study import Study
from spotsvm.trial import Trial


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


def tell_scores(study: Study, trial: Trial, scores: FoldScores, metrics: list[str], n_splits: int) -> Trial:
    """Tell a study the mean test scores of a candidate in these metrics, or that it failed because one of them is no number.

    Parameters
    ----------
    study : Study
        A study with one objective a metric.
    trial : Trial
        The candidate's.
    scores : FoldScores
        Its scores.
    metrics : list of str
        Names of the metrics, in the order of the objectives.
    n_splits : int
        Number of folds.

    Returns
    -------
    Trial
        As it is now recorded.
    """
    means = {metric: scores.mean(metric, n_splits) for metric in metrics}
    for metric, mean in means.items():
        if not np.isfinite(mean):
            which = f" {metric}" if len(metrics) > 1 else ""
            return study.fail(trial, scores.reason or f"the mean test score{which} is {mean}", extra=scores.numbers)
    values = list(means.values())
    told = {"values": values} if len(metrics) > 1 else {"value": values[0]}
    return study.tell(trial, {**told, **scores.numbers})

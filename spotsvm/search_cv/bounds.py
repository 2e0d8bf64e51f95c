"""Bounds of a candidate's mean scores and times: which may be named, and what is said where no candidate holds them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spotsvm.common.text import shown_value
from spotsvm.cross_validation.fold_scorer import FoldScorer, FoldScores, metric_names
from spotsvm.errors import ArgumentError
from spotsvm.trials.constraints import Constraints
from spotsvm.trials.trial import Trial

TIMES = ("mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")


def check_bounded(constraints: Constraints, scoring: Any) -> None:
    """Raise ArgumentError, which names the first bound of what is neither a metric nor a time.

    The metrics of a callable are not known before it is called.

    Examples
    --------
    >>> check_bounded(Constraints.of({"recall": (">=", 0.9)}), ["accuracy", "recall"])
    """
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
    """Return the mean test scores that have a bound, by the names that the bounds have for them."""
    metrics = {name: name.removeprefix("mean_test_") for name in constraints.bounds}
    return {name: scores.mean(metric, scorer.n_splits) for name, metric in metrics.items() if metric in scorer.metrics}


def why_none_holds(trials: Sequence[Trial], constraints: Constraints) -> str:
    """Return what to say where none of these candidates holds all bounds: how near the nearest comes."""
    bounds = " and ".join(f"{name} {sign} {bound:.6g}" for name, (sign, bound) in constraints.bounds.items())
    said = f"none of the {len(trials)} candidates holds the bounds of constraints, {bounds}"
    margins = np.array([constraints.margins(t.extra) for t in trials])
    nearest = trials[int(np.argmax(np.nan_to_num(margins, nan=-np.inf).min(axis=1)))]
    numbers = [f"{name}={nearest.extra[name]:.6g}" for name in constraints.bounds if name in nearest.extra]
    near = f"; the nearest has {', '.join(numbers)}, with {shown_value(dict(nearest.params))}" if numbers else ""
    return f"{said}{near}. Widen the bounds, or raise n_iter; cv_results_ and study_ of the search have all candidates"

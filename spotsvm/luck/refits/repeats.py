"""Fresh repeats: the winner of one search and its runners-up, scored again on splits that the search has not used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from spotsvm.cross_validation.fold_scorer import FoldScorer, warn_of_failures
from spotsvm.cross_validation.partitions import further_partitions
from spotsvm.errors import ArgumentError, DataError
from spotsvm.luck.intervals import corrected_variance, nadeau_bengio
from spotsvm.luck.optimism import Optimism, expected_on_new_data
from spotsvm.luck.refits.search_access import (
    Floats,
    Split,
    best_candidates,
    candidate_params,
    given_by,
    mean_scores,
    metric_of,
    metric_title,
    ratio_of,
    winner_of,
)

#: stream of random numbers of a partition into folds
_PARTITION = 21


def run_repeats(
    search: Any,
    X: Any,
    y: Any,
    groups: Any,
    fit_params: Mapping[str, Any],
    *,
    n_candidates: int,
    n_repeats: int,
    confidence: float,
    n_jobs: int | None,
    seed: int,
) -> Optimism:
    """Score the winner of a fitted search and its runners-up on fresh splits, and return the optimism.

    References
    ----------
    Bouckaert, Frank 2004, "Evaluating the Replicability of Significance Tests for Comparing Learning Algorithms".
    """
    splits = fresh_splits(search, X, y, groups, n_repeats, seed)
    chosen = best_candidates(search.cv_results_, metric_of(search), winner_of(search), n_candidates)
    metric = metric_title(search, metric_of(search))
    params = [candidate_params(search, c) for c in chosen]
    fresh = fresh_scores(search, X, y, splits, params, given_by(search, fit_params).folds, n_jobs=n_jobs)
    if not np.isfinite(fresh[0]).all():
        raise DataError("the winner failed on a fresh split, or has no score there; use method='nested' or 'folds'")
    ratio = ratio_of(splits)
    rows: list[dict[str, Any]] = []
    for c, scores in zip(chosen, fresh, strict=True):
        tuned, mean = float(mean_scores(search)[c]), float(scores.mean())
        low, high = nadeau_bengio(tuned - scores, ratio, confidence)
        rows.append({"candidate": c, "tuned": tuned, "outer": mean, "optimism": tuned - mean, "low": low, "high": high})
        rows[-1]["params"] = candidate_params(search, c)
    winner = rows[0]
    return Optimism(
        winner["optimism"],
        (winner["low"], winner["high"]),
        sqrt(corrected_variance(winner["tuned"] - fresh[0], ratio)),
        confidence,
        metric,
        "repeats",
        tuned_score=winner["tuned"],
        expected_score=expected_on_new_data(fresh[0], ratio, confidence, metric, "repeats"),
        n_trials=len(mean_scores(search)),
        rows=tuple(rows),
        notes=(_runner_up(chosen, fresh, ratio, confidence),),
    )


def _runner_up(chosen: Sequence[int], fresh: Floats, ratio: float, confidence: float) -> str:
    """Return a sentence on whether a runner-up beats the winner on the fresh splits."""
    means = fresh.mean(axis=1)
    if len(chosen) == 1:
        return "There is no runner-up to compare with."
    best = int(np.nanargmax(means))
    if means[best] <= means[0]:
        return "No runner-up beats the winner on the fresh splits."
    low, _ = nadeau_bengio(fresh[best] - fresh[0], ratio, confidence)
    sure = "more than can be explained by chance" if low > 0 else "which may be due to chance"
    return f"On the fresh splits candidate {chosen[best]} scores {means[best] - means[0]:.4g} more than the winner, {sure}."


INSTEAD = "use method='nested' or 'folds'"


def fresh_splits(search: Any, X: Any, y: Any, groups: Any, n_repeats: int, seed: int, instead: str = INSTEAD) -> list[Split]:
    """Return new splits of the same kind as the search's, from `n_repeats` other seeds.

    ArgumentError, with the advice `instead`, is raised if the splits are not random, such as those by time, or need groups.
    """
    partitions = further_partitions(
        search.cv, X, y, groups, classifier=is_classifier(search.estimator), n_partitions=n_repeats, seed=[seed, 1],
        instead=instead,
    )  # fmt: skip
    return [split for splits in partitions for split in splits]


def fresh_scores(
    search: Any,
    X: Any,
    y: Any,
    splits: Sequence[Split],
    candidates: Sequence[Mapping[str, Any]],
    fit_params: Mapping[str, Any],
    *,
    n_jobs: int | None,
) -> Floats:
    """Return the candidates' scores in the metric that chose the winner, shape (n_candidates, n_splits); nan if a fit failed."""
    engine = getattr(search, "engine", "auto")
    scorer = FoldScorer(search.estimator, X, y, splits, fit_params, scoring=search.scoring, n_jobs=n_jobs, engine=engine)
    metric = metric_of(search)
    scored = scorer.score([dict(params) for params in candidates])
    warn_of_failures([scores.reason for scores in scored if scores.reason], len(scored))
    names = [f"split{i}_test_{metric}" for i in range(len(splits))]
    return np.array([[scores.numbers.get(name, np.nan) for name in names] for scores in scored])


def fresh_folds(cv: Any, X: Any, y: Any, groups: Any, classifier: bool, seed: int) -> list[Split]:
    """Return folds of the same kind from another seed, not used in any choice; the same folds if they are not random."""
    try:
        options: Any = {"classifier": classifier, "n_partitions": 1, "seed": [seed, _PARTITION], "instead": ""}
        return further_partitions(cv, X, y, groups, **options)[0]
    except ArgumentError:
        return list(check_cv(cv, y, classifier=classifier).split(X, y, groups))

"""The optimism of a tuned score, estimated from the fold scores of all candidates (Tibshirani and Tibshirani 2009)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.luck.intervals import Floats, check_confidence, corrected_variance, nadeau_bengio
from spotsvm.luck.optimism import Optimism, expected_on_new_data
from spotsvm.trials.trial import Trial

_INTERVAL_NOTE = (
    "The method has no intervals of its own; the intervals here come from the spread of the folds, with the correction of Nadeau "
    "and Bengio."
)


def _best_and_own(scores: Floats, winner: int | None) -> tuple[Floats, Floats]:
    """Return the best score in each fold, and the winner's."""
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ArgumentError(
            f"the fold scores have shape {scores.shape}; they show the optimism only with two or more folds, as "
            "(n_candidates, n_folds): use more folds, or for a search method='nested'"
        )
    whole = np.isfinite(scores.sum(axis=1))
    if winner is None:
        winner = best_by_mean(scores)
    elif not whole[winner]:
        raise NoCompletedTrialError(f"candidate {winner} has no score in some fold")
    return scores[whole].max(axis=0), scores[winner]


def best_by_mean(scores: Floats) -> int:
    """Return the first row with the best mean among those without a nan; NoCompletedTrialError if there is none."""
    means = scores.mean(axis=1)
    if np.isnan(means).all():
        raise NoCompletedTrialError(f"none of the {len(scores)} trials has a score in all folds")
    return int(np.nanargmax(means))


def optimism_of_folds(
    scores: ArrayLike,
    *,
    winner: int | None = None,
    params: Mapping[str, Any] | None = None,
    metric: str = "score",
    confidence: float = 0.95,
    ratio: float | None = None,
) -> Optimism:
    """Return the optimism from the fold scores of all candidates (:eq:`fold-bias`): the best in each fold less the winner there.

    Tibshirani, Tibshirani 2009, eq. 3. Candidates with a nan are left out; `ratio` is test rows per training row, 1 / (n_folds -
    1) by default.
    """
    table = np.asarray(scores, dtype=np.float64)
    best, own = _best_and_own(table, winner)
    bias, folds = best - own, len(own)
    confidence, ratio = check_confidence(confidence), 1.0 / (folds - 1) if ratio is None else ratio
    return Optimism(
        float(bias.mean()),
        nadeau_bengio(bias, ratio, confidence),
        sqrt(corrected_variance(bias, ratio)),
        confidence,
        metric=metric,
        how="folds",
        tuned_score=float(own.mean()),
        expected_score=expected_on_new_data(own - bias, ratio, confidence, metric, "folds"),
        n_trials=len(table),
        rows=tuple(
            {"fold": k, "tuned": best[k], "outer": own[k], "optimism": bias[k], "params": dict(params or {})}
            for k in range(folds)
        ),
        notes=(_INTERVAL_NOTE,),
    )


def optimism_of_trials(
    trials: Sequence[Trial], metric: str | None = None, *, chosen: int | None = None, error: str = "", confidence: float = 0.95
) -> Optimism:
    """Return the optimism estimated from trials with fold scores in `extra`, as SpotSearchCV stores them.

    By default `metric` is the first and `chosen` (a number) the best mean. `error` is the name of what is minimised, in which
    scores are negative errors. Trials without a score in some fold are left out.
    """
    done = [t for t in trials if t.state != "running"]
    names = fold_metrics(done)
    if not names:
        if not any(t.state == "ok" for t in done):
            raise NoCompletedTrialError("no trial has been completed, so there is no tuned score")
        raise ArgumentError(
            "the trials have no fold scores; let the objective return those of the folds, or other resamples, as "
            '{"folds": scores}, the same folds in each trial; their mean is the value'
        )
    metric = names[0] if metric is None else metric
    if metric not in names:
        raise ArgumentError(f"metric={metric!r} is not among the trials' scores; use one of {', '.join(names)}")
    told = [scores_by_fold(t.extra, metric) for t in done]
    folds = 1 + max(fold for scores in told for fold in scores)
    scores = np.array([[one.get(fold, np.nan) for fold in range(folds)] for one in told])
    scores = -scores if error else scores
    winner = best_by_mean(scores) if chosen is None else [t.number for t in done].index(chosen)
    named = f"neg_{error}" if error else metric
    return optimism_of_folds(scores, winner=winner, params=done[winner].params, metric=named, confidence=confidence)


_TEST = re.compile(r"split(\d+)_test_(.+)")


def fold_metrics(trials: Sequence[Trial]) -> list[str]:
    """Return the names of the metrics for which trials have test scores of folds, in the order in which they appear."""
    found = (_TEST.fullmatch(name) for t in trials for name in t.extra)
    return list(dict.fromkeys(match[2] for match in found if match))


def scores_by_fold(extra: Mapping[str, float], metric: str) -> dict[int, float]:
    """Return a trial's test scores in a metric, by fold."""
    matches = [(_TEST.fullmatch(name), score) for name, score in extra.items()]
    return dict(sorted((int(match[1]), score) for match, score in matches if match and match[2] == metric))


def tuned_metric(trials: Sequence[Trial]) -> str | None:
    """Return the metric whose mean over the folds is the value of each trial; None if there is none."""
    return next((metric for metric in fold_metrics(trials) if all(_is_value(t, metric) for t in trials)), None)


def _is_value(trial: Trial, metric: str) -> bool:
    scores = list(scores_by_fold(trial.extra, metric).values())
    return bool(scores) and trial.value is not None and bool(np.isclose(np.mean(scores), trial.value, rtol=1e-9, atol=1e-12))


def corrected_standard_error(scores: Sequence[float] | Floats, test_share: float | None = None) -> float:
    """Return the standard error of a mean of resampled scores, whose training rows overlap (Nadeau and Bengio 2003).

    Equation :eq:`fold-error`. `test_share` is a fold's share of rows, by default 1 / number of scores as in cross-validation.
    """
    k = len(scores)
    share = 1.0 / k if test_share is None else test_share
    return sqrt(corrected_variance(scores, share / (1.0 - share)))

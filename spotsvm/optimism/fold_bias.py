"""The optimism that the folds' own scores of all candidates tell of, without a single fit (Tibshirani and Tibshirani 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.class_accuracy import expected_interval
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.fold_spread import fold_metrics, fold_scores
from spotsvm.optimism.intervals import check_confidence, nadeau_bengio
from spotsvm.optimism.result import Optimism
from spotsvm.trial import Trial

Floats = NDArray[np.float64]

_INTERVAL_NOTE = (
    "The method comes without intervals; what is given of them is from the spread of the folds, with the correction of Nadeau "
    "and Bengio."
)


def fold_bias(scores: ArrayLike, winner: int | None = None) -> Floats:
    """Give how much better the best candidate of each fold scores there than the winner of all folds; the mean is the bias.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_folds)
        Larger is better; candidates with a nan are left out.
    winner : int, optional
        Row of the winner; by default the one with the best mean.

    Returns
    -------
    ndarray of shape (n_folds,)
        Each 0 or more.

    References
    ----------
    Tibshirani, Tibshirani 2009, "A bias correction for the minimum error rate in cross-validation", eq. 3.

    Examples
    --------
    >>> fold_bias([[0.9, 0.7], [0.8, 0.9]]).tolist()
    [0.09999999999999998, 0.0]
    """
    best, own = _best_and_own(np.asarray(scores, dtype=np.float64), winner)
    return best - own


def _best_and_own(scores: Floats, winner: int | None) -> tuple[Floats, Floats]:
    """Give the best score in each fold, and the winner's."""
    if scores.ndim != 2 or scores.shape[1] < 2:
        raise ArgumentError(f"scores of shape {scores.shape} are not those of candidates in two or more folds")
    whole = np.isfinite(scores.sum(axis=1))
    if winner is None:
        winner = best_candidate(scores)
    elif not whole[winner]:
        raise NoCompletedTrialError(f"candidate {winner} has no score in some fold")
    return scores[whole].max(axis=0), scores[winner]


def best_candidate(scores: Floats) -> int:
    """Give the row with the best mean among those without a nan, the first of equal ones.

    Raises
    ------
    NoCompletedTrialError
        If there is none.
    """
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
    """Estimate the optimism of a tuned score from the fold scores of all candidates.

    Parameters
    ----------
    scores : array-like of shape (n_candidates, n_folds)
        Larger is better; candidates with a nan are left out.
    winner : int, optional
        Row of the winner; by default the one with the best mean.
    params : dict, optional
        Its parameters.
    metric : str, default="score"
        Name of the score.
    confidence : float, default=0.95
        Of the intervals.
    ratio : float, optional
        Rows tested on per row trained on in a fold; by default that of k-fold cross-validation, 1 / (n_folds - 1).

    References
    ----------
    Tibshirani, Tibshirani 2009, "A bias correction for the minimum error rate in cross-validation".

    Examples
    --------
    >>> found = optimism_of_folds([[0.9, 0.7, 0.8], [0.8, 0.9, 0.8], [0.7, 0.8, 0.9]])
    >>> round(found.tuned_score, 3), round(found.optimism, 3), round(found.outer_score, 3)
    (0.833, 0.067, 0.767)
    """
    table = np.asarray(scores, dtype=np.float64)
    best, own = _best_and_own(table, winner)
    bias, folds = best - own, len(own)
    confidence, ratio = check_confidence(confidence), 1.0 / (folds - 1) if ratio is None else ratio
    return Optimism(
        float(bias.mean()),
        nadeau_bengio(bias, ratio, confidence),
        confidence,
        "folds",
        "nadeau-bengio",
        float(own.mean()),
        float((own - bias).mean()),
        expected_interval(own - bias, ratio, confidence, metric),
        len(table),
        metric,
        tuple(
            {"fold": k, "tuned": best[k], "outer": own[k], "optimism": bias[k], "params": dict(params or {})}
            for k in range(folds)
        ),
        (),
        (_INTERVAL_NOTE,),
    )


def optimism_of_trials(trials: Sequence[Trial], metric: str | None = None, *, confidence: float = 0.95) -> Optimism:
    """Estimate the optimism of a tuned score from the trials of a study, or of its record, that has kept its folds' scores.

    Parameters
    ----------
    trials : sequence of Trial
        Their `extra` has split0_test_score and so on, as SpotSearchCV keeps them; larger scores are better. Trials without
        a score in some fold, failed ones and those whose race ended early, are left out.
    metric : str, optional
        Of several scores the one that was optimised; by default the first.
    confidence : float, default=0.95
        Of the intervals.

    Raises
    ------
    ArgumentError
        If no trial has scores of folds, or not of that metric.
    NoCompletedTrialError
        If no trial has a score in all folds.

    Examples
    --------
    >>> from spotsvm import Trial
    >>> scores = [(0.9, 0.7, 0.8), (0.8, 0.9, 0.8)]
    >>> extras = [{f"split{i}_test_score": v for i, v in enumerate(row)} for row in scores]
    >>> trials = [Trial(k, {"C": k}, (0.0,), "ok", 0.8, extra) for k, extra in enumerate(extras)]
    >>> round(optimism_of_trials(trials).optimism, 4)
    0.0333
    """
    done = [t for t in trials if t.state != "running"]
    names = fold_metrics(done)
    if not names:
        if not any(t.state == "ok" for t in done):
            raise NoCompletedTrialError("no trial has been completed, so that there is no tuned score")
        raise ArgumentError("trials have no scores of folds (split0_test_score ...); use those of a SpotSearchCV")
    metric = names[0] if metric is None else metric
    if metric not in names:
        raise ArgumentError(f"metric={metric!r} is not among the trials' scores; use one of {', '.join(names)}")
    told = [fold_scores(t.extra, metric) for t in done]
    folds = 1 + max(fold for scores in told for fold in scores)
    scores = np.array([[one.get(fold, np.nan) for fold in range(folds)] for one in told])
    winner = best_candidate(scores)
    return optimism_of_folds(scores, winner=winner, params=done[winner].params, metric=metric, confidence=confidence)

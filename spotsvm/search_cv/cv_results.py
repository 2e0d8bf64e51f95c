"""`cv_results_` of a search, and its best candidate."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.fold_scores import warn_of_failures
from spotsvm.cross_validation.scorers import make_scorers
from spotsvm.errors import NoCompletedTrialError, NoCompletedTrialTypeError
from spotsvm.luck.fold_bias import fold_metrics
from spotsvm.search_cv.arguments import SearchArguments
from spotsvm.search_cv.scoring import CandidateScoring, why_none_holds
from spotsvm.study.study import Study
from spotsvm.trials.recommendation import summarise_failures
from spotsvm.trials.trial import Trial, holds_bounds


def search_results(
    trials: Sequence[Trial], metrics: Sequence[str], n_splits: int, *, error_score: float, return_train_score: bool
) -> dict[str, Any]:
    """Return `cv_results_` as RandomizedSearchCV has it, one row per finished trial, from the scores in `extra`.

    If a parameter is swept, `sweep` has the number of the suggested row to whose sweep a row belongs.
    """
    results: dict[str, Any] = {}
    for clock in ("fit_time", "score_time"):
        for part in ("mean", "std"):
            results[f"{part}_{clock}"] = np.array([t.extra.get(f"{part}_{clock}", 0.0) for t in trials])
    for name in dict.fromkeys(name for t in trials for name in t.params):
        results[f"param_{name}"] = _masked([t.params.get(name, _ABSENT) for t in trials])
    results["params"] = [dict(t.params) for t in trials]
    if any(t.sweep is not None for t in trials):
        results["sweep"] = np.array([t.sweep for t in trials])
    for metric in metrics:
        for side in ["test", *["train"] * return_train_score]:
            splits = np.array([[t.extra.get(f"split{i}_{side}_{metric}", error_score) for i in range(n_splits)] for t in trials])
            for i in range(n_splits):
                results[f"split{i}_{side}_{metric}"] = splits[:, i]
            results[f"mean_{side}_{metric}"] = splits.mean(axis=1)
            results[f"std_{side}_{metric}"] = splits.std(axis=1)
            if side == "test":
                results[f"rank_test_{metric}"] = _ranks(results[f"mean_test_{metric}"])
    return results


_ABSENT = object()


def _masked(values: list[Any]) -> np.ma.MaskedArray[Any, Any]:
    """Return a masked array of one parameter's values, masked where it does not exist."""
    present = [v for v in values if v is not _ABSENT]
    kind = np.array(present).dtype if all(isinstance(v, Number) for v in present) else np.dtype(object)
    out: np.ma.MaskedArray[Any, Any] = np.ma.MaskedArray(np.empty(len(values), dtype=kind), mask=True)
    for k, value in enumerate(values):
        if value is not _ABSENT:
            out[k] = value
    return out


def _ranks(means: NDArray[np.float64]) -> NDArray[np.int32]:
    """Rank from 1 for the largest mean; a mean that is nan ties with the worst."""
    if np.isnan(means).all():
        return np.ones(len(means), dtype=np.int32)
    filled = np.where(np.isnan(means), np.nanmin(means) - 1.0, means)
    return np.asarray(rankdata(-filled, method="min"), dtype=np.int32)


@dataclass(frozen=True)
class BestCandidate:
    """The attributes of a fitted search: `cv_results_`, `best_index_`, `best_score_`, `scorer_` and `multimetric_`; its metric.

    The index is None if there are several metrics without a refit. So is the score, and also if `refit` is a callable.
    """

    results: dict[str, Any]
    index: int | None
    score: float | None
    scorer: Any
    multimetric: bool
    metric: str = ""
    #: why there is no best candidate although some have succeeded; empty if there is one
    why_none: str = ""


def best_candidate(
    search: SearchArguments,
    study: Study,
    scorer: FoldScorer,
    scoring: CandidateScoring,
    fit_params: Mapping[str, Any],
    own: Sequence[Trial] = (),
) -> BestCandidate:
    """Choose the best of the finished trials of a study; the `own` parameters of the estimator win ties.

    `fit_params` are for an error message. NoCompletedTrialError is raised if every candidate failed, TypeError or IndexError if
    `refit` is a callable that does not return the index of a candidate.
    """
    trials = [t for t in study.trials if t.state != "running"]
    filler = np.nan if isinstance(search.error_score, str) else float(search.error_score)
    scored = [t for t in trials if t.state == "ok" or is_scored(t, scorer.n_splits)]
    if not scored and not any(t.extra and np.isfinite(filler) for t in trials):
        by_type = isinstance(scorer.last_error, TypeError) or any(t.error_type == "TypeError" for t in trials[-1:])
        kind = NoCompletedTrialTypeError if by_type else NoCompletedTrialError
        passed = f" (passed to fit: {', '.join(fit_params)})" if fit_params else ""
        more = study.n_finished < study.about["budget"] and not study.is_exhausted
        early = "; with max_failures=None the others would be tried" if more else ""
        error = kind(f"All the {len(trials)} candidates failed{passed}: {summarise_failures(trials)}{early}")
        if trials and trials[-1].traceback:
            error.add_note(trials[-1].traceback)
        raise error from scorer.last_error
    metrics, multimetric, scorers = scorer.metrics, scorer.multimetric, scorer.scorer
    if not metrics:  # the record had all trials, or workers have scored
        metrics, scorers = fold_metrics(trials) or ["score"], make_scorers(search.estimator, search.scoring)
        multimetric = isinstance(scorers, dict) or metrics != ["score"]
    train = search.return_train_score
    results = search_results(trials, metrics, scorer.n_splits, error_score=filler, return_train_score=train)
    held = np.array([t.state == "ok" and holds_bounds(t) for t in trials])
    if scoring.constraints.bounds:
        results["bounds_held"] = held
    if multimetric and not search.refit:
        return BestCandidate(results, None, None, scorers, multimetric)
    if callable(search.refit):
        return BestCandidate(results, _chosen_by(search.refit(results), len(trials)), None, scorers, multimetric)
    metric = scoring.metric(metrics, multimetric)
    if scoring.constraints.bounds and not held.any():
        why = why_none_holds(trials, scoring.constraints)
        return BestCandidate(results, None, None, scorers, multimetric, metric, why)
    chosen = trials.index(scored[0]) if scored else 0
    merits = results[f"mean_test_{metric}"]
    if scoring.constraints.bounds:
        merits = np.where(held, merits, np.nan)
    if np.isfinite(merits).any():
        best = np.flatnonzero(merits == np.nanmax(merits)).tolist()
        chosen = next((k for k in best if trials[k] in own), best[0])
    if search.noise is not False and not study.objectives.several and any(t.state == "ok" for t in trials):
        chosen = [t.number for t in trials].index(study.recommend().number)
    return BestCandidate(results, chosen, results[f"mean_test_{metric}"][chosen], scorers, multimetric, metric)


def is_scored(trial: Trial, n_splits: int) -> bool:
    """Return whether a trial was scored on each fold without an error, though the score may be nan."""
    return all(any(name.startswith(f"split{k}_test_") for name in trial.extra) for k in range(n_splits))


def warn_of_results(trials: Sequence[Trial], best: BestCandidate, scorer: FoldScorer, left_out: Sequence[int]) -> None:
    """Warn once of candidates that failed, and once for each column of means where those of other candidates are not finite.

    `left_out` has the numbers of the trials for which the search had no time left.
    """
    metrics = [name.removeprefix("mean_test_") for name in best.results if name.startswith("mean_test_")]
    whole = {f"split{k}_test_{metric}" for metric in metrics for k in range(scorer.n_splits)}
    # a metric that is not optimised may fail alone
    failed = [not whole <= t.extra.keys() and t.number not in left_out for t in trials]
    of_metric = str(scorer.last_error or "a metric failed")
    warn_of_failures([t.reason or of_metric for t, wrong in zip(trials, failed, strict=True) if wrong], len(trials))
    scored = np.array([whole <= t.extra.keys() for t in trials], dtype=bool)
    for name, means in best.results.items():
        if not name.startswith(("mean_test_", "mean_train_")) or np.isfinite(means[scored]).all():
            continue
        none = name == f"mean_test_{best.metric}" and best.index is not None and not np.isfinite(means).any()
        further = f"; candidate {best.index} is taken, as none has a finite score" if none else ""
        side = "test" if name.startswith("mean_test_") else "train"
        warnings.warn(f"One or more of the {side} scores are non-finite: {means}{further}", UserWarning, stacklevel=3)


def _chosen_by(index: Any, n_trials: int) -> int:
    if not isinstance(index, Integral):
        raise TypeError("best_index_ returned is not an integer")
    if not 0 <= int(index) < n_trials:
        raise IndexError("best_index_ index out of range")
    return int(index)

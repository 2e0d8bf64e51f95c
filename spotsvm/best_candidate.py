"""Which candidate of a cross-validated search is the best, and the table of them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from spotsvm.candidate_scoring import CandidateScoring
from spotsvm.errors import NoCompletedTrialError, NoCompletedTrialTypeError
from spotsvm.fold_scores import FoldScorer, make_scorers
from spotsvm.fold_spread import fold_metrics
from spotsvm.recommendation import summarise_failures
from spotsvm.search_arguments import SearchArguments
from spotsvm.search_results import search_results
from spotsvm.study import Study
from spotsvm.trial import Trial


@dataclass(frozen=True)
class BestCandidate:
    """What a fitted search says of its candidates.

    Attributes
    ----------
    results : dict
        `cv_results_`.
    index : int or None
        `best_index_`; None where several metrics are not refitted.
    score : float or None
        `best_score_`; None where `refit` is a callable, too.
    scorer : callable or dict
        `scorer_`.
    multimetric : bool
        `multimetric_`.
    """

    results: dict[str, Any]
    index: int | None
    score: float | None
    scorer: Any
    multimetric: bool


def best_candidate(
    search: SearchArguments, study: Study, scorer: FoldScorer, scoring: CandidateScoring, fit_params: Mapping[str, Any]
) -> BestCandidate:
    """Choose among the finished trials of a study.

    Parameters
    ----------
    search : SearchArguments
        The search whose study it is.
    study : Study
        What has been scored.
    scorer : FoldScorer
        What has scored it, if it was this process.
    scoring : CandidateScoring
        What scores are worth.
    fit_params : mapping
        Arguments that were passed to `fit`, for the words of an error.

    Raises
    ------
    NoCompletedTrialError
        If every candidate failed.
    TypeError, IndexError
        If `refit` is a callable and does not give the index of a candidate.
    """
    trials = [t for t in study.trials if t.state != "running"]
    if not any(t.state == "ok" for t in trials) and not _has_scores(search, trials):
        _raise_that_all_failed(trials, scorer, fit_params)
    metrics, multimetric, scorers = scorer.metrics, scorer.multimetric, scorer.scorer
    if not metrics:  # the record had it all, or workers have scored
        metrics, scorers = fold_metrics(trials) or ["score"], make_scorers(search.estimator, search.scoring)
        multimetric = isinstance(scorers, dict) or metrics != ["score"]
    filler = np.nan if isinstance(search.error_score, str) else float(search.error_score)
    train = search.return_train_score
    results = search_results(trials, metrics, scorer.n_splits, error_score=filler, return_train_score=train)
    if multimetric and not search.refit:
        return BestCandidate(results, None, None, scorers, multimetric)
    if callable(search.refit):
        return BestCandidate(results, _chosen_by(search.refit(results), len(trials)), None, scorers, multimetric)
    metric = scoring.metric(metrics, multimetric)
    chosen = int(results[f"rank_test_{metric}"].argmin())
    if search.noise is not False and not study.objectives.several and any(t.state == "ok" for t in trials):
        chosen = [t.number for t in trials].index(study.recommend().number)
    return BestCandidate(results, chosen, results[f"mean_test_{metric}"][chosen], scorers, multimetric)


def _raise_that_all_failed(trials: Sequence[Trial], scorer: FoldScorer, fit_params: Mapping[str, Any]) -> None:
    of_type = isinstance(scorer.last_error, TypeError) or all(t.reason.startswith("TypeError: ") for t in trials[-1:])
    kind = NoCompletedTrialTypeError if of_type else NoCompletedTrialError
    passed = f" (passed to fit: {', '.join(fit_params)})" if fit_params else ""
    raise kind(f"All the {len(trials)} candidates failed{passed}: {summarise_failures(trials)}") from scorer.last_error


def _has_scores(search: SearchArguments, trials: Sequence[Trial]) -> bool:
    return not isinstance(search.error_score, str) and np.isfinite(search.error_score) and any(t.extra for t in trials)


def _chosen_by(index: Any, n_trials: int) -> int:
    if not isinstance(index, Integral):
        raise TypeError("best_index_ returned is not an integer")
    if not 0 <= int(index) < n_trials:
        raise IndexError("best_index_ index out of range")
    return int(index)

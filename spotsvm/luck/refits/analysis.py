"""`oversearching`: estimate how much of a search's tuned score is luck."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length, check_random_state, indexable

from spotsvm.common.interruption import says_when_interrupted
from spotsvm.errors import ArgumentError
from spotsvm.luck.fold_bias import fold_metrics, optimism_of_folds, optimism_of_trials, tuned_metric
from spotsvm.luck.intervals import check_confidence
from spotsvm.luck.optimism import METHODS, Method, Optimism
from spotsvm.luck.refits.nested import VARIANCES, FoldTask, Variance, check_folder, outer_splits, run_nested
from spotsvm.luck.refits.search_access import (
    candidate_params,
    check_given,
    check_search,
    fit_search,
    fold_scores,
    fresh_search,
    given_to_fit,
    inner_cv,
    inner_ratio,
    metric_of,
    metric_title,
    winner_of,
)
from spotsvm.trials.results import StudyResults


def oversearching(
    search: Any,
    X: Any = None,
    y: Any = None,
    outer: Any = 5,
    method: Method | None = None,
    confidence: float = 0.95,
    *,
    n_jobs: int | None = None,
    random_state: Any = None,
    groups: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    path: str | Path | None = None,
    variance: Variance = "auto",
    curve: bool = True,
) -> Optimism:
    """Estimate how much of a search's tuned score is luck, and which score to expect on new data.

    The best of many trials on the same rows owes part of its score to those rows. Its optimism is the score that the search
    reports for its winner, minus the winner's score on rows that the search has not used.

    Parameters
    ----------
    search : SpotSearchCV, or another search with `cv_results_`, `best_score_` and `best_params_`; or a Study
        The search to analyse. "nested" clones it; "folds" uses it if it is fitted, and otherwise fits a clone. A study needs an
        objective that returns its scores on folds, or other resamples, as ``{"folds": scores}``, on the same folds in each trial;
        it takes no rows and the method "folds" only.
    X : array-like of shape (n_samples, n_features)
        All rows; not needed for "folds" with a fitted search.
    y : array-like of shape (n_samples,), default=None
        Target.
    outer : int, splitter or iterable, default=5
        Outer folds of "nested". A number makes shuffled folds, stratified for a classifier, and by group if there are groups.
        Any splitter of scikit-learn is allowed, also repeated ones and splits by time.
    method : {"nested", "folds"}, optional
        By default "nested", and "folds" for a study. "nested": in each outer fold the search runs without the fold's rows, and
        its winner is scored on them. "folds": the fold scores of all candidates are compared, without a further fit. "nested"
        costs as many searches as there are folds and is the reference; "folds" is free, but does not cover the sampling of rows.
    confidence : float, default=0.95
        Confidence level of the intervals.
    n_jobs : int or None, default=None
        Number of outer folds in parallel; it does not change the results.
    random_state : int, RandomState or None, default=None
        Seed of the outer folds, and of the search in each of them. None uses the search's own seed if that is a number, and
        otherwise draws one.
    groups : array-like of shape (n_samples,), default=None
        For splitters that need them, outer and inner. None for those that a SpotSearchCV was fitted with.
    fit_params : dict, optional
        Further arguments of the search's fit, such as weights of rows; arguments with an entry per row are cut to the rows of a
        fold. None for those that a SpotSearchCV was fitted with; other searches do not keep theirs.
    path : path-like or None, default=None
        A folder for a record of each outer fold's search; the same call resumes from them after an interruption.
    variance : {"auto", "jackknife", "nadeau-bengio"}, default="auto"
        Rule for the interval of "nested". "jackknife" leaves one outer fold out at a time; "auto" uses it if three or more
        outer folds test each row once (or equally often, if repeated). "nadeau-bengio" works for any splits, but is wider: it
        ignores the correlation of inner and outer scores.
    curve : bool, default=True
        Whether "nested" also scores each trial that was the best so far. This gives the optimism as a function of the number of
        trials, and costs one fit for each such trial.

    Returns
    -------
    Optimism
        The optimism with its interval, the expected score, and the resamples; `summary()` describes it in words.

    Raises
    ------
    ArgumentError
        If an argument is invalid, the search does not refit its winner, or the trials of a study have no scores of folds.
    DataError
        If an outer fold lacks a class, or cannot be scored.
    NoCompletedTrialError
        If every trial failed.

    Notes
    -----
    Equation :eq:`optimism` of the chapter :doc:`/method/index`.

    Under noise the best trial so far is the trial with the best observed score, although the search may recommend another trial
    in the end. The variance of the expected score is that of Nadeau and Bengio in all methods.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.1.
    Cawley, Talbot 2010, "On Over-fitting in Model Selection and Subsequent Selection Bias in Performance Evaluation".
    Nadeau, Bengio 2003, "Inference for the Generalization Error".
    Tibshirani, Tibshirani 2009, "A bias correction for the minimum error rate in cross-validation".

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from spotsvm import SpotSearchCV, oversearching
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
    >>> found = oversearching(
    ...     SpotSearchCV(SVC(), space, n_iter=10, search="random", cv=3),
    ...     X,
    ...     y,
    ...     outer=3,
    ...     random_state=0,
    ... )
    >>> abs(found.optimism) < 0.1, found.variance, len(found.frame())
    (True, 'jackknife', 3)

    Of an objective with scores on folds:

    >>> from sklearn.model_selection import cross_val_score
    >>> from spotsvm import Study
    >>> def scores(params):
    ...     return {"folds": cross_val_score(SVC(**params), X, y, cv=3)}
    >>> study = Study(space, "random", direction="maximize", seed=0)
    >>> oversearching(study.run(scores, n_trials=10)).how
    'folds'
    """
    if isinstance(search, StudyResults):
        if method == "nested" or X is not None or y is not None or groups is not None or fit_params or path is not None:
            raise ArgumentError(
                "search is a Study, whose objective has its own rows: pass no data and no method but 'folds'; method='nested' "
                "needs a search with an estimator, such as SpotSearchCV"
            )
        return _of_study(search, check_confidence(confidence))
    method = "nested" if method is None else method
    for name, value, known in (("method", method, METHODS), ("variance", variance, VARIANCES)):
        if value not in known:
            raise ArgumentError(f"{name}={value!r} is unknown; use one of {', '.join(known)}")
    confidence = check_confidence(confidence)
    check_search(search)
    if X is None and not (method == "folds" and hasattr(search, "cv_results_")):
        raise ArgumentError("X=None: pass the data; it can be omitted only for method='folds' with a fitted search")
    seed = _seed(search, random_state, path)
    given: dict[str, Any] = {}
    if X is not None:
        X, y = indexable(X, y)
        given = given_to_fit(search, X, groups, fit_params)
        check_given(search.estimator, X, y, given)
        groups = given.pop("groups", None)
        check_consistent_length(X, groups)
    with says_when_interrupted(lambda inner: _how_to_resume(search, path)):
        if method == "nested":
            splits = outer_splits(outer, X, y, groups, classifier=is_classifier(search.estimator), seed=seed)
            task = FoldTask(search, X, y, groups, given, check_folder(search, path), curve)
            return run_nested(task, splits, confidence=confidence, variance=variance, n_jobs=n_jobs, seed=seed)
        if not hasattr(search, "cv_results_"):
            search = _fit_one(search, X, y, groups, given, seed, path)
        winner = winner_of(search)
        return optimism_of_folds(
            fold_scores(search),
            winner=winner,
            params=candidate_params(search, winner),
            metric=metric_title(search, metric_of(search)),
            confidence=confidence,
            ratio=inner_ratio(search, X, y, groups),
        )


def _of_study(study: StudyResults, confidence: float) -> Optimism:
    if study.objectives.several:
        named = ", ".join(study.objectives.names)
        raise ArgumentError(f"search is a Study of several objectives ({named}); the luck of a best value is that of one")
    minimised = study.objectives.directions[0] == "minimize"
    metric = tuned_metric([t for t in study.trials if t.value is not None])
    if metric is None and fold_metrics(study.trials):
        raise ArgumentError("the values of the trials are not the means of their fold scores; return {'folds': scores} alone")
    return optimism_of_trials(study.trials, metric, error="value" if minimised else "", confidence=confidence)


def _how_to_resume(search: Any, path: Any) -> str:
    if path is not None:
        return f"what is scored is recorded in {path}; the same call goes on from there"
    remedy = ": pass a path to resume after an interruption" if "path" in search.get_params(deep=False) else ""
    return f"oversearching was interrupted, and will start again{remedy}"


def _seed(search: Any, random_state: Any, path: Any) -> int:
    if random_state is None:
        own = getattr(search, "random_state", None)
        if isinstance(own, Integral):
            return int(own)
        if path is not None:
            raise ArgumentError("random_state=None with a path: another call could not resume from its records; use a number")
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _fit_one(search: Any, X: Any, y: Any, groups: Any, fit_params: Mapping[str, Any], seed: int, path: Any) -> Any:
    """Fit the search once, on all rows."""
    states = (np.random.SeedSequence([seed, 0]).generate_state(2) >> 1).tolist()
    folder = check_folder(search, path)
    record = {} if folder is None else {"path": folder / "search.db"}
    one = fresh_search(search, inner_cv(search, X, y, groups, states[1]), states[0], **record)
    fit_search(one, X, y, fit_params)
    return one

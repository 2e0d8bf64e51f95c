"""The rows of a fitted search, judged again: the score to expect on new rows, and whether tuning has helped."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length, indexable
from sklearn.utils.validation import check_is_fitted

from spotsvm.common.checks import check_groups
from spotsvm.common.compat import num_samples
from spotsvm.common.folds import seeded
from spotsvm.cross_validation.fold_answers import most_tests, responses_of
from spotsvm.cross_validation.fold_data import Split
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.cross_validation.fold_scores import FoldScores
from spotsvm.cross_validation.partitions import fresh_folds
from spotsvm.cross_validation.row_sample import at_rows, drawn_splits
from spotsvm.errors import ArgumentError
from spotsvm.luck.difference import TuningGain, judged
from spotsvm.luck.drawn import Drawn, Evidence, expected_of, unseen_score
from spotsvm.luck.draws import units_of
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.intervals import check_confidence
from spotsvm.luck.refits.class_folds import folds_of_all_classes
from spotsvm.luck.refits.fit_weights import with_fixed_weights
from spotsvm.luck.refits.search_access import (
    best_candidates,
    candidate_params,
    check_given,
    check_search,
    given_by,
    given_to_fit,
    mean_scores,
    metric_of,
    scorer_of_rows,
    winner_of,
    with_params,
)
from spotsvm.luck.refits.search_table import POOL, Asked, answers_of, score_of_classes, scoring_of, search_table
from spotsvm.luck.rows import Unseen
from spotsvm.luck.scores import Score, as_vector
from spotsvm.out_of_fold.table import OutOfFold

#: confidence level of the interval within which the mean score of a search lies if its winner is fitted again to the same rows
_SURE = 0.99


class _SearchRows:
    """The rows that a fitted search has seen, and its folds, on which candidates are fitted again."""

    def __init__(
        self, search: Any, X: Any, y: Any, groups: Any, fit_params: Mapping[str, Any] | None, n_jobs: int | None, call: str
    ):
        check_is_fitted(search)
        check_search(search)
        metric_of(search)
        X, y = indexable(X, y)
        self._own_answers, self._passed_groups = fit_params is None, groups
        passed = given_to_fit(search, X, groups, fit_params)
        check_given(search.estimator, X, y, passed)
        every = X, y
        if (sampled := getattr(search, "sampled_rows_", None)) is not None:
            if sampled[-1] >= num_samples(X):
                raise ArgumentError(f"X has {num_samples(X)} rows, fewer than search was fitted on; pass all of those")
            X, y, passed = at_rows(X, y, passed, sampled)
        groups = passed.pop("groups", None)
        self._search, self._X, self._y, self._n_jobs = search, X, y, n_jobs
        self._given = given_by(search, passed)
        self._groups = self._given.groups if groups is None else groups
        check_consistent_length(X, self._groups)
        self._classifier = is_classifier(search.best_estimator_)
        own_seed = search.random_state if isinstance(getattr(search, "random_state", None), int | np.integer) else 0
        self.seed = int(search.study_.seed if hasattr(search, "study_") else own_seed)
        self._scorer, self.metric = scorer_of_rows(search)
        self._scoring = scoring_of(search, metric_of(search))
        splitter = seeded(check_cv(search.cv, y, classifier=self._classifier), self.seed)
        check_groups(splitter, self._groups, call)
        self._own_splits: Sequence[Split] = drawn_splits(splitter, X, y, {"groups": self._groups}, sampled, every)
        if not self._own_splits:
            raise ArgumentError(
                f"search has cv={type(search.cv).__name__}, an exhausted iterator, so its folds are unknown; "
                "pass a list of splits, or a splitter, as cv"
            )

    def _score_by(self, scoring: Any) -> Score | None:
        if np.ndim(self._y) > 1:
            return None
        return score_of_classes(scoring, np.unique(np.asarray(self._y)) if self._classifier else None)

    @property
    def score(self) -> Score | None:
        """The score, if rows can be drawn again by it."""
        return self._score_by(self._scoring)

    @cached_property
    def _splits(self) -> Sequence[Split]:
        return self._all_classes(self._own_splits)

    def _all_classes(self, splits: Sequence[Split]) -> Sequence[Split]:
        return folds_of_all_classes(splits, self._y, self.seed) if self._classifier else splits

    @property
    def _units(self) -> Any:
        return units_of(self._search.cv, self._groups, len(np.asarray(self._y)))

    @property
    def _asked(self) -> Asked:
        given, search = self._given, self._search
        n_tests = most_tests(self._splits, len(np.asarray(self._y)))
        return Asked(search.estimator, self._y, self._classifier, given, self._units, n_tests, self._scoring, self.seed)

    def _params(self, candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return with_fixed_weights(self._search.estimator, candidates, self._y, self._given.fit)

    def of_winner(self) -> Drawn:
        """Return the score of the chosen candidate alone, on folds that the search has not used."""
        X, y, given, search = self._X, self._y, self._given, self._search
        splits = self._all_classes(fresh_folds(search.cv, X, y, self._groups, self._classifier, self.seed, self._own_splits))
        best = search.best_estimator_
        best = with_params(best, with_fixed_weights(best, [{}], y, given.fit)[0])
        options: Any = {"n_jobs": self._n_jobs, "fit_params": given.fit, "score_params": given.score}
        unseen = Unseen.out_of_fold(best, X, y, splits, self._units, **options)
        try:
            drawn = unseen_score(unseen, self._scorer, self.metric, self.seed, "out of fold")
            if not hasattr(search, "fit_params_"):
                again = Unseen.out_of_fold(search.best_estimator_, X, y, self._own_splits, self._units, **options)
                _check_same_scores(search, again.mean_of_parts(self._scorer), expected_of([drawn], self.metric, "rows"))
            return drawn
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            raise ArgumentError(
                f"search has scoring={search.scoring!r}, which cannot score drawn rows: {type(error).__name__}: {error}. "
                "Use a scorer of make_scorer, or one that calls only predict, predict_proba or decision_function of the "
                "estimator, and does not use X itself"
            ) from error

    def table(self, most: int | None = None) -> OutOfFold:
        """Return the table of the search itself, or that of `most` candidates, which are fitted on the folds again."""
        own = getattr(self._search, "out_of_fold_", None)
        if own is not None and self._own_answers and _is_of(own, self._y):
            return own if self._passed_groups is None else _drawn_by(own, np.asarray(self._units))
        search = self._search
        average = isinstance(search.refit, str) and search.refit == "average"
        calibrated = bool(getattr(search, "calibrate", False))
        ranked = best_candidates(search.cv_results_, metric_of(search), search.best_index_, POOL if average else most)
        params = self._params([candidate_params(search, k) for k in ranked])
        scores = self._scored(params, self._responses(calibrated))
        settings = pd.DataFrame([candidate_params(search, k) for k in ranked])
        found = [one.answers for one in scores]
        table = search_table(self._asked, settings, params, found, range(len(found)), average=average, calibrated=calibrated)
        assert table is not None
        same = params[0] == candidate_params(search, ranked[0]) and self._splits is self._own_splits
        if same and not hasattr(search, "fit_params_"):
            _check_same_scores(search, scores[0].mean("score", len(self._splits)), table.expected())
        return table

    def with_default(self, table: OutOfFold) -> OutOfFold:
        """Return a table with the answers of the estimator's own parameters."""
        if table.default is not None:
            return table
        params = self._params([{}])
        (scores,) = self._scored(params, self._responses(False))
        assert scores.answers is not None
        return replace(table, default=answers_of(self._asked, [scores.answers], params, table.judged_rows))

    def _responses(self, calibrated: bool) -> tuple[str, ...]:
        return responses_of(self._search.estimator, self._scoring, calibrated)

    def _scored(self, params: Sequence[Mapping[str, Any]], responses: Sequence[str]) -> list[FoldScores]:
        """Return the scores of candidates with their answers; raise the error of the first candidate if all fail."""
        search = self._search
        own = search.scorer_[metric_of(search)] if isinstance(search.scorer_, Mapping) else search.scorer_
        scorer = FoldScorer(
            search.estimator, self._X, self._y, self._splits, self._given.folds, scoring=own, n_jobs=self._n_jobs,
            engine=getattr(search, "engine", "auto"), advise=False, responses=responses,
        )  # fmt: skip
        scores = scorer.score(params)
        failed = [one for one in scores if one.answers is None]
        if len(failed) == len(scores):
            raise scorer.last_error or ArgumentError(f"estimator={self._search.estimator!r} gives no answers for rows")
        if failed:
            reason = f"{len(failed)} of {len(scores)} candidates failed in a fold and are left out: {failed[0].reason}"
            warnings.warn(reason, FitFailedWarning, stacklevel=4)
        return scores


def search_evidence(
    search: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    n_jobs: int | None = None,
    fit_params: Mapping[str, Any] | None = None,
    most: int | None = None,
    compares: bool = True,
) -> tuple[Evidence, str] | None:
    """Return the scores of a search's choice, of its estimator's own parameters and of a constant on its rows, and the metric.

    None if the choice cannot be repeated, as the score of rows is unknown. `most` limits the candidates among which the choice is
    made again; without `compares` the estimator's own parameters are the choice.
    """
    rows = _SearchRows(search, X, y, groups, fit_params, n_jobs, "tuning_verdict(search, X, y, groups=groups)")
    if rows.score is None:
        return None
    found = rows.with_default(rows.table(most)).evidence()
    return found if compares else found._replace(tuned=found.default), rows.metric


def expected_score(
    search: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    fit_params: Mapping[str, Any] | None = None,
) -> ExpectedScore:
    """Return the score to expect of a search's best estimator on new rows, with an interval.

    The rows in the test sets of the search's folds are drawn with replacement, with the answers of all candidates for them: each
    draw chooses its own best candidate, or its own average of the ten best, and is scored on the rows that it leaves out. The
    interval thus covers the sampling of the rows, the folds and the choice.

    A SpotSearchCV has these answers in `out_of_fold_`, and nothing is fitted. Candidates of other searches are fitted on the
    folds again, which takes about the time of the search.

    Parameters
    ----------
    search : SpotSearchCV, RandomizedSearchCV or GridSearchCV
        Fitted on X and y, with `refit`.
    X, y : array-like
        The data that the search was fitted on. For a search with `rows`, the score is that of its sample.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that depend on each other, such as the rows of a person: whole groups are drawn. None for those that a
        SpotSearchCV was fitted with.
    confidence : float, default=0.95
        Confidence level of the interval.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    fit_params : dict, optional
        What else the search's fit was given, such as weights of rows: candidates are fitted, and scored, with it again. None for
        what a SpotSearchCV was given. Other searches do not keep it, so pass it again.

    Returns
    -------
    ExpectedScore
        With `value`, `interval`, and `of_rows(n)`, the interval for the score of n rows.

    Raises
    ------
    ArgumentError
        If the confidence level is not between 0 and 1; if the search has `refit=False`, or several metrics and a function as
        `refit`; if its `cv` is an exhausted iterator; if its scorer cannot score drawn rows; or if its scores on the folds cannot
        be those of these rows and these `fit_params`; a ValueError.

    Notes
    -----
    For an unknown metric, such as a function, or a target of several columns, only the chosen candidate is scored, on folds that
    the search has not used. This score is a little too high, as the candidate was chosen on the same rows. A scorer of your own
    may call `predict`, `predict_proba` and `decision_function` on its argument X, like the scorers of `make_scorer`. It may not
    use X itself, which then has row numbers, nor other methods of the estimator, such as `score` or `transform`. Weights of rows
    count in the score if they counted in the search's, which needs scikit-learn's metadata routing. In each fold
    `class_weight="balanced"` stands for the weights of all rows, as in the final fit; and folds that test rows of one class
    alone, as in leave-one-out, are merged into ten or fewer that test all classes: otherwise a fold would show by its training
    rows which class it tests.

    References
    ----------
    Tsamardinos, Greasidou, Borboudakis 2018, "Bootstrapping the Out-of-sample Predictions for Efficient and Accurate
    Cross-Validation".

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from spotsvm import SpotSearchCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = SpotSearchCV(
    ...     SVC(), {"C": loguniform(0.1, 100)}, n_iter=5, random_state=0
    ... ).fit(X, y)
    >>> found = expected_score(search, X, y)
    >>> found.interval[0] < found.value < found.interval[1] < 1
    True
    """
    check_confidence(confidence)
    rows = _SearchRows(search, X, y, groups, fit_params, n_jobs, "expected_score(search, X, y, groups=groups)")
    if rows.score is None:
        return expected_of([rows.of_winner()], rows.metric, "rows", confidence)
    return rows.table().expected(confidence=confidence)


def tuning_verdict(
    search: Any,
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    n_jobs: int | None = None,
    fit_params: Mapping[str, Any] | None = None,
) -> TuningGain:
    """Return whether a search has helped: its best estimator compared with the estimator's own parameters.

    Both are judged on the test rows of the search's folds. Each of 200 draws of these rows makes the choice among the candidates
    again on the rows drawn, and scores it and the estimator's own parameters on those left out. What the search has not kept
    is fitted on the folds again.

    Parameters
    ----------
    search : SpotSearchCV, RandomizedSearchCV or GridSearchCV
        Fitted on X and y, with `refit`.
    X, y : array-like
        The data that the search was fitted on.
    groups : array-like of shape (n_samples,), optional
        Groups of rows that depend on each other: whole groups are drawn. None for those that a SpotSearchCV was fitted with.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel.
    fit_params : dict, optional
        What else the search's fit was given, as for `expected_score`.

    Returns
    -------
    TuningGain
        With `decision`, the gain as `value`, its 95 % `interval`, and a sentence.

    Raises
    ------
    ArgumentError
        If rows cannot be drawn again by the score: an unknown one such as a function, or a target of several columns; otherwise
        as `expected_score`. A ValueError.

    See Also
    --------
    expected_score : The score to expect on new rows.

    Notes
    -----
    Equation :eq:`verdict` of the chapter :doc:`/method/index`. The gain covers the sampling of the rows and the choice among the
    candidates of this search.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from spotsvm import SpotSearchCV, tuning_verdict
    >>> X, y = load_iris(return_X_y=True)
    >>> space = {"C": loguniform(0.1, 100)}
    >>> search = SpotSearchCV(SVC(), space, n_iter=5, random_state=0).fit(X, y)
    >>> tuning_verdict(search, X, y).decision
    'no difference seen'
    """
    found = search_evidence(search, X, y, groups=groups, n_jobs=n_jobs, fit_params=fit_params)
    if found is None:
        raise ArgumentError(
            f"search has scoring={search.scoring!r}, by which rows cannot be drawn again; use a scorer of scikit-learn by its "
            "name, such as 'accuracy', 'roc_auc', 'r2' or 'neg_root_mean_squared_error', and a target of one column"
        )
    evidence, metric = found
    return judged([evidence], metric).gain


def _is_of(table: OutOfFold, y: Any) -> bool:
    """Return whether a table is of rows with these targets."""
    target = as_vector(np.asarray(y))
    return len(target) == table.n_samples and bool(np.array_equal(target[table.rows], table.y))


def _drawn_by(table: OutOfFold, units: NDArray[Any]) -> OutOfFold:
    """Return a table with other groups of rows, which draws take or leave whole."""
    return replace(table, judged_rows=replace(table.judged_rows, units=units[table.places]))


def _check_same_scores(search: Any, again: float, expected: ExpectedScore) -> None:
    """Raise ArgumentError if a winner's mean over the folds cannot be that of the search: the search was given more than this."""
    theirs = float(mean_scores(search)[winner_of(search)])
    low, high = expected.at(_SURE).interval
    if np.isfinite([again, low, high]).all() and not low <= expected.value + theirs - again <= high:
        raise ArgumentError(
            f"the best candidate has a mean score of {theirs:.4g} in search, and {again:.4g} when it is fitted to X and y again: "
            "these are not the rows of the search, or its fit was given more; pass that as fit_params, such as "
            "fit_params={'sample_weight': weights}"
        )

"""Cross-validated scores of candidates on fixed folds, from shared work or by scikit-learn's public search."""

from __future__ import annotations

import logging
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import accuracy_score, check_scoring
from sklearn.model_selection import GridSearchCV

from spotsvm.common.errors import ArgumentError
from spotsvm.common.fingerprint import as_text, canonical, whole
from spotsvm.cross_validation.fold_data import LostDigitsError, Split, take
from spotsvm.cross_validation.machines import MATRIX_MACHINES, NotSharedError, is_machine, split_pipeline
from spotsvm.cross_validation.shared_folds import FoldAnswer, SharedFolds
from spotsvm.cross_validation.soft_loss import log_loss_of_margins, margins
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.one_vs_one import chosen_classes, decision_values
from spotsvm.trials.scores.metrics import score_range

MAX_BYTES = 2 * 2**30
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class FoldScores:
    """The scores of one candidate, named as in `cv_results_` without those that failed, and why it failed in a fold, if so."""

    numbers: Mapping[str, float]
    reason: str = ""

    def mean(self, metric: str, n_splits: int) -> float:
        """Return the mean test score, nan if a fold has none; after a race that ended early, the mean of the folds that ran."""
        ran = int(self.numbers.get("folds_run", n_splits))
        return float(np.mean([self.numbers.get(f"split{i}_test_{metric}", np.nan) for i in range(ran)]))


class FoldScorer:
    """Scores of candidates on fixed folds; arguments that GridSearchCV has as well mean the same.

    `fit_params` are further arguments of `fit` for the estimator and the scorers. The engine "auto" shares the work of support
    vector machines where scikit-learn's result is the same, with `max_bytes` for kernel matrices; it stops a candidate that can
    no longer be the best by the metric `race_for`. Where work is shared and the metric `soften` is accuracy, the numbers have
    the `log_loss` of the margins of all test rows as well. With `warn=False` call `warn_of_failure` elsewhere.

    Once something was scored `scorer` has the scorers in use, and `metrics` their names, "score" for a single one. `last_error`
    is the error of the last candidate that failed.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        splits: Sequence[Split],
        fit_params: Mapping[str, Any],
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        pre_dispatch: int | str = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        engine: str = "sklearn",
        max_bytes: int = MAX_BYTES,
        race_for: str | None = None,
        soften: str | None = None,
        warn: bool = True,
    ):
        self._estimator, self._X, self._y = estimator, X, y
        self._splits, self._fit_params = list(splits), dict(fit_params)
        self.n_splits = len(self._splits)
        self._error_score = error_score
        self._options = {
            "scoring": metric_names(scoring) if isinstance(scoring, AbstractSet) else scoring,
            "n_jobs": n_jobs,
            "pre_dispatch": pre_dispatch,
            "return_train_score": return_train_score,
            "cv": self._splits,
            "refit": False,
        }
        self.scorer: Any = None
        self.metrics: list[str] = []
        self.multimetric = False
        self.last_error: Exception | None = None
        self._engine, self._max_bytes, self._race_for, self._warn = engine, max_bytes, race_for, warn
        self._soften = soften
        self._warned_of_offset = False
        #: the best mean score so far, which a race compares with
        self.best_mean: float | None = None

    @property
    def test_share(self) -> float:
        """The share of the rows of a split that it tests on, averaged over the splits."""
        return float(np.mean([len(test) / (len(train) + len(test)) for train, test in self._splits]))

    def context(self) -> dict[str, str]:
        """Return everything that the scores depend on except the candidate, so that a later run can check that it is the same."""
        text = partial(as_text, threshold=sys.maxsize, floatmode="unique")
        parameters = sorted(self._estimator.get_params(deep=True).items())
        return {
            "data": joblib.hash((canonical(self._X), canonical(self._y), self._fit_params)),
            "folds": joblib.hash(self._splits),
            "estimator": text(self._estimator),
            "parameter of the estimator": joblib.hash(text([(name, whole(value)) for name, value in parameters])),
            "scoring": text(self._options["scoring"]),
            "return_train_score": str(self._options["return_train_score"]),
            "engine": self._engine,
            "racing": str(self._race_for is not None),
        }

    def score(self, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        """Score candidates, in the order given.

        Errors in the arguments, such as an unknown parameter of the estimator, are raised; with error_score="raise", so are
        those of fitting and scoring.
        """
        if self._shared is not None:
            return self._score_shared(self._shared, candidates)
        return self._score_by_sklearn(candidates)

    @property
    def softens(self) -> bool:
        """Whether the scores have a log loss beside accuracy."""
        return self._shared is not None and self._shared.soft

    def why_not_shared(self, candidate: Mapping[str, Any]) -> str:
        """Return why the work of scoring a candidate is not shared with others, as far as its parameters tell; empty if it is."""
        if self._engine == "sklearn":
            return "engine='sklearn' shares none"
        if self._shared is None:
            return f"that of {self._estimator!r} cannot be shared with these data, scorers and arguments"
        return "" if self._shared.folds.can_share(dict(candidate)) else f"that of {dict(candidate)} cannot be shared"

    @cached_property
    def _shared(self) -> SharedScores | None:
        """The scorer that shares the work of these folds; None if it cannot be shared."""
        n_jobs = self._options["n_jobs"]
        if self._engine == "sklearn" or self._fit_params or not isinstance(n_jobs, Integral | None) or n_jobs == 0:
            return None  # scikit-learn says what is wrong with n_jobs
        scorer = make_scorers(self._estimator, self._options["scoring"])
        scorers = scorer if isinstance(scorer, dict) else {"score": scorer}
        train = bool(self._options["return_train_score"])
        _, last = split_pipeline(self._estimator)
        known = is_machine(type(last)) or type(last) in MATRIX_MACHINES
        if self._y is None or not known or not all(map(can_share, scorers.values())):
            return None
        target = self._y if hasattr(self._y, "iloc") else np.asarray(self._y)
        if getattr(target, "ndim", 1) == 2 and target.shape[1] == 1:  # scikit-learn's machines take it for its column
            target = np.asarray(target).ravel()
        splits = [(np.asarray(rows), np.asarray(others)) for rows, others in self._splits]
        if any(rows.dtype.kind not in "iu" for split in splits for rows in split):
            return None
        ranking = any(map(_ranks, scorers.values()))
        try:
            folds = SharedFolds(
                self._estimator, self._X, target, splits, self._max_bytes, training_answers=train, ranking=ranking
            )
        except NotSharedError:
            return None
        self.scorer, self.multimetric, self.metrics = scorer, isinstance(scorer, dict), list(scorers)
        soft = self._soften in scorers and is_classifier(self._estimator) and _is_accuracy(scorers[self._soften])
        return SharedScores(folds, target, splits, scorers, train, soft)

    def _score_shared(self, shared: SharedScores, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        found: dict[int, FoldScores] = {}
        left: list[int] = []
        for k in shared.folds.order([dict(c) for c in candidates]):
            try:
                found[k] = FoldScores(self._race(shared, dict(candidates[k])))
            except NotSharedError as reason:
                _log.info("scikit-learn scores %s: %s", dict(candidates[k]), reason)
                left.append(k)
                if isinstance(reason, LostDigitsError) and reason.advice and not self._warned_of_offset:
                    self._warned_of_offset = True
                    warnings.warn(reason.advice, UserWarning, stacklevel=4)
        if left:
            found |= dict(zip(left, self._score_by_sklearn([candidates[k] for k in left]), strict=True))
        return [found[k] for k in range(len(candidates))]

    def _race(self, shared: SharedScores, params: dict[str, Any]) -> dict[str, float]:
        if self._race_for is None:
            return shared.score(params)
        scoring = self._options["scoring"]
        name = scoring if isinstance(scoring, str) or callable(scoring) else self._race_for
        if isinstance(scoring, Mapping):
            name = scoring[self._race_for]
        highest = score_range(name)[1] if isinstance(name, str) else None
        if highest is None:
            raise ArgumentError(f"racing=True needs a score whose best value is known; that of {name!r} is not")
        numbers = shared.score(params, self.best_mean, self._race_for, highest)
        ran = sum(f"split{k}_test_{self._race_for}" in numbers for k in range(self.n_splits))
        numbers["folds_run"] = float(ran)
        if ran == self.n_splits:
            mean = FoldScores(numbers).mean(self._race_for, ran)
            self.best_mean = mean if self.best_mean is None else max(mean, self.best_mean)
        return numbers

    def _score_by_sklearn(self, candidates: Sequence[Mapping[str, Any]]) -> list[FoldScores]:
        try:
            results = self._search(candidates, "raise")
        except Exception as error:
            if isinstance(self._error_score, str):
                raise
            if len(candidates) > 1:
                return [self._score_by_sklearn([candidate])[0] for candidate in candidates]
            return [self._score_failing(candidates[0], error)]
        return [FoldScores(self._numbers(results, k)) for k in range(len(candidates))]

    def _search(self, candidates: Sequence[Mapping[str, Any]], error_score: Any) -> dict[str, Any]:
        grid = [{name: _single(value) for name, value in candidate.items()} for candidate in candidates]
        search = GridSearchCV(self._estimator, grid, error_score=error_score, **self._options)
        search.fit(self._X, self._y, **self._fit_params)
        self.scorer, self.multimetric = search.scorer_, bool(search.multimetric_)
        results: dict[str, Any] = search.cv_results_
        self.metrics = [key.removeprefix("mean_test_") for key in results if key.startswith("mean_test_")]
        return results

    def _score_failing(self, candidate: Mapping[str, Any], error: Exception) -> FoldScores:
        """Score a candidate that is known to fail in a fold: the other folds, and other metrics, still count."""
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:500]}"
        with unwarned():  # what is warned of here is told below, and a mean over failed folds is wanted
            try:
                numbers = self._numbers(self._search([candidate], np.nan), 0)
            except ValueError as every_fold:
                if "fits failed" not in str(every_fold):  # scikit-learn's way to say so; another error is not the candidate's
                    raise
                numbers = {}
        self.last_error = error
        scores = FoldScores({name: number for name, number in numbers.items() if not np.isnan(number)}, reason)
        if self._warn:
            warn_of_failure(candidate, scores.numbers, reason)
        return scores

    def _numbers(self, results: Mapping[str, Any], k: int) -> dict[str, float]:
        wanted = ("split", "mean_fit_time", "std_fit_time", "mean_score_time", "std_score_time")
        return {key: float(column[k]) for key, column in results.items() if key.startswith(wanted)}


def _single(value: Any) -> Any:
    """Return an array with one object, such as an array or an estimator, that numpy does not take apart."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


def make_scorers(estimator: Any, scoring: Any) -> Any:
    """Return the scorer, or a dictionary of several."""
    if callable(scoring) or isinstance(scoring, str | None):
        return check_scoring(estimator, scoring)
    named = scoring if isinstance(scoring, Mapping) else {name: name for name in metric_names(scoring)}
    return {name: check_scoring(estimator, one) for name, one in named.items()}


def metric_names(scoring: Any) -> list[str]:
    """Return the names of several metrics in their order, a set's in alphabetical order, as its own differs by process."""
    return sorted(scoring) if isinstance(scoring, AbstractSet) else list(scoring)


def check_scoring_options(engine: Any, error_score: Any) -> None:
    """Raise ArgumentError if there is no such engine, or no such score of a failed fold."""
    if engine not in ("auto", "sklearn"):
        raise ArgumentError(f"engine={engine!r}; use 'auto' or 'sklearn'")
    if error_score != "raise" and not isinstance(error_score, Real):
        raise ArgumentError(f"error_score={error_score!r} is not a score; use 'raise' or a number")


def warn_of_failure(candidate: Mapping[str, Any], numbers: Mapping[str, float], reason: str) -> None:
    """Warn that a candidate failed, in some of its folds or in all of them."""
    where = "some folds" if any("_test_" in name for name in numbers) else "every fold"
    warnings.warn(f"{dict(candidate)} failed in {where}: {reason}", FitFailedWarning, stacklevel=3)


@contextmanager
def unwarned() -> Iterator[None]:
    """Ignore warnings in the main thread; filters are global, and two threads would not restore them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _ranks(scorer: Any) -> bool:
    """Check whether a scorer uses more of a decision than the class it stands for."""
    return not _is_own_score(scorer) and getattr(scorer, "_response_method", None) != "predict"


def _is_own_score(scorer: Any) -> bool:
    """Check whether a scorer is the estimator's own `score`."""
    return type(scorer).__name__ == "_PassthroughScorer"


def _is_accuracy(scorer: Any) -> bool:
    """Check whether a classifier's scorer is accuracy."""
    return _is_own_score(scorer) or (getattr(scorer, "_score_func", None) is accuracy_score and not scorer._kwargs)


def can_share(scorer: Any) -> bool:
    """Return whether a scorer is from `make_scorer`, or the estimator's own: these use only its answers."""
    return type(scorer).__module__.startswith("sklearn.metrics.")


class SharedScores:
    """Scores of candidates from shared work; `train` is whether to score the training rows, `soft` whether to add a log loss."""

    def __init__(
        self, folds: SharedFolds, y: Any, splits: Sequence[Split], scorers: Mapping[str, Any], train: bool, soft: bool = False
    ):
        self.folds, self._scorers, self._splits, self.soft = folds, scorers, list(splits), soft
        self._codes = np.unique(np.asarray(y), return_inverse=True)[1] if soft else np.empty(0, dtype=np.intp)
        # stand-ins answer for one object and no other: the rows' numbers serve as well as the rows
        self._test = [(rows, take(y, rows)) for _, rows in self._splits]
        self._train = [(rows, take(y, rows)) for rows, _ in self._splits] if train else []

    def score(self, params: dict[str, Any], bar: float | None = None, metric: str = "", highest: float = 1.0) -> dict[str, float]:
        """Return the scores of one candidate as in FoldScores; NotSharedError if scikit-learn has to score it.

        With a `bar`, stop as soon as the mean of `metric` over all folds, at most `highest` in each, can no longer reach it;
        folds that did not run are absent.
        """
        numbers: dict[str, float] = {}
        fit_times, score_times = [], []
        began = time.perf_counter()
        reached = 0.0
        found: list[Floats] = []
        for k, answer in enumerate(self.folds.answers(params)):
            fit_times.append(time.perf_counter() - began)
            began = time.perf_counter()
            self._score_rows(numbers, f"split{k}_test_", answer, *self._test[k])
            score_times.append(time.perf_counter() - began)
            if self._train:
                self._score_rows(numbers, f"split{k}_train_", answer, *self._train[k])
            if self.soft and answer.classes is not None:
                test = self._test[k][0]
                found.append(margins(answer.decisions[test], self._codes[test], len(answer.classes)))
            began = time.perf_counter()
            left = len(self._splits) - k - 1
            if bar is not None:
                reached += numbers[f"split{k}_test_{metric}"]
                if left and reached + left * highest < bar * len(self._splits):
                    break
        for name, times in (("fit_time", fit_times), ("score_time", score_times)):
            numbers[f"mean_{name}"], numbers[f"std_{name}"] = float(np.mean(times)), float(np.std(times))
        if self.soft:
            numbers["log_loss"] = log_loss_of_margins(np.concatenate(found))
        return numbers

    def _score_rows(self, numbers: dict[str, float], prefix: str, answer: FoldAnswer, rows: NDArray[np.intp], y: Any) -> None:
        decisions = answer.decisions[rows]
        regression = answer.classes is None
        stand_in = _RegressorStandIn(rows, decisions[:, 0]) if regression else _ClassifierStandIn(rows, answer, decisions)
        for name, scorer in self._scorers.items():
            plain = _is_own_score(scorer)
            try:
                if plain and not regression:
                    score = float(np.mean(stand_in.predict(rows) == np.asarray(y)))
                else:
                    score = float(stand_in.score(rows, y) if plain else scorer(stand_in, rows, y))
            except NotSharedError:
                raise
            except Exception as error:  # a scorer that wants more than answers: scikit-learn's own way gives its result
                raise NotSharedError(f"the scorer {name} cannot use answers alone: {error}") from error
            if not np.isfinite(score):
                raise NotSharedError(f"the scorer {name} gives {score}")
            numbers[prefix + name] = score


class _ClassifierStandIn(ClassifierMixin, BaseEstimator):
    """A fitted classifier that knows its decisions for the rows `X` only, an object that is compared by identity."""

    def __init__(self, X: Any, answer: FoldAnswer, decisions: Floats):
        self.X = X
        self.classes_: Any = answer.classes
        self._answer, self._decisions = answer, decisions

    def decision_function(self, X: Any) -> Floats:
        _check_same(X, self.X)
        return decision_values(self._decisions, len(self.classes_), self._answer.shape)

    def predict(self, X: Any) -> NDArray[Any]:
        _check_same(X, self.X)
        chosen = chosen_classes(self._decisions, len(self.classes_), self._answer.break_ties)
        predicted: NDArray[Any] = self.classes_[chosen]
        return predicted


class _RegressorStandIn(RegressorMixin, BaseEstimator):
    """A fitted regressor that knows its predictions for the rows `X` only."""

    def __init__(self, X: Any, predictions: Floats):
        self.X = X
        self._predictions = predictions

    def predict(self, X: Any) -> Floats:
        _check_same(X, self.X)
        return self._predictions


def _check_same(X: Any, known: Any) -> None:
    if X is not known:
        raise NotSharedError("asked for rows that are not those of the fold")

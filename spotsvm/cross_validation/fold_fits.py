"""A fit of a candidate on a fold, with its scores and answers, by the rules of scikit-learn's searches."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from numbers import Number
from typing import Any, Protocol

import joblib
import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils.parallel import Parallel, delayed

from spotsvm.common.compat import check_method_params, rows_of, safe_split, scorer_parts
from spotsvm.common.notices import untold
from spotsvm.common.worker_interrupts import interrupts_kept_from_workers
from spotsvm.cross_validation.fold_answers import Answering, TestedRows
from spotsvm.cross_validation.fold_data import Split
from spotsvm.trials.outcome import Outcome, failed_by, one_line

_METHODS = ("predict", "predict_proba", "decision_function")
_SCORES_OF_ANSWERS = (ClassifierMixin.score, RegressorMixin.score)


class Remembered:
    """A fitted model that computes its answers for certain rows once by each method."""

    def __init__(self, fitted: Any, rows: Any):
        self._fitted, self._rows = fitted, rows
        self._known: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name == "_fitted":  # asked for by copies, before there is any
            raise AttributeError(name)
        found = getattr(self._fitted, name)
        if name not in _METHODS:
            return found

        @wraps(found)
        def answer(X: Any) -> Any:
            if X is not self._rows:
                return found(X)
            if name not in self._known:
                self._known[name] = _read_only(found(X))
            return self._known[name]

        return answer

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._fitted)


def _read_only(answers: Any) -> Any:
    """Return an array as one that a metric cannot change."""
    if isinstance(answers, np.ndarray):
        answers = answers.view()
        answers.flags.writeable = False
    return answers


@dataclass(frozen=True)
class Scored:
    """The scores of some rows by metric, nan where a scorer failed, and the first error; `several` if metrics have names."""

    numbers: Mapping[str, float]
    several: bool = False
    error: Exception | None = None


class FoldScoring:
    """The scorers of a search: one, several by name, or a callable that returns a score or several by name."""

    def __init__(self, estimator: Any, scorers: Any):
        self.several = isinstance(scorers, dict)
        parts = [scorer_parts(one) for one in (scorers.values() if self.several else [scorers])]
        #: the names of the scores; empty for a callable, which are not known before it is called
        self.names = tuple(scorers) if self.several else () if parts[0] is None else ("score",)
        self._strict = check_scoring(estimator, scorers, raise_exc=True) if self.several else scorers
        self._lenient = check_scoring(estimator, scorers, raise_exc=False) if self.several else None
        self._of_answers = all(one is not None and not one.is_own_score for one in parts)
        self._own = not self.several and parts[0] is not None and parts[0].is_own_score

    def scores(self, model: Any, X: Any, y: Any, params: Mapping[str, Any], seen: Remembered | None = None) -> Scored:
        """Return the scores of a fitted model; ValueError if one is not a number.

        Scorers that use nothing but answers ask `seen` for them.
        """
        rows = (X,) if y is None else (X, y)
        if seen is not None:
            with suppress(Exception):  # the model itself says what is wrong
                if self._of_answers:
                    return self._scored(self._strict(seen, *rows, **params))
                if self._own and type(model).score in _SCORES_OF_ANSWERS:
                    return self._scored(type(model).score(seen, *rows, **params))
        try:
            found = self._strict(model, *rows, **params)
        except Exception as error:  # a user's scorer may raise any error
            return self._others(model, rows, params, error)
        return self._scored(found)

    def none(self, error: Exception) -> Scored:
        """Return the scores if no scorer can be called."""
        return Scored(dict.fromkeys(self.names, np.nan), self.several, error)

    def _others(self, model: Any, rows: Sequence[Any], params: Mapping[str, Any], error: Exception) -> Scored:
        """Return the scores of those scorers that do not fail."""
        if self._lenient is None:
            return self.none(error)
        try:
            found = self._lenient(model, *rows, **params)
        except Exception:  # methods that scorers need are looked up before any scorer is called
            return self.none(error)
        numbers = self._scored({name: np.nan if isinstance(score, str) else score for name, score in found.items()})
        return replace(numbers, error=error)

    def _scored(self, scores: Any) -> Scored:
        """Return scores as numbers, nan for masked ones."""
        if isinstance(scores, Mapping):
            return Scored({name: _number(score, name) for name, score in scores.items()}, several=True)
        return Scored({"score": _number(scores, self._strict)})


def _number(score: Any, scorer: Any) -> float:
    if np.ma.is_masked(score):  # the number behind the mask, 0 for np.ma.masked, is no score
        return float("nan")
    if hasattr(score, "item"):
        with suppress(ValueError):
            score = score.item()
    if not isinstance(score, Number):
        raise ValueError(f"scoring must return a number, got {score} ({type(score)}) instead. (scorer={scorer})")
    return float(score)  # type: ignore[arg-type]


@dataclass(frozen=True)
class FoldResult:
    """A candidate's times and scores on a fold, its answers for the test rows, and its first error.

    There are no scores if the fit failed, and none of the training rows if they are not scored.
    """

    fit_time: float
    score_time: float = 0.0
    test: Scored | None = None
    train: Scored | None = None
    tested: TestedRows | None = None
    failure: Outcome | None = None


class View:
    """A fitted model as one candidate has it, with its test rows, and its training rows if these are scored."""

    def __init__(self, model: Any, test: Any, train: Any, remembers: bool = False):
        self._model, self.rows = model, {"test": test, "train": train}
        self._seen = Remembered(model, test) if remembers else None

    def scores(self, scoring: FoldScoring, side: str, y: Any, params: Mapping[str, Any]) -> Scored:
        """Return the scores of the rows on one side, and the first error."""
        return scoring.scores(self._model, self.rows[side], y, params, self._seen if side == "test" else None)

    def tested(self, answering: Answering) -> TestedRows | None:
        """Return the answers for the test rows."""
        return answering.of(self._seen or self._model, self.rows["test"])


class Sweep(Protocol):
    """Candidates that share a fit."""

    def __len__(self) -> int: ...

    def views(self, fitted: Any, test: Any, train: Any) -> list[View | Exception]:
        """Return the fitted model as each candidate has it, or the error of its own fit."""
        ...


@dataclass(frozen=True)
class FoldFit:
    """The fits of candidates on folds: what is the same for all of them."""

    estimator: Any
    X: Any
    y: Any
    fit_params: Mapping[str, Any]
    score_params: Mapping[str, Any]
    scoring: FoldScoring
    train_scores: bool
    #: how models answer for their test rows; None if no answers are kept
    answering: Answering | None

    def results(self, params: Mapping[str, Any], split: Split, sweep: Sweep | None) -> list[FoldResult]:
        """Fit a candidate on the training rows, and return its result, or those of the candidates in a sweep."""
        train, test = (rows_of(self.X, rows) for rows in split)
        fit_params = check_method_params(self.X, params=self.fit_params, indices=train)
        model = clone(self.estimator).set_params(**clone(dict(sorted(params.items())), safe=False))
        began = time.perf_counter()
        X_train, y_train = safe_split(model, self.X, self.y, train)
        X_test, y_test = safe_split(model, self.X, self.y, test, train)
        with untold():
            try:
                model.fit(X_train, **fit_params) if y_train is None else model.fit(X_train, y_train, **fit_params)
            except Exception as error:  # a user's estimator may raise any error
                return [_failed_fit(error, began)] * (1 if sweep is None else len(sweep))
            share = 1 if sweep is None else len(sweep)
            fit_time = (time.perf_counter() - began) / share
            train_rows = X_train if self.train_scores else None
            try:
                alone = [View(model, X_test, train_rows, remembers=self.answering is not None)]
                views = alone if sweep is None else sweep.views(model, X_test, train_rows)
            except Exception as error:  # of a transformer of the test rows
                return [FoldResult(fit_time, 0.0, self.scoring.none(error), failure=_failure(error))] * share
            return [
                _failed_fit(view, began)
                if isinstance(view, Exception)
                else self._result(view, fit_time, (train, test), y_train, y_test)
                for view in views
            ]

    def _result(self, view: View, fit_time: float, split: Split, y_train: Any, y_test: Any) -> FoldResult:
        params, of_train = (check_method_params(self.X, params=self.score_params, indices=rows) for rows in reversed(split))
        began = time.perf_counter()
        test = view.scores(self.scoring, "test", y_test, params)
        score_time = time.perf_counter() - began
        train = view.scores(self.scoring, "train", y_train, of_train) if self.train_scores else None
        error = test.error or (None if train is None else train.error)
        tested = None if self.answering is None or error is not None else view.tested(self.answering)
        failure = None if error is None else _failure(error)
        test, train = replace(test, error=None), train and replace(train, error=None)  # errors may not be pickled
        return FoldResult(fit_time, score_time, test, train, tested, failure)


def _failed_fit(error: Exception, began: float) -> FoldResult:
    return FoldResult(time.perf_counter() - began, failure=_failure(error))


def _failure(error: Exception) -> Outcome:
    return replace(failed_by(error), reason=f"{type(error).__name__}: {one_line(str(error))[:500]}")


#: parameters of a candidate, the rows of a fold, and the candidates that share the fit
Task = tuple[Mapping[str, Any], Split, Sweep | None]


def fit_folds(fit: FoldFit, tasks: Iterable[Task], n_jobs: Any, pre_dispatch: Any, raises: bool) -> list[list[FoldResult]]:
    """Return the results of fits in the order given; with `raises` fits one after the other end at the first error."""
    found: list[list[FoldResult]] = []
    if joblib.effective_n_jobs(n_jobs) == 1:
        for task in tasks:
            found.append(fit.results(*task))
            failure = found[-1][0].failure
            if raises and failure is not None and failure.error is not None:
                raise failure.error
        return found
    with interrupts_kept_from_workers():
        parallel = Parallel(n_jobs=n_jobs, pre_dispatch=pre_dispatch)
        return list(parallel(delayed(_results)(fit, *task) for task in tasks))


def _results(fit: FoldFit, *task: Any) -> list[FoldResult]:
    return fit.results(*task)


def times_of(folds: Sequence[tuple[float, float]]) -> dict[str, float]:
    """Return means and standard deviations of the times of fits and scores, as in `cv_results_`."""
    found: dict[str, float] = {}
    for name, times in zip(("fit_time", "score_time"), zip(*folds, strict=True), strict=True):
        found |= {f"mean_{name}": float(np.mean(times)), f"std_{name}": float(np.std(times))}
    return found

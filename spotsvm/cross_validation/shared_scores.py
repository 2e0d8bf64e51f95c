"""Scores of candidates from what their machines answer, as scikit-learn's scorers give them."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import accuracy_score, r2_score

from spotsvm.cross_validation.fold_data import Split, take
from spotsvm.cross_validation.machines import NotSharedError
from spotsvm.cross_validation.shared_folds import FoldAnswer, SharedFolds
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.one_vs_one import chosen_classes, decision_values


def ranks(scorer: Any) -> bool:
    """Return whether a scorer uses more of a decision than the class it stands for."""
    return not _passes_on(scorer) and getattr(scorer, "_response_method", None) != "predict"


def is_own_score(scorer: Any, regression: bool) -> bool:
    """Return whether a scorer gives what the estimator's own `score` does: accuracy, or R^2."""
    own = r2_score if regression else accuracy_score
    named = getattr(scorer, "_score_func", None) is own and getattr(scorer, "_sign", 0) == 1 and not scorer._kwargs
    return _passes_on(scorer) or (named and not ranks(scorer))


def _passes_on(scorer: Any) -> bool:
    """Check whether a scorer is the estimator's own `score`."""
    return type(scorer).__name__ == "_PassthroughScorer"


def can_share(scorer: Any) -> bool:
    """Return whether a scorer is from `make_scorer`, or the estimator's own: these use only its answers."""
    return type(scorer).__module__.startswith("sklearn.metrics.")


class SharedScores:
    """Scores of candidates from shared work; `train` is whether to score the training rows."""

    def __init__(self, folds: SharedFolds, y: Any, splits: Sequence[Split], scorers: Mapping[str, Any], train: bool):
        self.folds, self._scorers, self._splits = folds, scorers, list(splits)
        self._plain = {name: is_own_score(scorer, folds.regression) for name, scorer in scorers.items()}
        # stand-ins answer for one object and no other: the rows' numbers serve as well as the rows
        self._test = [_Rows(rows, take(y, rows)) for _, rows in self._splits]
        self._train = [_Rows(rows, take(y, rows)) for rows, _ in self._splits] if train else []

    def score(self, params: dict[str, Any]) -> dict[str, float]:
        """Return the scores of one candidate as in FoldScores; NotSharedError if scikit-learn has to score it."""
        numbers: dict[str, float] = {}
        fit_times, score_times = [], []
        began = time.perf_counter()
        for k, answer in enumerate(self.folds.answers(params)):
            fit_times.append(time.perf_counter() - began)
            began = time.perf_counter()
            self._score_rows(numbers, f"split{k}_test_", answer, self._test[k])
            score_times.append(time.perf_counter() - began)
            if self._train:
                self._score_rows(numbers, f"split{k}_train_", answer, self._train[k])
            began = time.perf_counter()
        for name, times in (("fit_time", fit_times), ("score_time", score_times)):
            mean = sum(times) / len(times)
            spread = math.sqrt(sum((t - mean) ** 2 for t in times) / len(times))
            numbers[f"mean_{name}"], numbers[f"std_{name}"] = mean, spread
        return numbers

    def test_answers(self, params: dict[str, Any]) -> list[Floats]:
        """Return what the machine of each fold answers for its test rows: decisions, or predictions in regression.

        NotSharedError if scikit-learn has to answer, or decisions are for pairs of classes.
        """
        found = []
        for answer, (_, test) in zip(self.folds.answers(params), self._splits, strict=True):
            decisions = answer.decisions[test]
            if answer.classes is None:
                found.append(decisions)
            elif len(answer.classes) > 2 and answer.shape == "ovo":  # noqa: PLR2004
                raise NotSharedError("decisions for pairs of classes have no arg max")
            else:
                values = decision_values(decisions, len(answer.classes), answer.shape)
                found.append(values.reshape(len(test), -1))
        return found

    def _score_rows(self, numbers: dict[str, float], prefix: str, answer: FoldAnswer, asked: _Rows) -> None:
        decisions = answer.decisions[asked.rows]
        stand_in: Any = None
        for name, scorer in self._scorers.items():
            try:
                if self._plain[name]:
                    score = own_score(answer, decisions, asked.plain)
                else:
                    if stand_in is None:
                        kind: Any = _RegressorStandIn if answer.classes is None else _ClassifierStandIn
                        stand_in = kind(asked.rows, answer, decisions)
                    score = float(scorer(stand_in, asked.rows, asked.y))
            except NotSharedError:
                raise
            except Exception as error:  # a scorer that wants more than answers: scikit-learn's own way gives its result
                raise NotSharedError(f"the scorer {name} cannot use answers alone: {error}") from error
            if not math.isfinite(score):
                raise NotSharedError(f"the scorer {name} gives {score}")
            numbers[prefix + name] = score


class _Rows(NamedTuple):
    """Some rows, and their targets as they were given."""

    rows: NDArray[np.intp]
    y: Any

    @property
    def plain(self) -> NDArray[Any]:
        """The targets as an array."""
        return np.asarray(self.y)


def own_score(answer: FoldAnswer, decisions: Floats, y: NDArray[Any]) -> float:
    """Return the accuracy, or R^2, as scikit-learn's `score` of a machine does, from its decisions for the rows of y."""
    if answer.classes is not None:
        chosen = chosen_classes(decisions, len(answer.classes), answer.break_ties)
        return int(np.count_nonzero(answer.classes[chosen] == y)) / len(y)
    column = y[:, None].astype(np.float64)  # of a matrix with one column sums are as in scikit-learn, to the last digit
    unexplained = ((column - decisions) ** 2).sum(axis=0, dtype=np.float64)[0]
    all_there_is = ((column - np.average(column, axis=0)) ** 2).sum(axis=0, dtype=np.float64)[0]
    if len(y) < 2 or all_there_is == 0.0:
        return float(r2_score(y, decisions[:, 0]))
    return float(1 - unexplained / all_there_is)


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

    def __init__(self, X: Any, answer: FoldAnswer, decisions: Floats):
        self.X = X
        self._predictions = decisions[:, 0]

    def predict(self, X: Any) -> Floats:
        _check_same(X, self.X)
        return self._predictions


def _check_same(X: Any, known: Any) -> None:
    if X is not known:
        raise NotSharedError("asked for rows that are not those of the fold")

"""Scores of machines on the validation part by a scorer of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer, get_scorer_names

from spotsvm.common.compat import scorer_parts
from spotsvm.common.text import did_you_mean
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats, Integers
from spotsvm.solvers.dual.problem.one_vs_one import decision_values


class Answered(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose answers for the validation part are known."""

    def __init__(self, classes: Any = None, decisions: Any = None, predicted: Any = None):
        self.classes, self.decisions, self.predicted = classes, decisions, predicted
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Self:
        """Return itself: there is nothing to fit."""
        return self

    def decision_function(self, X: Any) -> Any:
        """Return the decisions of the validation part."""
        return self.decisions

    def predict(self, X: Any) -> Any:
        """Return the classes of the validation part."""
        return self.predicted


def check_scoring(scoring: Any) -> Any:
    """Return a scorer, None for accuracy, or raise ArgumentError."""
    if scoring is None or (isinstance(scoring, str) and scoring == "accuracy"):
        return None
    if callable(scoring):
        scorer = scoring
    elif isinstance(scoring, str) and scoring in get_scorer_names():
        scorer = get_scorer(scoring)
    else:
        hint = did_you_mean(scoring, get_scorer_names()) if isinstance(scoring, str) else ""
        raise ArgumentError(f"scoring={scoring!r}; use the name of a scorer of scikit-learn, or a scorer{hint}")
    parts = scorer_parts(scorer)
    if parts is not None and not {"predict", "decision_function"} & {*parts.methods}:
        raise ArgumentError(
            f"scoring={scoring!r} needs {' or '.join(parts.methods)}, which the SVMs do not have; use a score of predicted "
            "classes or of decisions, as 'balanced_accuracy' or 'roc_auc'"
        )
    return scorer


def judge_of(scorer: Any, X: Floats, code: Integers, classes: NDArray[Any]) -> Callable[[Floats, Integers, Any], float]:
    """Return a function of the pairs' decisions, the chosen classes and which rows they were chosen for, which scores them.

    A row without a choice counts as of another class than its own.
    """
    y, n = classes[code], len(classes)

    def judge(decisions: Floats, chosen: Integers, said: Any) -> float:
        predicted = classes[np.where(said, chosen, (code + 1) % n)]
        value = scorer(Answered(classes, decision_values(decisions, n, "ovr"), predicted), X, y)
        return float(value) if np.isfinite(value) else -np.inf

    return judge

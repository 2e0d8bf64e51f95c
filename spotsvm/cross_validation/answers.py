"""Stand-ins for fitted estimators that know their answers for one set of rows only, as scorers need them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from spotsvm.estimators.dual.one_vs_one import chosen_classes, decision_values

Floats = NDArray[np.float64]


class NotSharedError(Exception):
    """The work of scoring a candidate cannot be shared, so that scikit-learn has to score it."""


class ClassifierStandIn(ClassifierMixin, BaseEstimator):
    """A fitted classifier that knows its decisions for the rows `X` only.

    `X` is compared by identity. `decisions` has one column per pair of classes, positive for the second of two classes, and for
    the first of a pair of several. `shape` and `break_ties` are the decision_function_shape and break_ties of the machine.
    """

    def __init__(self, X: Any, classes: NDArray[Any], decisions: Floats, shape: str = "ovr", break_ties: bool = False):
        self.X = X
        self.classes_ = classes
        self._decisions = decisions
        self._shape, self._break_ties = shape, break_ties

    def decision_function(self, X: Any) -> Floats:
        """Return the decision function."""
        _check_same(X, self.X)
        return decision_values(self._decisions, len(self.classes_), self._shape)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the classes."""
        _check_same(X, self.X)
        chosen = chosen_classes(self._decisions, len(self.classes_), self._break_ties)
        predicted: NDArray[Any] = self.classes_[chosen]
        return predicted


class RegressorStandIn(RegressorMixin, BaseEstimator):
    """A fitted regressor that knows its predictions for the rows `X`, compared by identity, only."""

    def __init__(self, X: Any, predictions: Floats):
        self.X = X
        self._predictions = predictions

    def predict(self, X: Any) -> Floats:
        """Return the predictions."""
        _check_same(X, self.X)
        return self._predictions


def _check_same(X: Any, known: Any) -> None:
    if X is not known:
        raise NotSharedError("asked for rows that are not those of the fold")

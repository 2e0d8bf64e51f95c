"""Classifiers whose decisions are those of a support vector machine that they have trained on some of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.one_vs_one import chosen_classes, decision_values

Floats = NDArray[np.float64]


class DelegatedSVC(ClassifierMixin, BaseEstimator):
    """Base class: `fit` sets `classes_` and `machine_`, an ExactSVC or SVC with decision_function_shape="ovo"."""

    decision_function_shape: Any
    machine_: Any

    def decision_function(self, X: Any) -> Floats:
        """Compute the decision function.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Of two classes one value, positive for the second class; of several, according to `decision_function_shape`, one for
            each class or for each pair of classes, as in SVC.
        """
        decisions = self._pair_decisions(X)
        return decision_values(decisions, len(self.classes_), self.decision_function_shape)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes; ties of votes are decided by the decision function, for small training sets have many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples,)
            The classes.
        """
        decisions = self._pair_decisions(X)
        predicted: NDArray[Any] = self.classes_[chosen_classes(decisions, len(self.classes_), True)]
        return predicted

    @property
    def support_vectors_(self) -> Floats:
        """The support vectors, (n_support, n_features)."""
        vectors: Floats = self._of_machine("support_vectors_")
        return vectors

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """Their number in each class."""
        counts: NDArray[np.int32] = self._of_machine("n_support_")
        return counts

    @property
    def dual_coef_(self) -> Floats:
        """Their coefficients, in SVC's layout."""
        coefficients: Floats = self._of_machine("dual_coef_")
        return coefficients

    @property
    def intercept_(self) -> Floats:
        """The thresholds, one for each pair of classes."""
        thresholds: Floats = self._of_machine("intercept_")
        return thresholds

    def _of_machine(self, name: str) -> Any:
        if "machine_" not in vars(self):
            raise AttributeError(f"{name} is there after fit")
        return getattr(self.machine_, name)

    def _pair_decisions(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        decisions: Floats = self.machine_.decision_function(rows).reshape(len(rows), -1)
        return decisions

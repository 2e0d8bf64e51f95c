"""The regressors over the exact solver of the dual, with the attributes of scikit-learn's SVR."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from spotsvm.common.checks import check_positive
from spotsvm.common.targets import as_numbers, check_sample_weight
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.estimators.dual.kernel_machine import (
    KernelMachine,
    check_bounds_finite,
    check_C,
    check_cache_size,
    check_max_iter,
    check_square,
)
from spotsvm.estimators.dual.merged_rows import MergedRows
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.dual.problem.result import DualResult
from spotsvm.solvers.dual.regression import solve_dual_regression


class DualSVR(RegressorMixin, KernelMachine):
    """Base class of ExactSVR, MultiKernelSVR and EvolvedKernelSVR."""

    C: Any
    epsilon: Any
    tol: Any
    max_iter: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; with kernel="precomputed" the kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Targets, finite numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, 0 or more. A row of weight 2 counts as two rows, one of weight 0 as none; only for gamma="scale" each
            row counts once, as in scikit-learn.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter or a weight is invalid; a ValueError.
        SolverError
            If the kernel raises it; a ValueError.

        See Also
        --------
        predict : The targets of new rows.
        """
        y = as_numbers(y, type(self).__name__)
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        target = y.astype(np.float64)
        C, epsilon = self._cost_and_width()
        tol, max_iter = check_positive("tol", self.tol), check_max_iter(self.max_iter)
        check_cache_size(self.cache_size)
        check_square(X, self._pairwise_data)
        weights = check_sample_weight(sample_weight, len(X))
        check_bounds_finite(C, weights)
        rows = MergedRows.of(X, target, weights, merge=not self._pairwise_data)
        self._set_kernel(X)
        K = self._gram(X, rows.first)
        result = self._solve(K, target[rows.first], C * rows.group_weights, epsilon, tol, max_iter)
        signed = rows.expand(result.alpha, len(X))
        support = np.flatnonzero(signed)
        self._keep_support(X, support)
        self.n_support_ = np.array([len(support)], dtype=np.int32)
        self.dual_coef_ = signed[None, support]
        self.intercept_ = np.array([result.bias])
        self.n_iter_ = int(result.iterations)
        self.dual_objective_ = float(result.objective)
        self.fit_status_ = int(not result.converged)
        self._warn_if_stopped_early([] if result.converged else [result.message])
        return self

    def predict(self, X: Any) -> Floats:
        """Predict targets.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data; with kernel="precomputed" its kernel values with the training data, (n_samples, n_training).

        Returns
        -------
        ndarray of shape (n_samples,)
            The targets.

        See Also
        --------
        fit : Trains the model.
        """
        rows = self._check_new_rows(X)
        predicted = np.empty(len(rows))
        for block, values in self._support_columns(rows):
            predicted[block] = values @ self.dual_coef_[0] + self.intercept_[0]
        return predicted

    def _validate_params(self) -> None:
        """Check the parameters without data; scikit-learn uses this name."""
        self._cost_and_width()

    def _cost_and_width(self) -> tuple[float, float]:
        epsilon = as_float(self.epsilon)
        if not 0 <= epsilon < np.inf:
            raise ArgumentError(f"epsilon={self.epsilon!r}; use a finite number, 0 or more")
        return check_C(self.C), epsilon

    def _solve(self, K: Floats, y: Floats, bounds: Floats, epsilon: float, tol: float, max_iter: int | None) -> DualResult:
        return solve_dual_regression(K, y, bounds, epsilon, tol=tol, max_iter=max_iter)

    def _linear_coefficients(self) -> Floats:
        return np.array(self.dual_coef_ @ self.support_vectors_)

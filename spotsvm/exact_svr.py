"""ExactSVR: support vector regression over the exact solver of the dual."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from solvers.dual.regression import solve_dual_regression
from spotsvm.kernel_machine import KernelMachine
from spotsvm.merged_rows import MergedRows
from spotsvm.svm_arguments import (
    check_bounds_finite,
    check_C,
    check_cache_size,
    check_max_iter,
    check_not_negative,
    check_positive,
    check_sample_weight,
)

Floats = NDArray[np.float64]


class ExactSVR(RegressorMixin, KernelMachine):
    """Epsilon-support vector regression, solved exactly on the whole kernel matrix in float64.

    Parameters and attributes are those of scikit-learn's SVR, and so are the results, within the tolerance; see `ExactSVC`
    for what is different.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        As in `ExactSVC`.
    degree, gamma, coef0, sigma
        Parameters of the kernel, as in `ExactSVC`.
    tol : float, default=1e-3
        Largest violation of the optimality conditions at which the solver stops, positive.
    C : float, default=1.0
        Cost of errors, positive and finite.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing, 0 or more.
    cache_size : float, default=200
        Megabytes that blocks of kernel values may take, beside the kernel matrix.
    max_iter : int, default=-1
        Cap on the solver's iterations, 1 or more; -1 for one that grows with the data. At the cap a ConvergenceWarning is given.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, n_iter_, fit_status_, n_features_in_, \
feature_names_in_
        As SVR has them.
    dual_objective_ : float
        The dual objective reached; it is maximised.
    kernel_ : solvers.kernels.Kernel
        The kernel, its gamma a number.

    Raises
    ------
    ArgumentError, SolverError
        In `fit`, if a parameter is not as above; both are ValueErrors.

    References
    ----------
    Chang, Lin 2011, "LIBSVM: A Library for Support Vector Machines", section 2.4.

    Examples
    --------
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> machine = ExactSVR(C=10.0, epsilon=0.01).fit(X, np.sin(X[:, 0]))
    >>> machine.predict([[1.5]]).round(1)
    array([1.])
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        cache_size: float = 200,
        max_iter: int = -1,
        sigma: float | None = None,
    ):
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.sigma = sigma

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to training data.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data; with kernel="precomputed" the kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Targets, finite numbers.
        sample_weight : array-like of shape (n_samples,), optional
            Factors of C, 0 or more. A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        estimator
            Itself.

        Raises
        ------
        ArgumentError
            If a parameter or a weight makes no sense; a ValueError.
        SolverError
            If the kernel does; a ValueError.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", y_numeric=True)
        target = y.astype(np.float64)
        C, epsilon = check_C(self.C), check_not_negative("epsilon", self.epsilon)
        tol, max_iter = check_positive("tol", self.tol), check_max_iter(self.max_iter)
        check_cache_size(self.cache_size)
        self._check_training_matrix(X)
        weights = check_sample_weight(sample_weight, len(X))
        check_bounds_finite(C, weights)
        rows = MergedRows.of(X, target, weights, merge=not self._pairwise_data)
        self.kernel_ = self._make_kernel(X[rows.first], rows.group_weights)
        K = self._gram(X, rows.first)
        result = solve_dual_regression(K, target[rows.first], C * rows.group_weights, epsilon, tol=tol, max_iter=max_iter)
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
        """
        rows = self._check_new_rows(X)
        predicted = np.empty(len(rows))
        for block, values in self._support_columns(rows):
            predicted[block] = values @ self.dual_coef_[0] + self.intercept_[0]
        return predicted

    def _linear_coefficients(self) -> Floats:
        return np.array(self.dual_coef_ @ self.support_vectors_)

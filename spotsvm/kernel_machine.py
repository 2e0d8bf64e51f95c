"""What classifiers and regressors over a kernel share: the kernel, its matrix in training, and its values in prediction."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from solvers.kernels import gram_matrix, kernel_blocks, make_kernel
from solvers.kernels.kernel import check_kernel_name
from spotsvm.errors import ArgumentError
from spotsvm.svm_arguments import check_cache_size

Floats = NDArray[np.float64]


class KernelMachine(BaseEstimator, ABC):
    """Base class of the support vector machines here; their parameters for the kernel are SVC's, and sigma."""

    kernel: Any
    degree: Any
    gamma: Any
    coef0: Any
    sigma: Any
    cache_size: Any
    #: from the warning of an early stop up to the caller of `fit`
    _calls_to_warn = 3

    @property
    def _pairwise_data(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._pairwise_data
        return tags

    @property
    def coef_(self) -> Floats:
        """Weights of the features, (n_pairs or 1, n_features), with the kernel "linear"."""
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError(f"coef_ is there only with kernel='linear'; the kernel is {self.kernel!r}")
        check_is_fitted(self)
        coef = self._linear_coefficients()
        coef.flags.writeable = False
        return coef

    @abstractmethod
    def _linear_coefficients(self) -> Floats:
        """Give the weights of the features, with the kernel "linear"."""

    def _check_training_matrix(self, X: Floats) -> None:
        if self._pairwise_data and X.shape[0] != X.shape[1]:
            raise ArgumentError(
                f"kernel='precomputed' and X has shape {X.shape}; the kernel matrix of the training data is square, (n, n)"
            )

    def _set_kernel(self, X: Floats) -> None:
        """Set what the kernel is for some training data."""
        check_kernel_name(self.kernel)
        self.kernel_ = make_kernel(self.kernel, X, gamma=self.gamma, coef0=self.coef0, degree=self.degree, sigma=self.sigma)

    @property
    def _one_kernel(self) -> bool:
        """Whether all problems have the same kernel."""
        return True

    def _gram(self, X: Floats, rows: NDArray[np.intp], problem: int = 0) -> Floats:
        """Compute the kernel matrix of some rows of the training data, for the problem with that number."""
        if self._pairwise_data:
            return X if np.array_equal(rows, np.arange(len(X))) else X[np.ix_(rows, rows)]
        matrix: Floats = gram_matrix(self.kernel_, X[rows], max_bytes=check_cache_size(self.cache_size))
        return matrix

    def _keep_support(self, X: Floats, support: NDArray[np.intp]) -> None:
        self.support_ = support.astype(np.int32)
        self.support_vectors_ = np.empty((0, 0)) if self._pairwise_data else X[support]

    def _support_columns(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Compute kernel values of new rows with the support vectors, and nothing else, by blocks of rows."""
        yield from self._columns(X, self.support_, self.support_vectors_)

    def _columns(self, X: Floats, rows: NDArray[np.integer], vectors: Floats) -> Iterator[tuple[slice, Floats]]:
        """Compute kernel values of new rows with some rows of the training data, given by numbers and as they are."""
        max_bytes = check_cache_size(self.cache_size)
        if self._pairwise_data:
            yield from kernel_blocks(self.kernel_, X[:, rows], vectors, max_bytes=max_bytes)
        elif len(rows):
            yield from kernel_blocks(self.kernel_, X, vectors, max_bytes=max_bytes)
        else:
            yield slice(0, len(X)), np.empty((len(X), 0))

    def _check_new_rows(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return rows

    def _warn_if_stopped_early(self, messages: list[str]) -> None:
        if messages:
            warnings.warn(
                f"The solver stopped early: {messages[0]}. Scale the data, as with StandardScaler, or raise max_iter.",
                ConvergenceWarning,
                stacklevel=self._calls_to_warn,
            )

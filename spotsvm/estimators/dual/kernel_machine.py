"""Base class of classifiers and regressors over a kernel: its matrix in training, its values in prediction, and checks."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_count, check_positive
from spotsvm.errors import ArgumentError
from spotsvm.estimators import Floats
from spotsvm.solvers.kernels import gram_matrix, kernel_blocks, make_kernel
from spotsvm.solvers.kernels.functions.kernel import check_kernel_name


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
        """Weights of the features, (n_pairs or 1, n_features), with the kernel "linear".

        See Also
        --------
        fit : Computes them.
        """
        if not (isinstance(self.kernel, str) and self.kernel == "linear"):
            raise AttributeError(f"coef_ exists only with kernel='linear'; the kernel is {self.kernel!r}")
        check_is_fitted(self)
        coef = self._linear_coefficients()
        coef.flags.writeable = False
        return coef

    @abstractmethod
    def _linear_coefficients(self) -> Floats:
        """Return the weights of the features, with the kernel "linear"."""

    def _set_kernel(self, X: Floats) -> None:
        check_kernel_name(self.kernel)
        self.kernel_ = make_kernel(self.kernel, X, gamma=self.gamma, coef0=self.coef0, degree=self.degree, sigma=self.sigma)

    @property
    def _one_kernel(self) -> bool:
        """Whether all problems have the same kernel."""
        return True

    def _gram(self, X: Floats, rows: NDArray[np.intp], problem: int = 0) -> Floats:
        """Compute the kernel matrix of some rows of the training data, for the problem with that index."""
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
        """Compute kernel values of new rows with some rows of the training data, given by indices and as arrays."""
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


def check_square(X: Floats, precomputed: bool) -> None:
    """Raise ArgumentError if a precomputed kernel matrix of training data is not square."""
    if precomputed and X.shape[0] != X.shape[1]:
        raise ArgumentError(
            f"kernel='precomputed' and X has shape {X.shape}; the kernel matrix of the training data is square, (n, n)"
        )


def check_C(value: Any) -> float:
    """Return C as a float, or raise ArgumentError."""
    return check_positive("C", value, " (a large one, as 1e6, for a hard margin)")


def check_max_iter(value: Any) -> int | None:
    """Return the cap on iterations (None: the solver's own), or raise ArgumentError."""
    if isinstance(value, Integral) and value == -1:
        return None
    return check_count("max_iter", value, after=", or -1 for a cap that grows with the data")


def check_cache_size(value: Any) -> int:
    """Convert megabytes to bytes, or raise ArgumentError."""
    size = check_positive("cache_size", value, " of megabytes") * 2**20
    if size == np.inf:
        raise ArgumentError(f"cache_size={value!r}; that many megabytes overflow; use a smaller number")
    return int(size)


def check_bounds_finite(C: float, weights: Floats) -> None:
    """Raise ArgumentError if C times a weight overflows."""
    with np.errstate(over="ignore"):
        if not np.isfinite(C * weights.sum()):
            raise ArgumentError(f"C={C!r} times the weights, of {weights.sum():.3g} in all, overflows; use smaller ones")

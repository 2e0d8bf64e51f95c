"""The kernel matrices of a data set in single precision, one at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.functions.kernel import Kernel
from spotsvm.solvers.kernels.matrices.blocks import MAX_BYTES, fill_symmetric
from spotsvm.solvers.kernels.matrices.gram import base_values, check_rows, gram_matrix

Single = NDArray[np.float32]

#: up to this typical exponent kernel values are closer to 1 than to 0
NEAR = 0.7
_SMALLEST = 1e-30


class SingleGram:
    """Kernel matrices in single precision; squared distances are computed once for all gammas.

    For small gamma the Gaussian kernel is returned minus 1, exp(-gamma d^2) - 1, so that single precision keeps the small
    differences. The linear kernel is that of the centred rows. Under sum(beta) = 0 both changes affect only the bias.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers; with the kernel "precomputed" the kernel matrix itself.
    keep : bool, default=True
        Whether to keep the squared distances, 4 n^2 bytes.
    """

    def __init__(self, X: NDArray[np.float64], keep: bool = True):
        self.X = check_rows(X)
        self._keep = keep
        self._distances: Single | None = None
        self._typical = 0.0  # the median of the squared distances
        self._matrix: Single | None = None
        self._kernel: Kernel | None = None
        self._offset = 0.0

    def without_matrices(self) -> SingleGram:
        """Return a new object for the same rows, with nothing computed."""
        return SingleGram(self.X, self._keep)

    @staticmethod
    def bytes_for(n: int) -> int:
        """Return the memory that n rows need: distances and one kernel matrix."""
        return 8 * n * n

    def matrix(self, kernel: Kernel) -> tuple[Single, float]:
        """Return a kernel matrix minus a constant, and the constant; the next call overwrites the matrix.

        Parameters
        ----------
        kernel : Kernel
            The kernel function.

        Returns
        -------
        ndarray of shape (n, n), float
            K - constant, and the constant.

        Raises
        ------
        SolverError
            If distances or kernel values do not fit into single precision.
        """
        if kernel != self._kernel or self._matrix is None:
            self._kernel, self._offset = None, 0.0
            if kernel.name == "rbf":
                self._fill_gaussian(kernel)
            else:
                rows = self.X - self.X.mean(axis=0) if kernel.name == "linear" else self.X
                with np.errstate(over="ignore"):
                    matrix = gram_matrix(kernel, rows, dtype=np.float32)
                if not np.isfinite(matrix).all():
                    raise SolverError(f"kernel: {kernel.label} gives values beyond single precision; scale the data")
                self._matrix = np.require(matrix, requirements=["C", "W"])
            self._kernel = kernel
        assert self._matrix is not None
        return self._matrix, self._offset

    def _fill_gaussian(self, kernel: Kernel) -> None:
        from spotsvm.solvers.kernels.matrices._gaussian_kernels import fill_gaussian, fill_gaussian_less_one

        n = len(self.X)
        distances = self._distances
        if distances is None:
            distances = np.empty((n, n), np.float32)
            with np.errstate(over="ignore"):  # reported below
                fill_symmetric(distances, base_values(kernel, self.X, self.X), MAX_BYTES)
            some = distances[:: max(n // 64, 1)]
            self._typical = float(np.median(some))
            check_distances(distances, self.X)
        if self._keep:
            self._distances = distances
        if self._matrix is None:
            self._matrix = np.empty((n, n), np.float32)
        if kernel.gamma * self._typical < NEAR:
            fill_gaussian_less_one(distances, kernel.gamma, self._matrix)
            self._offset = 1.0
        else:
            fill_gaussian(distances, kernel.gamma, self._matrix)


def check_distances(distances: Single, X: NDArray[np.float64]) -> None:
    """Raise SolverError if squared distances between the rows of X do not fit into single precision."""
    largest = float(distances.max())
    if not np.isfinite(largest) or (largest < _SMALLEST and bool(np.ptp(X, axis=0).any())):
        raise SolverError(f"X has squared distances up to {largest:.3g}, beyond single precision; scale the data")

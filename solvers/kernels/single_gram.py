"""The kernel matrices of one data set in single precision, one at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.errors import SolverError
from solvers.kernels.blocks import MAX_BYTES, fill_symmetric
from solvers.kernels.gram import base_values, check_rows, gram_matrix
from solvers.kernels.kernel import Kernel

Single = NDArray[np.float32]


class SingleGram:
    """Kernel matrices in single precision; squared distances are computed once for all gammas.

    The Gaussian kernel is given less one, exp(-gamma d^2) - 1: where gamma is small, single precision then holds what differs.
    Under sum(beta) = 0 a constant changes nothing.

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
        self._matrix: Single | None = None
        self._kernel: Kernel | None = None

    @staticmethod
    def bytes_for(n: int) -> int:
        """Give the memory that n rows need: distances and one kernel matrix."""
        return 8 * n * n

    def matrix(self, kernel: Kernel) -> tuple[Single, float]:
        """Give a kernel matrix less a constant, and the constant; it is overwritten by the next one.

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
            If kernel values overflow.
        """
        offset = 1.0 if kernel.name == "rbf" else 0.0
        if kernel != self._kernel or self._matrix is None:
            self._kernel = None
            if kernel.name == "rbf":
                self._fill_gaussian(kernel)
            else:
                with np.errstate(over="ignore"):
                    matrix = gram_matrix(kernel, self.X, dtype=np.float32)
                if not np.isfinite(matrix).all():
                    raise SolverError(f"kernel: {kernel.label} gives values beyond single precision; scale the data")
                self._matrix = np.require(matrix, requirements=["C", "W"])
            self._kernel = kernel
        assert self._matrix is not None
        return self._matrix, offset

    def _fill_gaussian(self, kernel: Kernel) -> None:
        from solvers.kernels._gaussian_kernels import fill_gaussian

        n = len(self.X)
        distances = self._distances
        if distances is None:
            distances = np.empty((n, n), np.float32)
            with np.errstate(over="ignore"):  # an infinite distance is one
                fill_symmetric(distances, base_values(kernel, self.X, self.X), MAX_BYTES)
        if self._keep:
            self._distances = distances
        if self._matrix is None:
            self._matrix = np.empty((n, n), np.float32)
        if kernel.gamma == 0.0:
            self._matrix[:] = 0.0  # also where a distance is infinite
        else:
            fill_gaussian(distances, kernel.gamma, self._matrix)

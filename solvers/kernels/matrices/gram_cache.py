"""A matrix of squared distances and a matrix of inner products, shared by all kernels on a data set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.functions.kernel import Base, Kernel
from spotsvm.solvers.kernels.matrices.gram import (
    MAX_BYTES,
    base_values,
    check_rows,
    fill_symmetric,
    finite_values,
    gram_matrix,
    kernel_matrix,
)

Floats = NDArray[np.float64]
Matrix = NDArray[Any]


class GramCache:
    """The kernel matrices of a data set, from squared distances and inner products that are computed once and cached.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Finite numbers. With the kernel "precomputed" the kernel matrix itself, (n, n).
    max_bytes : int, default=200 MiB
        Memory of the cache: 8 n^2 bytes for squared distances and 8 n^2 for inner products. Values that do not fit are not
        cached; the matrices are then computed in blocks of rows.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The data.
    kept_bytes : int
        Memory that is in use.

    Examples
    --------
    >>> cache = GramCache([[0.0], [1.0], [3.0]])
    >>> cache.gram(Kernel("rbf", gamma=0.1))[0].round(3)
    array([1.   , 0.905, 0.407])
    >>> cache.gram(Kernel("rbf", gamma=1.0), dtype="float32")[0].round(3)
    array([1.   , 0.368, 0.   ], dtype=float32)
    >>> cache.kept_bytes
    72
    """

    def __init__(self, X: Any, max_bytes: int = MAX_BYTES):
        if not max_bytes >= 0:
            raise SolverError(f"max_bytes={max_bytes!r} is not a number of bytes; use 0 or more")
        self.X = check_rows(X)
        self.max_bytes = max_bytes
        self._kept: dict[Base, Floats] = {}

    @property
    def kept_bytes(self) -> int:
        """Memory that is in use."""
        return sum(matrix.nbytes for matrix in self._kept.values())

    def gram(self, kernel: Kernel, *, dtype: DTypeLike = np.float64) -> Matrix:
        """Compute the kernel matrix of all rows, bit-identical to `gram_matrix`.

        Parameters
        ----------
        kernel : Kernel
            The kernel function.
        dtype : dtype, default=float64
            Of the result: float64 or float32.

        Returns
        -------
        ndarray of shape (n, n)
            A new matrix; with the kernel "precomputed" X itself.

        Raises
        ------
        SolverError
            As `gram_matrix`.
        """
        base = self._base(kernel)
        if base is None:
            return gram_matrix(kernel, self.X, dtype=dtype, max_bytes=self.max_bytes)
        kept = base  # for the type checker, which does not narrow types inside a function
        result = np.empty(kept.shape, dtype=dtype)
        fill_symmetric(result, lambda b, c: finite_values(kernel.of(kept[b, c].copy()), kernel), self.max_bytes)
        return result

    def rows(self, kernel: Kernel, index: Any) -> Floats:
        """Compute some rows of the kernel matrix.

        Parameters
        ----------
        kernel : Kernel
            The kernel function.
        index : int array of shape (k,) or slice
            The rows.

        Raises
        ------
        SolverError
            As `gram_matrix`.
        """
        base = self._base(kernel)
        if base is None:
            return kernel_matrix(kernel, self.X[index], self.X, max_bytes=self.max_bytes)
        return finite_values(kernel.of(base[index].copy()), kernel)

    def _base(self, kernel: Kernel) -> Floats | None:
        """Return the cached base values of a kernel; None if the kernel has none or they do not fit."""
        if kernel.base in ("rows", "precomputed"):
            return None
        n = len(self.X)
        if kernel.base not in self._kept:
            if self.kept_bytes + 8 * n * n > self.max_bytes:
                return None
            matrix = np.empty((n, n))
            fill_symmetric(matrix, base_values(kernel, self.X, self.X), self.max_bytes)
            self._kept[kernel.base] = matrix
        return self._kept[kernel.base]

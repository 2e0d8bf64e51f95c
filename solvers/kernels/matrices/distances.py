"""Squared Euclidean distances and inner products between rows, by BLAS where that is faster and exact enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from spotsvm.solvers.kernels.matrices.blocks import fill_symmetric

Floats = NDArray[np.float64]
Rows = slice | NDArray[np.intp]

# below this many features, differences are as fast as a matrix product (measured at n = 1500)
_DIRECT_FEATURES = 4
#: up to this many features, differences in a compiled loop are faster for the rows of a single array (n = 64 to 1000)
COMPILED_FEATURES = 20
# a distance this small relative to the norms has lost three digits or more to cancellation, and is computed from differences
_CANCELLED = 1e-3


def squared_distances(X: Floats, Z: Floats | None = None) -> Floats:
    """Compute ||x - z||^2 for the rows of two arrays.

    The data are centred and multiplied by BLAS. Distances that lost too many digits to cancellation are recomputed from
    differences. All distances therefore have 12 correct digits, and are 0 for equal rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Finite numbers.
    Z : ndarray of shape (m, d), optional
        X by default; the result is then exactly symmetric.

    Returns
    -------
    ndarray of shape (n, m)
        Infinite where a distance overflows.

    Examples
    --------
    >>> squared_distances(np.array([[0.0], [3.0]]) + 1e8)
    array([[0., 9.],
           [9., 0.]])
    """
    if Z is None and X.shape[1] <= COMPILED_FEATURES:
        from spotsvm.solvers.kernels.matrices._column_kernels import fill_distances

        square = np.empty((len(X), len(X)))
        fill_distances(np.ascontiguousarray(X.T, dtype=np.float64), square)
        return square
    rows = DistanceRows.between(X, X if Z is None else Z)
    if Z is not None:
        return rows.block(slice(0, len(X)), slice(0, len(Z)))
    result = np.empty((len(X), len(X)))
    fill_symmetric(result, rows.block)
    return result


@dataclass(frozen=True)
class DistanceRows:
    """Two sets of rows, original and centred, from which any block of squared distances can be computed."""

    X: Floats
    Z: Floats
    centred_X: Floats
    centred_Z: Floats
    norms_X: Floats
    norms_Z: Floats

    @classmethod
    def between(cls, X: Floats, Z: Floats) -> DistanceRows:
        """Centre both sets at the mean of Z, the training data if the sets differ."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = Z.mean(axis=0) if len(Z) else np.zeros(X.shape[1])
            if not np.isfinite(mean).all():
                mean = np.zeros(X.shape[1])
            a = X - mean
            b = a if Z is X else Z - mean
            return cls(X, Z, a, b, np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b))

    def block(self, rows: Rows, columns: slice) -> Floats:
        """Compute a block; equal rows have distance 0."""
        a, b = self.X[rows], self.Z[columns]
        if not len(a) or not len(b):
            return np.empty((len(a), len(b)))
        with np.errstate(over="ignore", invalid="ignore"):
            values = None if a.shape[1] <= _DIRECT_FEATURES else self._by_products(rows, columns)
            return np.asarray(cdist(a, b, "sqeuclidean")) if values is None else values

    def _by_products(self, rows: Rows, columns: slice) -> Floats | None:
        """Compute a block from inner products; return None if too many distances lose their digits to cancellation."""
        norms = self.norms_X[rows, None] + self.norms_Z[columns]
        values: Floats = self.centred_X[rows] @ self.centred_Z[columns].T
        values *= -2.0
        values += norms
        norms *= _CANCELLED
        doubtful = ~(values > norms)  # also where an overflow gave nan
        count = int(np.count_nonzero(doubtful))
        if count * 4 > values.size:
            return None
        if count:
            _recompute(values, doubtful, self.X[rows], self.Z[columns])
        return values


def _recompute(values: Floats, doubtful: NDArray[np.bool_], a: Floats, b: Floats) -> None:
    at = np.flatnonzero(doubtful)
    step = max(1, 2**18 // a.shape[1])
    for start in range(0, len(at), step):
        i, j = np.divmod(at[start : start + step], values.shape[1])
        difference = a[i] - b[j]
        values[i, j] = np.einsum("ij,ij->i", difference, difference)

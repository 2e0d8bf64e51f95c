"""Matrices of kernels and combined kernels: on a set of rows or between two sets, whole, by blocks, or cached."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_floats
from spotsvm.solvers.kernels.functions.kernel import Base, Kernel
from spotsvm.solvers.kernels.functions.multi_kernel import BaseKernel, MultiKernel

Floats = NDArray[np.float64]
Block = Callable[[slice, slice], Floats]

#: Default memory of the blocks, in bytes, in addition to the result.
MAX_BYTES = 200 * 2**20
# fastest are blocks that stay in the processor's cache between the passes over them
SYMMETRIC_ROWS, RECTANGULAR_ROWS = 128, 512


def rows_within(max_bytes: int, columns: int) -> int:
    """Return how many rows of a block fit, at least one: a block needs three arrays of its size."""
    return max(1, int(max_bytes) // max(1, 24 * columns))


def row_blocks(n: int, size: int) -> Iterator[slice]:
    """Cut 0 .. n - 1 into slices of at most `size`."""
    for start in range(0, n, size):
        yield slice(start, min(n, start + size))


@lru_cache(maxsize=4)
def _below_diagonal(size: int) -> NDArray[np.bool_]:
    return np.tri(size, k=-1, dtype=bool)


def fill_symmetric(result: NDArray[np.floating], compute: Block, max_bytes: int = MAX_BYTES) -> None:
    """Fill a symmetric matrix from its blocks on and above the diagonal.

    `compute(rows, columns)` returns a block, which is then overwritten.
    """
    n = len(result)
    for block in row_blocks(n, min(SYMMETRIC_ROWS, rows_within(max_bytes, n))):
        values = compute(block, slice(block.start, n))
        size = block.stop - block.start
        square = values[:, :size]
        # a product of matrices need not be symmetric in the last bit
        np.copyto(square, square.T.copy(), where=_below_diagonal(size))
        result[block, block.start :] = values
        result[block.stop :, block] = values[:, size:].T


Rows = slice | NDArray[np.intp]

# below this many features, differences are as fast as a matrix product (measured at n = 1500)
_DIRECT_FEATURES = 4
#: up to this many features, differences in a compiled loop are faster for the rows of a single array (n = 64 to 1000)
COMPILED_FEATURES = 20
# a distance this small relative to the norms has lost three digits or more to cancellation, and is computed from differences
_CANCELLED = 1e-3


def squared_distances(X: Any, Z: Any = None) -> Floats:
    """Compute ||x - z||^2 for the rows of two arrays, to 12 digits; 0 for equal rows, exactly symmetric without Z.

    The data are centred and multiplied by BLAS; distances that lost digits to cancellation are recomputed from differences.
    Sparse rows are neither centred nor recomputed.
    """
    if issparse(X):
        return _of_sparse(X, X if Z is None else Z)
    if Z is None and X.shape[1] <= COMPILED_FEATURES:
        from spotsvm.solvers.kernels.matrices._column_kernels import fill_distances

        square = np.empty((len(X), len(X)))
        fill_distances(np.ascontiguousarray(X.T, dtype=np.float64), square)
        return square
    rows = DistanceRows.between(X, X if Z is None else Z)
    if Z is not None:
        result = np.empty((len(X), len(Z)))
        for block in row_blocks(len(X), RECTANGULAR_ROWS):
            result[block] = rows.block(block, slice(0, len(Z)))
        return result
    result = np.empty((len(X), len(X)))
    fill_symmetric(result, rows.block)
    return result


def _of_sparse(X: Any, Z: Any) -> Floats:
    values = np.asarray((X @ Z.T).toarray())
    values *= -2.0
    values += np.asarray(X.multiply(X).sum(axis=1)).ravel()[:, None]
    values += np.asarray(Z.multiply(Z).sum(axis=1)).ravel()
    return np.asarray(np.maximum(values, 0.0, out=values))


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
        # the first is on the diagonal if the rows are those of the columns
        if values[0, 0] > _CANCELLED * norms[0, 0] and values.min() > _CANCELLED * norms.max():
            return values
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


Matrix = NDArray[Any]


def gram_matrix(kernel: Kernel | MultiKernel, X: Any, *, dtype: DTypeLike = np.float64, max_bytes: int = MAX_BYTES) -> Matrix:
    """Compute the symmetric kernel matrix of a set of rows; only half of the values are computed.

    Parameters
    ----------
    kernel : Kernel or MultiKernel
        The kernel function.
    X : array-like of shape (n, d)
        Finite numbers. With the kernel "precomputed" the kernel matrix itself, (n, n).
    dtype : dtype, default=float64
        Type of the result: float64 or float32. It is computed in float64.
    max_bytes : int, default=200 MiB
        Memory that may be used in addition to the result.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric, except for an asymmetric callable or "precomputed" matrix.

    Raises
    ------
    SolverError
        If X has no rows, too few columns, or holds nan or infinity; if kernel values overflow; if a callable fails to give a
        finite matrix of shape (n, n).

    Examples
    --------
    >>> gram_matrix(Kernel("rbf", gamma=0.0), [[1.0], [2.0]])
    array([[1., 1.],
           [1., 1.]])
    """
    rows = check_rows(X)
    n = len(rows)
    if isinstance(kernel, Kernel) and kernel.base in ("precomputed", "rows"):
        return finite_values(given_values(kernel, rows, rows, n), kernel).astype(dtype, copy=False)
    result = np.empty((n, n), dtype=dtype)
    fill_symmetric(result, kernel_block(kernel, rows, rows), _for_blocks(kernel, max_bytes))
    return result


def kernel_matrix(
    kernel: Kernel | MultiKernel, X: Any, Z: Any, *, dtype: DTypeLike = np.float64, max_bytes: int = MAX_BYTES
) -> Matrix:
    """Compute the kernel values (n, m) between two sets of rows; with "precomputed" they are X itself."""
    rows, others = check_rows(X), check_rows(Z, "Z")
    m = rows.shape[1] if isinstance(kernel, Kernel) and kernel.base == "precomputed" else len(others)
    result = np.empty((len(rows), m), dtype=dtype)
    for block, values in kernel_blocks(kernel, rows, others, max_bytes=max_bytes):
        result[block] = values
    return result


def kernel_blocks(
    kernel: Kernel | MultiKernel, X: Floats, Z: Floats, *, max_bytes: int = MAX_BYTES
) -> Iterator[tuple[slice, Floats]]:
    """Compute the kernel values between two sets of rows: yield each block of rows of the first, with its values."""
    m = X.shape[1] if isinstance(kernel, Kernel) and kernel.base == "precomputed" else len(Z)
    rows = rows_within(_for_blocks(kernel, max_bytes), m)
    if isinstance(kernel, Kernel) and kernel.base in ("precomputed", "rows"):
        for block in row_blocks(len(X), rows):
            yield block, finite_values(given_values(kernel, X[block], Z, m), kernel)
        return
    compute = kernel_block(kernel, X, Z)
    for block in row_blocks(len(X), min(RECTANGULAR_ROWS, rows)):
        yield block, compute(block, slice(0, m))


def _for_blocks(kernel: Kernel | MultiKernel, max_bytes: int) -> int:
    return max_bytes if isinstance(kernel, Kernel) else max_bytes // 2  # a sum needs the blocks of its terms too


def kernel_block(kernel: Kernel | MultiKernel, X: Floats, Z: Floats) -> Block:
    """Return a function that computes a block of a kernel's values."""
    if isinstance(kernel, MultiKernel):
        return _combined_block(kernel, check_columns(kernel, X), Z)
    compute = base_values(kernel, X, Z)
    return lambda rows, columns: finite_values(kernel.of(compute(rows, columns)), kernel)


def base_matrix(base: Base, X: Any, Z: Any = None) -> Floats:
    """Return what kernels need before gamma is applied: inner products, or squared or Manhattan distances.

    The rows X and Z (X by default) are arrays, or, but for Manhattan distances, sparse matrices.
    """
    if base == "squared distances":
        return squared_distances(X, Z)
    others = X if Z is None else Z
    if base == "Manhattan distances":
        return np.asarray(cdist(X, others, "cityblock"))
    products = X @ others.T
    return np.asarray(products.toarray() if issparse(products) else products)


def base_values(kernel: Kernel, X: Floats, Z: Floats) -> Block:
    """Return a function that computes a block of inner products or distances, the kernel's base."""
    if kernel.base == "squared distances":
        return DistanceRows.between(X, Z).block
    if kernel.base == "Manhattan distances":
        return lambda rows, columns: np.asarray(cdist(X[rows], Z[columns], "cityblock"))

    def products(rows: slice, columns: slice) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            values: Floats = X[rows] @ Z[columns].T
            return values

    return products


def given_values(kernel: Kernel, X: Floats, Z: Floats, columns: int) -> Floats:
    """Return the values that a callable computes for two sets of rows, or that X holds."""
    shape = (len(X), columns)
    if isinstance(kernel.name, str):
        if X.shape != shape:
            raise SolverError(f"kernel='precomputed' and X has shape {X.shape}; a kernel matrix is square, (n, n)")
        return X
    returned = kernel.name(X, Z)
    if hasattr(returned, "toarray"):
        returned = returned.toarray()
    try:
        values = as_floats(returned)
    except (TypeError, ValueError) as error:
        raise SolverError(f"kernel: {kernel.label} returned no matrix of numbers; {error}") from error
    if values.shape != shape:
        raise SolverError(
            f"kernel: {kernel.label} returned shape {values.shape} for arrays of shapes {X.shape} and {Z.shape}; "
            f"it must return the matrix of kernel values, {shape}"
        )
    return values


def check_rows(X: Any, name: str = "X") -> Floats:
    """Return X as a float64 matrix of finite numbers, or raise SolverError."""
    try:
        rows = np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SolverError(f"{name} must be a matrix of numbers; {error}") from error
    if rows.ndim != 2 or 0 in rows.shape:
        raise SolverError(f"{name} has shape {rows.shape}; it must be a matrix with at least one row and one column")
    if not np.isfinite(rows).all():
        i, j = np.argwhere(~np.isfinite(rows))[0]
        raise SolverError(f"{name}[{i}, {j}] is {rows[i, j]}; use finite numbers")
    return rows


def finite_values(values: Floats, kernel: Kernel) -> Floats:
    """Return the values unchanged, or raise SolverError if a value is nan or infinite."""
    low, high = values.min(initial=0.0), values.max(initial=0.0)
    if np.isfinite(low) and np.isfinite(high):
        return values
    wrong = values[~np.isfinite(values)][0]
    advice = "" if kernel.base in ("rows", "precomputed") else "; scale the data, or use smaller parameters"
    raise SolverError(f"kernel: {kernel.label} gives {wrong}{advice}")


def check_columns(kernel: MultiKernel, X: Floats) -> Floats:
    """Return X unchanged, or raise SolverError if it has fewer columns than the kernel needs."""
    last = max(max(base.columns) for base in kernel.bases)
    if last >= X.shape[1]:
        raise SolverError(f"X has {X.shape[1]} columns; a kernel needs column {last}, counted from 0")
    return X


def _combined_block(kernel: MultiKernel, X: Floats, Z: Floats) -> Block:
    """Return a function that computes a block of a combined kernel's values."""
    if kernel.product:
        return _product_block(kernel, X, Z)
    # kernels of the same columns share their distances or inner products
    shared: dict[Any, list[tuple[Kernel, float]]] = {}
    for base, weight in kernel.terms:
        what = base.kernel.name if callable(base.kernel.name) else base.kernel.base
        shared.setdefault((base.columns, what), []).append((base.kernel, weight))
    parts = []
    for (columns, _), kernels in shared.items():
        first = BaseKernel(kernels[0][0], columns)
        own = first.of(X)
        parts.append((_values(first.kernel, own, own if Z is X else first.of(Z)), kernels))

    def block(rows: slice, columns: slice) -> Floats:
        total: Floats | None = None
        for values, kernels in parts:
            shared_values = values(rows, columns)
            for k, (part, weight) in enumerate(kernels):
                term = shared_values if k == len(kernels) - 1 else shared_values.copy()
                term = finite_values(part.of(term) if part.base != "rows" else term, part)
                if weight != 1.0:
                    term *= weight
                total = term if total is None else np.add(total, term, out=total)
        assert total is not None
        return total

    return block


def _values(kernel: Kernel, X: Floats, Z: Floats) -> Block:
    """Return a function that computes a block of a kernel's base values, or of a callable's own values."""
    if kernel.base != "rows":
        return base_values(kernel, X, Z)
    return lambda rows, columns: np.array(given_values(kernel, X[rows], Z[columns], columns.stop - columns.start))


def _product_block(kernel: MultiKernel, X: Floats, Z: Floats) -> Block:
    gaussian = Kernel("rbf", 1.0)
    with np.errstate(over="ignore"):
        rows = kernel.scaled_columns(X)
        others = rows if Z is X else kernel.scaled_columns(Z)
    values, weight = base_values(gaussian, rows, others), kernel.weights[0]

    def block(rows: slice, columns: slice) -> Floats:
        product = finite_values(gaussian.of(values(rows, columns)), gaussian)
        product *= weight
        return product

    return block


class GramCache:
    """The kernel matrices of a data set, from distances and inner products that are computed once and cached.

    Each takes 8 n^2 bytes, or 4 n^2 in single precision; what does not fit into `max_bytes` is computed in blocks of rows each
    time. With "precomputed" X is the matrix. Sparse rows need room for the matrix, and a kernel of distances or inner products.
    """

    def __init__(self, X: Any, max_bytes: float = MAX_BYTES, *, dtype: DTypeLike = np.float64):
        if not max_bytes >= 0:
            raise SolverError(f"max_bytes={max_bytes!r} is not a number of bytes; use 0 or more")
        self.X = X if issparse(X) else check_rows(X)
        self.max_bytes, self._dtype = max_bytes, np.dtype(dtype)
        self._kept: dict[Base, Matrix] = {}

    @property
    def kept_bytes(self) -> int:
        """Memory that is in use."""
        return sum(matrix.nbytes for matrix in self._kept.values())

    def gram(self, kernel: Kernel) -> Matrix:
        """Return a new kernel matrix of all rows; with the kernel "precomputed" X itself.

        In double precision it is bit-identical to `gram_matrix`; in single precision it is computed from rounded distances.
        """
        base = self._base(kernel)
        if base is None:
            return gram_matrix(kernel, self.X, dtype=self._dtype, max_bytes=self._block_bytes)
        if self._dtype == np.float32:  # its exponentials cost less than copies of halves
            return finite_values(kernel.of(base.copy()), kernel)
        kept = base  # for the type checker, which does not narrow types inside a function
        result = np.empty_like(kept)
        fill_symmetric(result, lambda b, c: finite_values(kernel.of(kept[b, c].copy()), kernel), self._block_bytes)
        return result

    @property
    def _block_bytes(self) -> int:
        return int(min(self.max_bytes, MAX_BYTES))

    def _base(self, kernel: Kernel) -> Matrix | None:
        """Return the cached base values of a kernel; None if the kernel has none or they do not fit."""
        if kernel.base in ("rows", "precomputed"):
            return None
        n = self.X.shape[0]
        if kernel.base not in self._kept:
            if self.kept_bytes + self._dtype.itemsize * n * n > self.max_bytes:
                return None
            matrix = np.empty((n, n), self._dtype)
            with np.errstate(over="ignore"):  # a distance beyond single precision is infinite
                if issparse(self.X):
                    matrix[:] = base_matrix(kernel.base, self.X)
                else:
                    fill_symmetric(matrix, base_values(kernel, self.X, self.X), self._block_bytes)
            self._kept[kernel.base] = matrix
        return self._kept[kernel.base]

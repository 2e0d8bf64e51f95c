"""Kernel matrices: symmetric on a set of rows, or between two sets, whole or in blocks within a memory limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_floats
from spotsvm.solvers.kernels.functions.kernel import Kernel
from spotsvm.solvers.kernels.matrices.blocks import MAX_BYTES, RECTANGULAR_ROWS, Block, fill_symmetric, row_blocks, rows_within
from spotsvm.solvers.kernels.matrices.distances import DistanceRows

Floats = NDArray[np.float64]
Matrix = NDArray[Any]


def gram_matrix(kernel: Kernel, X: Any, *, dtype: DTypeLike = np.float64, max_bytes: int = MAX_BYTES) -> Matrix:
    """Compute the symmetric kernel matrix of a set of rows; only half of the values are computed.

    Parameters
    ----------
    kernel : Kernel
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
        If X has no rows or holds nan or infinity; if kernel values overflow; if a callable fails to give a finite matrix of
        shape (n, n).

    See Also
    --------
    Kernel : The available kernels.

    Examples
    --------
    >>> gram_matrix(Kernel("rbf", gamma=0.0), [[1.0], [2.0]])
    array([[1., 1.],
           [1., 1.]])
    """
    rows = check_rows(X)
    n = len(rows)
    if kernel.base in ("precomputed", "rows"):
        return finite_values(given_values(kernel, rows, rows, n), kernel).astype(dtype, copy=False)
    result = np.empty((n, n), dtype=dtype)
    compute = base_values(kernel, rows, rows)
    fill_symmetric(result, lambda b, c: finite_values(kernel.of(compute(b, c)), kernel), max_bytes)
    return result


def kernel_matrix(kernel: Kernel, X: Any, Z: Any, *, dtype: DTypeLike = np.float64, max_bytes: int = MAX_BYTES) -> Matrix:
    """Compute the kernel values between two sets of rows.

    Parameters
    ----------
    kernel : Kernel
        The kernel function.
    X : array-like of shape (n, d)
        Finite numbers. With the kernel "precomputed" the values themselves, (n, m).
    Z : array-like of shape (m, d)
        Finite numbers; unused with the kernel "precomputed".
    dtype : dtype, default=float64
        Type of the result: float64 or float32.
    max_bytes : int, default=200 MiB
        Memory that may be used in addition to the result.

    Returns
    -------
    ndarray of shape (n, m)
        The values.

    Raises
    ------
    SolverError
        As `gram_matrix`.

    Examples
    --------
    >>> kernel_matrix(Kernel("linear"), [[1.0, 2.0]], [[1.0, 0.0], [0.0, 1.0]])
    array([[1., 2.]])
    """
    rows, others = check_rows(X), check_rows(Z, "Z")
    m = rows.shape[1] if kernel.base == "precomputed" else len(others)
    result = np.empty((len(rows), m), dtype=dtype)
    for block, values in kernel_blocks(kernel, rows, others, max_bytes=max_bytes):
        result[block] = values
    return result


def kernel_blocks(kernel: Kernel, X: Floats, Z: Floats, *, max_bytes: int = MAX_BYTES) -> Iterator[tuple[slice, Floats]]:
    """Compute the kernel values between two sets of rows, a block of the first at a time.

    Parameters
    ----------
    kernel : Kernel
        The kernel function.
    X : ndarray of shape (n, d)
        Finite numbers.
    Z : ndarray of shape (m, d)
        Finite numbers.
    max_bytes : int, default=200 MiB
        Memory that the blocks may use.

    Yields
    ------
    slice, ndarray of shape (rows of the block, m)
        The block and its values.

    Raises
    ------
    SolverError
        As `gram_matrix`.

    Examples
    --------
    >>> [
    ...     block
    ...     for block, values in kernel_blocks(
    ...         Kernel("linear"), np.ones((3, 1)), np.ones((4, 1)), max_bytes=200
    ...     )
    ... ]
    [slice(0, 2, None), slice(2, 3, None)]
    """
    m = X.shape[1] if kernel.base == "precomputed" else len(Z)
    rows = rows_within(max_bytes, m)
    if kernel.base in ("precomputed", "rows"):
        for block in row_blocks(len(X), rows):
            yield block, finite_values(given_values(kernel, X[block], Z, m), kernel)
        return
    compute = base_values(kernel, X, Z)
    for block in row_blocks(len(X), min(RECTANGULAR_ROWS, rows)):
        yield block, finite_values(kernel.of(compute(block, slice(0, m))), kernel)


def base_values(kernel: Kernel, X: Floats, Z: Floats) -> Block:
    """Return a function that computes a block of inner products or squared distances, the kernel's base."""
    if kernel.base == "squared distances":
        return DistanceRows.between(X, Z).block

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

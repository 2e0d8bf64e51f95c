"""The matrices of combined kernels in double precision: symmetric on a set of rows, or between two sets by blocks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.functions.kernel import Kernel
from spotsvm.solvers.kernels.functions.multi_kernel import BaseKernel, MultiKernel
from spotsvm.solvers.kernels.matrices.gram import (
    MAX_BYTES,
    RECTANGULAR_ROWS,
    Block,
    base_values,
    check_rows,
    fill_symmetric,
    finite_values,
    given_values,
    row_blocks,
    rows_within,
)

Floats = NDArray[np.float64]


def multi_gram_matrix(kernel: MultiKernel, X: Any, *, max_bytes: int = MAX_BYTES) -> Floats:
    """Compute the symmetric matrix of a combined kernel on a set of rows; only half of the values are computed.

    Parameters
    ----------
    kernel : MultiKernel
        The kernel.
    X : array-like of shape (n, d)
        Finite numbers.
    max_bytes : int, default=200 MiB
        Memory that may be used in addition to the result.

    Returns
    -------
    ndarray of shape (n, n)
        Exactly symmetric.

    Raises
    ------
    SolverError
        If X has no rows, too few columns, or holds nan or infinity; if kernel values overflow; if a callable does not return a
        finite matrix for a block.

    Examples
    --------
    >>> kernel = MultiKernel(
    ...     (
    ...         BaseKernel(Kernel("linear"), (0,)),
    ...         BaseKernel(Kernel("linear"), (1,)),
    ...     ),
    ...     (1.0, 10.0),
    ... )
    >>> multi_gram_matrix(kernel, [[1.0, 1.0], [2.0, 0.0]])
    array([[11.,  2.],
           [ 2.,  4.]])
    """
    rows = check_columns(kernel, check_rows(X))
    result = np.empty((len(rows), len(rows)))
    fill_symmetric(result, combined_block(kernel, rows, rows), max_bytes // 2)
    return result


def multi_kernel_blocks(
    kernel: MultiKernel, X: Floats, Z: Floats, *, max_bytes: int = MAX_BYTES
) -> Iterator[tuple[slice, Floats]]:
    """Compute the values of a combined kernel between two sets of rows, a block of the first at a time.

    Parameters
    ----------
    kernel : MultiKernel
        The kernel.
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
        As `multi_gram_matrix`.

    Examples
    --------
    >>> kernel = MultiKernel((BaseKernel(Kernel("linear"), (0,)),), (3.0,))
    >>> [
    ...     values.tolist()
    ...     for _, values in multi_kernel_blocks(
    ...         kernel, np.ones((1, 2)), np.ones((2, 2))
    ...     )
    ... ]
    [[[3.0, 3.0]]]
    """
    compute = combined_block(kernel, check_columns(kernel, X), Z)
    for block in row_blocks(len(X), min(RECTANGULAR_ROWS, rows_within(max_bytes // 2, len(Z)))):
        yield block, compute(block, slice(0, len(Z)))


def check_columns(kernel: MultiKernel, X: Floats) -> Floats:
    """Return X unchanged, or raise SolverError if it has fewer columns than the kernel needs."""
    last = max(max(base.columns) for base in kernel.bases)
    if last >= X.shape[1]:
        raise SolverError(f"X has {X.shape[1]} columns; a kernel needs column {last}, counted from 0")
    return X


def combined_block(kernel: MultiKernel, X: Floats, Z: Floats) -> Block:
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

"""Matrices by blocks of rows, and symmetric ones from half of their blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

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

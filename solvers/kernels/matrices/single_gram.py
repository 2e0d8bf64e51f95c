"""The kernel matrices of a data set in single precision, one at a time: of kernels, and of combined kernels."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.functions.kernel import Base, Kernel
from spotsvm.solvers.kernels.functions.multi_kernel import BaseKernel, MultiKernel
from spotsvm.solvers.kernels.matrices.gram import (
    MAX_BYTES,
    SYMMETRIC_ROWS,
    Block,
    base_values,
    check_columns,
    check_rows,
    fill_symmetric,
    gram_matrix,
    kernel_block,
    row_blocks,
)

Single = NDArray[np.float32]

#: up to this typical exponent kernel values are closer to 1 than to 0
NEAR = 0.7
_SMALLEST = 1e-30


class SingleGram:
    """Kernel matrices in single precision; distances (4 n^2 bytes) are computed once for all gammas.

    For small gamma exp(-gamma d) is returned minus 1, to keep small differences, and the linear kernel is that of centred rows:
    under sum(beta) = 0 both affect only the bias.
    """

    def __init__(self, X: NDArray[np.float64], keep: bool = True):
        self.X = check_rows(X)
        self._keep = keep
        self._distances: Single | None = None
        self._base: Base | None = None  # of the distances
        self._typical = 0.0  # the median of the distances
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

        SolverError if distances or kernel values do not fit into single precision.
        """
        if kernel != self._kernel or self._matrix is None:
            self._kernel, self._offset = None, 0.0
            if kernel.exponential:
                self._fill_exponential(kernel)
            else:
                rows = self.X - self.X.mean(axis=0) if kernel.name == "linear" else self.X
                with np.errstate(over="ignore"):
                    matrix = gram_matrix(kernel, rows, dtype=np.float32)
                if not np.isfinite(matrix).all():
                    raise _beyond(kernel.label)
                self._matrix = np.require(matrix, requirements=["C", "W"])
            self._kernel = kernel
        assert self._matrix is not None
        return self._matrix, self._offset

    def _fill_exponential(self, kernel: Kernel) -> None:
        from spotsvm.solvers.kernels.matrices._single_kernels import fill_gaussian, fill_gaussian_less_one

        n = len(self.X)
        distances = self._distances
        if distances is None or kernel.base != self._base:
            distances = np.empty((n, n), np.float32)
            with np.errstate(over="ignore"):  # reported below
                fill_symmetric(distances, base_values(kernel, self.X, self.X), MAX_BYTES)
            some = distances[:: max(n // 64, 1)]
            self._typical = float(np.median(some))
            check_distances(distances, self.X, kernel.base)
            self._base = kernel.base
        if self._keep:
            self._distances = distances
        if self._matrix is None:
            self._matrix = np.empty((n, n), np.float32)
        if kernel.gamma * self._typical < NEAR:
            fill_gaussian_less_one(distances, kernel.gamma, self._matrix)
            self._offset = 1.0
        else:
            fill_gaussian(distances, kernel.gamma, self._matrix)


def check_distances(distances: Single, X: NDArray[np.float64], base: Base = "squared distances") -> None:
    """Raise SolverError if distances between the rows of X do not fit into single precision."""
    largest = float(distances.max())
    if not np.isfinite(largest) or (largest < _SMALLEST and bool(np.ptp(X, axis=0).any())):
        raise SolverError(f"X has {base} up to {largest:.3g}, beyond single precision; scale the data")


_ROWS = 16  # rows summed at a time: few enough to stay in the processor's cache, and a cache line of the lower half
_DISTANCES = Kernel("rbf", 1.0)
#: for more factors, computing the distances of scaled columns is as fast as summing the distances of the factors
_MOST_FACTORS = 48
_LARGEST = 1e37


class GroupGram:
    """Matrices of combined kernels in single precision, as in `SingleGram`; each group of columns is computed once and cached.

    Cached are upper halves of squared distances, and of matrices of other kernels (not Gaussians of fixed gamma). A kernel that
    needs more than `max_bytes` is computed in double precision by blocks.
    """

    def __init__(self, X: Any, max_bytes: int = MAX_BYTES):
        self.X = check_rows(X)
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Any, tuple[Single, float, float]] = OrderedDict()
        self._matrix: Single | None = None
        self._kernel: MultiKernel | None = None
        self._offset = 0.0

    @property
    def kept_bytes(self) -> int:
        """Memory in use by the cache."""
        return sum(values.nbytes for values, _, _ in self._kept.values())

    def matrix(self, kernel: MultiKernel) -> tuple[Single, float]:
        """Return the matrix of a combined kernel minus a constant, and the constant; the next call overwrites the matrix.

        As `SingleGram.matrix`.
        """
        if kernel != self._kernel or self._matrix is None:
            self._kernel = None
            check_columns(kernel, self.X)
            n = len(self.X)
            if self._matrix is None:
                self._matrix = np.empty((n, n), np.float32)
            needed = list(dict.fromkeys(_key(base) for base, _ in kernel.terms))
            fits = 2 * n * (n + 1) * len(needed) <= self._max_bytes
            if kernel.product and (len(needed) > _MOST_FACTORS or not fits):
                self._offset = self._scaled_product(kernel)
            elif fits:
                self._make_room(needed)
                self._offset = self._product(kernel) if kernel.product else self._sum(kernel)
            else:
                self._offset = self._by_blocks(kernel)
            self._kernel = kernel
        return self._matrix, self._offset

    def _by_blocks(self, kernel: MultiKernel) -> float:
        """Write the sum of weighted kernels without the cache; return the constant."""
        assert self._matrix is not None
        with np.errstate(over="ignore"):
            fill_symmetric(self._matrix, kernel_block(kernel, self.X, self.X), MAX_BYTES // 2)
        if not np.isfinite(self._matrix).all():
            raise _beyond(kernel.label)
        return 0.0

    def _scaled_product(self, kernel: MultiKernel) -> float:
        """Write the Gaussian kernel of scaled columns without the cache; return the constant."""
        from spotsvm.solvers.kernels.matrices._single_kernels import fill_gaussian, fill_gaussian_less_one

        K, weight = self._matrix, kernel.weights[0]
        assert K is not None
        with np.errstate(over="ignore"):
            rows = kernel.scaled_columns(self.X)
            fill_symmetric(K, base_values(_DISTANCES, rows, rows), MAX_BYTES)
        if not (np.isfinite(K).all() and weight < _LARGEST):
            raise _beyond(kernel.label)
        near = float(np.median(K[:: max(len(K) // 64, 1)])) < NEAR
        (fill_gaussian_less_one if near else fill_gaussian)(K, 1.0, K)
        K *= np.float32(weight)
        return weight if near else 0.0

    def _sum(self, kernel: MultiKernel) -> float:
        """Write the sum of weighted kernels; return the constant."""
        parts, offset, bound = [], 0.0, 0.0
        for base, weight in kernel.terms:
            values, typical, largest = self._part(base)
            gaussian = base.kernel.name == "rbf"
            near = gaussian and base.kernel.gamma * typical < NEAR
            offset += weight if near else 0.0
            bound += weight * largest
            parts.append((values, _single(-base.kernel.gamma) if gaussian else None, _single(weight), np.float32(near)))
        if not bound < _LARGEST:
            raise _beyond(kernel.label)
        self._fill(parts, None)
        return offset

    def _product(self, kernel: MultiKernel) -> float:
        """Write the exponential of a weighted sum of distances; return the constant."""
        parts, exponent = [], 0.0
        for base, _ in kernel.terms:
            values, typical, _ = self._part(base)
            exponent += base.kernel.gamma * typical
            parts.append((values, None, _single(-base.kernel.gamma), np.float32(0.0)))
        weight, near = kernel.weights[0], exponent < NEAR
        if not weight < _LARGEST:
            raise _beyond(kernel.label)
        self._fill(parts, (np.float32(weight), np.float32(near)))
        return float(weight) if near else 0.0

    def _fill(self, parts: list[Any], exponential: tuple[np.float32, np.float32] | None) -> None:
        """Sum the parts in blocks of rows, and write the sums into both halves of the matrix."""
        from spotsvm.solvers.kernels.matrices._single_kernels import add_exponentials, add_scaled, place_rows

        K = self._matrix
        assert K is not None
        n = len(K)
        total, outer, powers = (np.empty(_ROWS * n, np.float32) for _ in range(3))
        bits = powers.view(np.int32)
        start = 0
        for block in row_blocks(n, _ROWS):
            stop = start + (block.stop - block.start) * (2 * n - block.start - block.stop + 1) // 2
            summed = total[: stop - start]
            summed.fill(0.0)
            for values, scale, weight, less in parts:
                if scale is None:
                    add_scaled(values[start:stop], weight, summed)
                else:
                    add_exponentials(values[start:stop], scale, weight, less, powers, bits, summed)
            if exponential is not None:
                exponents, summed = summed, outer[: stop - start]
                summed.fill(0.0)
                add_exponentials(exponents, np.float32(1.0), *exponential, powers, bits, summed)
            place_rows(summed, block.start, block.stop, K)
            start = stop

    def _make_room(self, needed: list[Any]) -> None:
        """Drop the least recently used entries until all needed entries fit."""
        n = len(self.X)
        for key in needed:
            if key in self._kept:
                self._kept.move_to_end(key)
        missing = sum(key not in self._kept for key in needed)
        while self._kept and 2 * n * (n + 1) * (len(self._kept) + missing) > self._max_bytes:
            self._kept.popitem(last=False)

    def _part(self, base: BaseKernel) -> tuple[Single, float, float]:
        """Return the upper half of distances or kernel values, the median of distances, and the largest kernel value."""
        key = _key(base)
        if key not in self._kept:
            rows = base.of(self.X)
            if base.kernel.name == "rbf":
                values = _upper_half(base_values(_DISTANCES, rows, rows), len(rows))
                check_distances(values, rows)
                self._kept[key] = values, float(np.median(values[:: max(len(values) // 4096, 1)])), 1.0
            else:
                if base.kernel.name == "linear":
                    rows = rows - rows.mean(axis=0)
                alone = MultiKernel((BaseKernel(base.kernel, tuple(range(rows.shape[1]))),), (1.0,))
                values = _upper_half(kernel_block(alone, rows, rows), len(rows))
                largest = max(float(values.max()), -float(values.min()))
                if not np.isfinite(largest):
                    raise _beyond(base.kernel.label)
                self._kept[key] = values, 0.0, largest
        return self._kept[key]


def _upper_half(compute: Block, n: int) -> Single:
    """Return the upper half of a symmetric matrix, row after row; infinite where single precision ends."""
    values = np.empty(n * (n + 1) // 2, np.float32)
    start = 0
    with np.errstate(over="ignore"):
        for block in row_blocks(n, SYMMETRIC_ROWS):
            rows = compute(block, slice(block.start, n)).astype(np.float32)
            for i in range(len(rows)):
                values[start : start + n - block.start - i] = rows[i, i:]
                start += n - block.start - i
    return values


def _key(base: BaseKernel) -> Any:
    """Return the cache key of a kernel: all Gaussian kernels of the same columns share their distances."""
    return base.columns if base.kernel.name == "rbf" else base


def _single(number: float) -> np.float32:
    return np.float32(min(max(number, -1e30), 1e30))


def _beyond(label: str) -> SolverError:
    return SolverError(f"kernel: {label} gives values beyond single precision; scale the data")

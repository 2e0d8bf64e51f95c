"""Gaussian kernels between single rows and all rows of another set, and their distances, cached within a memory limit."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.matrices.gram import COMPILED_FEATURES, MAX_BYTES, DistanceRows, check_rows

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# bytes of the blocks in which distances are computed
_BLOCK_BYTES = 2**23


class DistanceColumns:
    """Sums of Gaussian kernels around a few rows of a large set X, at all rows of Z, without memory or time quadratic in X.

    Squared distances from a row of X to all of Z are one column: computed in double, kept in single precision, the least recently
    used replaced beyond `max_bytes`; and its kernel values, while gamma stays.
    """

    def __init__(self, X: Any, Z: Any, max_bytes: int = MAX_BYTES):
        rows, others = check_rows(X), check_rows(Z, "Z")
        if rows.shape[1] != others.shape[1]:
            raise SolverError(f"Z has {others.shape[1]} columns and X has {rows.shape[1]}; they must be the same")
        if not max_bytes >= 0:
            raise SolverError(f"max_bytes={max_bytes!r} is not a number of bytes; use 0 or more")
        self._pairs = DistanceRows.between(rows, others)
        # distances are stored in units of the data's size, so that single precision suffices at any scale
        with np.errstate(over="ignore"):
            unit = float(self._pairs.norms_Z.mean())
        self._unit = unit if 0 < unit < np.inf else 1.0
        self._features = np.ascontiguousarray(others.T) if rows.shape[1] <= COMPILED_FEATURES else np.empty((0, 0))
        self._capacity = min(len(rows), max(1, int(max_bytes) // (8 * len(others))))
        # memory that is never written to is not used
        self._columns = np.empty((self._capacity, len(others)), np.float32)
        self._kernels = np.empty_like(self._columns)
        self._gammas = np.full(self._capacity, np.nan)  # gamma of each column's kernel values
        self._last_gamma = np.nan
        self._slot_of: OrderedDict[int, int] = OrderedDict()
        self.n_computed = 0

    @property
    def kept_bytes(self) -> int:
        """Memory of the columns."""
        return 4 * self._columns.shape[1] * (len(self._slot_of) + int(np.count_nonzero(~np.isnan(self._gammas))))

    def gaussian_sums(self, rows: Any, gamma: float, coefficients: Any) -> Floats:
        """Compute sum_j c_pj exp(-gamma ||x_j - z||^2) at all z, (p, m), for p vectors of coefficients of different rows.

        Kernel values have seven digits; SolverError if a squared distance overflows.
        """
        from spotsvm.solvers.kernels.matrices._column_kernels import add_columns, add_gaussians

        chosen, c = np.asarray(rows, dtype=np.intp), np.ascontiguousarray(coefficients, dtype=np.float64)
        sums = np.zeros((len(c), self._columns.shape[1]))
        again, self._last_gamma = gamma == self._last_gamma, gamma
        for start in range(0, len(chosen), self._capacity):
            part = slice(start, start + self._capacity)
            slots = self._slots(chosen[part])
            of_part = np.ascontiguousarray(c[:, part])
            if again:
                self._keep(slots, gamma)
                add_columns(self._kernels, slots, of_part, sums)
            else:
                add_gaussians(self._columns, slots, float(gamma) * self._unit, of_part, sums)
        return sums

    def _keep(self, slots: Integers, gamma: float) -> None:
        """Compute the missing kernel values of columns."""
        from spotsvm.solvers.kernels.matrices._column_kernels import keep_gaussians

        missing = slots[self._gammas[slots] != gamma]
        if len(missing):
            keep_gaussians(self._columns, missing, float(gamma) * self._unit, self._kernels)
            self._gammas[missing] = gamma

    def _slots(self, rows: Integers) -> Integers:
        """Compute missing columns of some rows, and return the slots of these rows; they must fit into the cache."""
        missing = []
        for row in rows.tolist():
            if row in self._slot_of:
                self._slot_of.move_to_end(row)
            else:
                missing.append(row)
        if missing:
            free = self._free(len(missing))
            self._fill(np.array(missing, dtype=np.intp), free)
            self._slot_of.update(zip(missing, free, strict=True))
        return np.array([self._slot_of[row] for row in rows.tolist()], dtype=np.intp)

    def _free(self, count: int) -> list[int]:
        """Return slots to write to: unused slots first, then the least recently used."""
        used = len(self._slot_of)
        slots = list(range(used, min(self._capacity, used + count)))
        while len(slots) < count:
            slots.append(self._slot_of.popitem(last=False)[1])
        return slots

    def _fill(self, rows: Integers, slots: list[int]) -> None:
        largest = (
            self._fill_directly(rows, slots) if self._pairs.X.shape[1] <= COMPILED_FEATURES else self._fill_blocks(rows, slots)
        )
        if not np.isfinite(largest) or largest / self._unit > np.finfo(np.float32).max:
            raise SolverError(f"X has squared distances up to {largest:.3g}, beyond what can be computed with; scale the data")
        self._gammas[slots] = np.nan
        self.n_computed += len(rows)

    def _fill_directly(self, rows: Integers, slots: list[int]) -> float:
        from spotsvm.solvers.kernels.matrices._column_kernels import fill_columns

        return float(fill_columns(self._pairs.X[rows], self._features, self._unit, np.array(slots), self._columns))

    def _fill_blocks(self, rows: Integers, slots: list[int]) -> float:
        m, largest = self._columns.shape[1], 0.0
        step = max(1, _BLOCK_BYTES // (8 * m))
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            distances = self._pairs.block(rows[part], slice(0, m))
            largest = max(largest, float(distances.max()))
            with np.errstate(over="ignore"):
                self._columns[slots[part]] = distances / self._unit
        return largest

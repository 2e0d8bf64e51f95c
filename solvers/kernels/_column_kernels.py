"""Compiled loop of sums of Gaussian kernels, from squared distances that are kept by columns."""

from __future__ import annotations

import numpy as np
from numba import njit

from solvers.kernels._gaussian_kernels import power


@njit(cache=True, nogil=True, error_model="numpy")
def add_gaussians(distances, slots, gamma, coefficients, out):
    """Add sum_j c_pj exp(-gamma d_j) to row p of `out`, where d_j is row slots[j] of `distances`.

    A block of 1024 rows stays in the processor's cache while all kernels are added to it. The exponential is that of
    `fill_gaussian`, in double precision.
    """
    scale = -gamma / 256.0
    n = distances.shape[1]
    values = np.empty(1024)
    for start in range(0, n, 1024):
        size = min(1024, n - start)
        for j in range(slots.shape[0]):
            d = distances[slots[j], start : start + size]
            for k in range(size):
                values[k] = power(scale * np.float64(d[k]))
            for p in range(coefficients.shape[0]):
                c = coefficients[p, j]
                if c != 0.0:
                    row = out[p, start : start + size]
                    for k in range(size):
                        row[k] += c * values[k]

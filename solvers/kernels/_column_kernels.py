"""Compiled loop of sums of Gaussian kernels, from squared distances that are kept by columns."""

from __future__ import annotations

import numpy as np
from numba import njit


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
                x = scale * np.float64(d[k])
                x = x if x > -0.3125 else -0.3125
                tail = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
                e = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * tail)))))
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                e = e * e
                values[k] = e
            for p in range(coefficients.shape[0]):
                c = coefficients[p, j]
                if c != 0.0:
                    row = out[p, start : start + size]
                    for k in range(size):
                        row[k] += c * values[k]

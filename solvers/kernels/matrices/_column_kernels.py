"""Compiled loops of sums of Gaussian kernels, from squared distances stored in columns."""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled

_BLOCK = 1024  # rows that stay in the processor's cache while all kernels are added to them
_PER_OCTAVE = math.log2(math.e)
_LOWEST = np.float32(-126)  # below this exponent powers of two are denormal and slow

# 2^f for 0 <= f < 1, interpolated at the Chebyshev points: correct to 3e-9, 1 at 0
_A, _B, _C, _D, _E, _F, _G = (
    np.float32(value)
    for value in (
        1.0,
        0.6931469286930342,
        0.2402305020,
        0.05548042632588821,
        0.009684580452,
        0.001238782147987587,
        0.00021877504768,
    )
)


@compiled
def _gaussians(distances, rate, values, octaves):
    """Write 2^(rate d) to `values`, in single precision only: vectors are then twice as wide as in double precision."""
    for k in range(distances.shape[0]):
        x = rate * distances[k]
        x = x if x > _LOWEST else _LOWEST
        whole = np.floor(x)
        f = x - whole
        values[k] = _A + f * (_B + f * (_C + f * (_D + f * (_E + f * (_F + f * _G)))))
        octaves[k] = np.int32(whole)
    bits = values.view(np.int32)
    for k in range(distances.shape[0]):
        bits[k] += octaves[k] << 23


@compiled
def add_gaussians(distances, slots, gamma, coefficients, out):
    """Add sum_j c_pj exp(-gamma d_j) to row p of `out`, where d_j is row slots[j] of `distances`."""
    rate = np.float32(-gamma * _PER_OCTAVE)
    n = distances.shape[1]
    buffer, octaves = np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.int32)
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        values = buffer[:size]
        for j in range(slots.shape[0]):
            _gaussians(distances[slots[j], start : start + size], rate, values, octaves)
            for p in range(coefficients.shape[0]):
                c = coefficients[p, j]
                if c != 0.0:
                    row = out[p, start : start + size]
                    for k in range(size):
                        row[k] += c * np.float64(values[k])


@compiled
def keep_gaussians(distances, slots, gamma, kernels):
    """Write exp(-gamma d) to some rows of `kernels`, from the same rows of `distances`, for `add_columns`."""
    rate = np.float32(-gamma * _PER_OCTAVE)
    octaves = np.empty(distances.shape[1], np.int32)
    for slot in slots:
        _gaussians(distances[slot], rate, kernels[slot], octaves)


@compiled
def add_columns(kernels, slots, coefficients, out):
    """Add sum_j c_pj k_j to row p of `out`, where k_j is row slots[j] of `kernels`; four at a time, one after the other."""
    n = kernels.shape[1]
    for start in range(0, n, _BLOCK):
        size = min(_BLOCK, n - start)
        for p in range(coefficients.shape[0]):
            used = np.flatnonzero(coefficients[p])
            row = out[p, start : start + size]
            whole = len(used) - len(used) % 4
            for at in range(0, whole, 4):
                i, j, k, m = used[at], used[at + 1], used[at + 2], used[at + 3]
                a, b, c, d = coefficients[p, i], coefficients[p, j], coefficients[p, k], coefficients[p, m]
                of_a, of_b = kernels[slots[i], start : start + size], kernels[slots[j], start : start + size]
                of_c, of_d = kernels[slots[k], start : start + size], kernels[slots[m], start : start + size]
                for r in range(size):
                    value = row[r] + a * np.float64(of_a[r]) + b * np.float64(of_b[r])
                    row[r] = value + c * np.float64(of_c[r]) + d * np.float64(of_d[r])
            for at in range(whole, len(used)):
                a, of_a = coefficients[p, used[at]], kernels[slots[used[at]], start : start + size]
                for r in range(size):
                    row[r] += a * np.float64(of_a[r])


@compiled
def fill_distances(columns, out):
    """Write the squared distances between rows to `out`, from their features by columns, (d, n)."""
    n = columns.shape[1]
    for i in range(n):
        row = out[i]
        row[: i + 1] = 0.0
        for feature in columns:
            x = feature[i]
            for j in range(i + 1):
                difference = x - feature[j]
                row[j] += difference * difference
    for start in range(0, n, 32):  # a strip at a time: its part of `out` stays in the cache
        for i in range(start, n):
            for j in range(start, min(start + 32, i)):
                out[j, i] = out[i, j]


@compiled
def fill_columns(X, columns, unit, slots, out):
    """Write the squared distances from row i of X to all rows, given by columns (d, m), to row slots[i] of `out`, in some unit.

    Return the largest distance, before the division by the unit.
    """
    m = columns.shape[1]
    largest = 0.0
    sums = np.empty(_BLOCK)
    for i in range(X.shape[0]):
        for start in range(0, m, _BLOCK):
            size = min(_BLOCK, m - start)
            sums[:size] = 0.0
            for feature in range(columns.shape[0]):
                x, z = X[i, feature], columns[feature, start : start + size]
                for k in range(size):
                    difference = x - z[k]
                    sums[k] += difference * difference
            largest = max(largest, np.max(sums[:size]))
            row = out[slots[i], start : start + size]
            for k in range(size):
                row[k] = np.float32(sums[k] / unit)
    return largest

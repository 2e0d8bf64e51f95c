"""Compiled loops of sums of kernel matrices in single precision, stored as upper halves row after row."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled

_LOWEST = np.float32(-80.0)  # exp(-80): much smaller numbers would be denormal and slow
_LOG2E = np.float32(1.44269504088896341)
_MAGIC = np.float32(12582912.0)  # 1.5 2^23: adding x rounds x to an integer, which stands in the low bits of the sum
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ONE, _HALF = np.float32(1.0), np.float32(0.5)
_C3, _C4, _C5, _C6, _C7 = (np.float32(1.0 / f) for f in (6.0, 24.0, 120.0, 720.0, 5040.0))
_EXPONENT_OF_ONE = np.int32(127 << 23)


@compiled
def add_exponentials(exponents, scale, weight, less, powers, bits, total):
    """Add weight (exp(scale x) - less) for exponents x, where scale x is at most 0.

    exp is 2^m exp(r) with |r| <= log(2) / 2, and exp(r) - 1 is computed by its series. With `less` = 1 the result is correct to
    single precision even near 0. All loops are vectorised; `powers` and `bits` are the same memory as float32 and int32.
    """
    for k in range(len(exponents)):
        x = scale * exponents[k]
        x = x if x > _LOWEST else _LOWEST
        powers[k] = x * _LOG2E + _MAGIC
    for k in range(len(exponents)):
        bits[k] = (bits[k] << np.int32(23)) + _EXPONENT_OF_ONE
    for k in range(len(exponents)):
        x = scale * exponents[k]
        x = x if x > _LOWEST else _LOWEST
        m = (x * _LOG2E + _MAGIC) - _MAGIC
        r = (x - m * _LN2_HIGH) - m * _LN2_LOW
        p = r * (_ONE + r * (_HALF + r * (_C3 + r * (_C4 + r * (_C5 + r * (_C6 + r * _C7))))))
        two = powers[k]
        total[k] += weight * (two * p + (two - less))


@compiled
def add_scaled(values, weight, total):
    """Add weight times some values."""
    for k in range(len(values)):
        total[k] += weight * values[k]


@compiled
def place_rows(total, first, last, K):
    """Write rows first .. last - 1 of the upper half into K, and into the lower half while the processor's cache holds them."""
    n = len(K)
    start = 0
    for i in range(first, last):
        K[i, i:] = total[start : start + n - i]
        start += n - i
    for i in range(first, last):
        for j in range(i + 1, last):
            K[j, i] = K[i, j]
    for j in range(last, n):
        out = K[j]
        for i in range(first, last):
            out[i] = K[i, j]

"""Compiled loops of kernel matrices in single precision: Gaussian kernels, and sums of kernels in upper halves, row after row."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled(inline="always")
def power(x):
    """Return exp(256 x), x <= 0, by the series of exp(x), squared eight times; inlined, so that its loop stays vectorised."""
    x = x if x > -0.3125 else -0.3125  # the result is exp(-80); much smaller results would be denormal and slow
    tail = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
    e = 1.0 + x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * tail)))))
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    e = e * e
    return e * e


@compiled
def fill_gaussian(distances, gamma, K):
    """Write exp(-gamma d) for squared distances d, correct to single precision even for tiny values.

    The exponential of x / 256 is computed by its series and squared eight times. This form is vectorised on every processor; a
    call of a library function in a compiled loop is not.
    """
    scale = -gamma / 256.0
    for i in range(distances.shape[0]):
        d = distances[i]
        out = K[i]
        for k in range(d.shape[0]):
            out[k] = np.float32(power(scale * np.float64(d[k])))


@compiled
def fill_gaussian_less_one(distances, gamma, K):
    """Write exp(-gamma d) - 1, correct to single precision however near to 0: doubled by (1 + e)^2 - 1 = e (2 + e)."""
    scale = -gamma / 256.0
    for i in range(distances.shape[0]):
        d = distances[i]
        out = K[i]
        for k in range(d.shape[0]):
            x = scale * np.float64(d[k])
            x = x if x > -0.3125 else -0.3125
            tail = 1 / 720 + x * (1 / 5040 + x * (1 / 40320 + x * (1 / 362880)))
            e = x * (1.0 + x * (1 / 2 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x * tail)))))
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            e = e * (2.0 + e)
            out[k] = np.float32(e)


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

"""Compiled loops of correlation functions and of their factors; see `likelihood` for the notation.

A factor is kept as the upper triangle U of R = U' U, row after row; its transpose L = U' is what LAPACK's routines expect.
"""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled

_LOWEST = -708.0  # below it the exponential is denormal
_LOG2E = 1.4426950408889634
_MAGIC = 6755399441055744.0  # 1.5 2^52: adding x rounds x to an integer, which stands in the low bits of the sum
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_EXPONENT_OF_ONE = 1023 << 52
_OWN_FACTOR = 160  # maximum rows for which the loop below is faster than a call of LAPACK


@compiled
def exponentials(x, out):
    """Write exp(x) for x <= 0: 2^m exp(r) with |r| <= log(2) / 2, in loops that are vectorised; `out` may be `x`."""
    bits = out.view(np.int64)
    rest = np.empty(len(x))
    for i in range(len(x)):
        value = max(x[i], _LOWEST)
        shifted = value * _LOG2E + _MAGIC
        whole = shifted - _MAGIC
        rest[i] = (value - whole * _LN2_HIGH) - whole * _LN2_LOW
        out[i] = shifted
    for i in range(len(x)):
        bits[i] = (bits[i] << 52) + _EXPONENT_OF_ONE
    for i in range(len(x)):
        r = rest[i]
        tail = 1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600))))
        series = r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + r * tail))))))
        out[i] = out[i] + out[i] * series


@compiled
def correlate(matern, r2, out):
    """Write the correlation at squared distances: Matern 5/2 if `matern`, otherwise Gaussian."""
    s = np.empty(len(r2))
    for i in range(len(r2)):
        s[i] = math.sqrt(5.0 * r2[i]) if matern else r2[i]
        out[i] = -s[i]
    exponentials(out, out)
    if matern:
        for i in range(len(r2)):
            out[i] *= 1.0 + s[i] + s[i] * s[i] / 3.0


@compiled
def fill_upper(psi, nugget, count, jitter, U):
    """Write the upper triangle of R from the correlations of the pairs, in the order of scipy's pdist."""
    n, at = len(U), 0
    for i in range(n):
        U[i, i] = 1.0 + (nugget / count[i] + jitter)
        for j in range(i + 1, n):
            U[i, j] = psi[at]
            at += 1


@compiled
def factor_upper(U):
    """Turn the upper triangle of R into its factor in place; return whether R has a factor."""
    n = len(U)
    if n > _OWN_FACTOR:
        return _factor_by_library(U)
    for i in range(n):
        row = U[i]
        k = 0
        while k + 4 <= i:
            c0, c1, c2, c3 = U[k, i], U[k + 1, i], U[k + 2, i], U[k + 3, i]
            r0, r1, r2, r3 = U[k], U[k + 1], U[k + 2], U[k + 3]
            for j in range(i, n):
                row[j] -= (c0 * r0[j] + c1 * r1[j]) + (c2 * r2[j] + c3 * r3[j])
            k += 4
        while k < i:
            c, r = U[k, i], U[k]
            for j in range(i, n):
                row[j] -= c * r[j]
            k += 1
        if not (row[i] > 0.0 and row[i] < np.inf):
            return False
        inverse = 1.0 / math.sqrt(row[i])
        for j in range(i, n):
            row[j] *= inverse
    return True


@compiled
def _factor_by_library(U):
    try:
        L = np.linalg.cholesky(U.T)  # cholesky reads the lower triangle, by columns
    except Exception:  # noqa: BLE001 - numba supports no other exception class here
        return False
    for i in range(len(U)):
        for j in range(i, len(U)):  # U[:] = would compile seconds of error messages
            U[i, j] = L[j, i]
        if not np.isfinite(U[i, i]):
            return False
    return True


@compiled
def factor_with_jitter(psi, nugget, count, jitters, U):
    """Factor R with the first sufficient jitter; return the index of the jitter, -1 if none is sufficient."""
    for k in range(len(jitters)):
        fill_upper(psi, nugget, count, jitters[k], U)
        if factor_upper(U):
            return k
    return -1


@compiled
def solve_lower(U, b):
    """Turn b into U'^-1 b in place."""
    for i in range(len(b)):
        b[i] /= U[i, i]
        value = b[i]
        row = U[i]
        for j in range(i + 1, len(b)):
            b[j] -= value * row[j]


@compiled(fastmath={"reassoc", "contract"})
def solve_upper(U, b):
    """Turn b into U^-1 b in place."""
    n = len(b)
    for i in range(n - 1, -1, -1):
        row = U[i]
        total = 0.0
        for j in range(i + 1, n):
            total += row[j] * b[j]
        b[i] = (b[i] - total) / row[i]


@compiled
def profile_factored(U, nugget, count, within, half_one, a):
    """Return log-likelihood, mu and sigma2; a, the means at first, becomes U'^-1 (y - 1 mu), and half_one U'^-1 1."""
    n = len(a)
    half_one[:] = 1.0
    solve_lower(U, half_one)
    solve_lower(U, a)
    ones, both, q, value, responses = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(n):
        ones += half_one[i] * half_one[i]
        both += half_one[i] * a[i]
        responses += count[i]
        value -= math.log(U[i, i])
    mu = both / ones
    for i in range(n):
        a[i] -= mu * half_one[i]
        q += a[i] * a[i]
    if responses > n and nugget > 0.0:
        q += within / nugget
        value -= 0.5 * (responses - n) * math.log(nugget)
        for i in range(n):
            value -= 0.5 * math.log(count[i])
    else:
        responses = float(n)
    value -= 0.5 * responses * math.log(q / responses)
    return value, mu, q / responses


@compiled
def profile_upper(matern, r2, nugget, mean, count, within, jitters):
    """Return log-likelihood, mu, sigma2, U, a, U'^-1 1 and the index of the jitter, -1 if none is sufficient."""
    n = len(mean)
    psi, U, half_one, a = np.empty(len(r2)), np.zeros((n, n)), np.ones(n), mean.copy()
    correlate(matern, r2, psi)
    at = factor_with_jitter(psi, nugget, count, jitters, U)
    if at < 0:
        return 0.0, 0.0, 0.0, U, a, half_one, at
    value, mu, sigma2 = profile_factored(U, nugget, count, within, half_one, a)
    solve_upper(U, a)
    return value, mu, sigma2, U, a, half_one, at

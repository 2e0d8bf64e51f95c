"""Compiled loops of the minimum of a quadratic on the face of its free variables."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled(fastmath={"reassoc", "contract", "nsz"})
def _dot(a, b):
    s = 0.0
    for k in range(len(a)):
        s += a[k] * b[k]
    return s


@compiled
def _solve_factored(R, p, x):
    """Solve R'R x = b in place on the leading p by p part of the upper triangle R."""
    for i in range(p):
        x[i] /= R[i, i]
        c = x[i]
        row = R[i, i + 1 : p]
        rest = x[i + 1 : p]
        for k in range(len(row)):
            rest[k] -= c * row[k]
    for i in range(p - 1, -1, -1):
        x[i] = (x[i] - _dot(R[i, i + 1 : p], x[i + 1 : p])) / R[i, i]


@compiled
def _remove(R, p, k):
    """Remove row and column k from the matrix R'R of size p by rotations of rows."""
    for i in range(k + 1):
        row = R[i]
        for c in range(k, p - 1):
            row[c] = row[c + 1]
    for j in range(k, p - 1):
        below = R[j + 1, j + 1]
        top = R[j, j]
        length = np.hypot(top, below)
        co, si = top / length, below / length
        # row j is already one place to the left, row j + 1 not yet
        a = R[j, j : p - 1]
        b = R[j + 1, j + 1 : p]
        out = R[j + 1, j : p - 1]
        for c in range(len(a)):
            u, v = a[c], b[c]
            a[c] = co * u + si * v
            out[c] = co * v - si * u


@compiled
def descend_face(R, slope, beta, lower, upper, most):
    """Move beta to the minimum over its face at constant sum(beta); stop at most `most` variables at bounds they meet.

    R is the upper Cholesky factor of the curvature and is overwritten; slope is the derivative at beta. Return the number of
    stops and whether the minimum was reached.
    """
    m = len(beta)
    place = np.empty(m, np.int64)
    for a in range(m):
        place[a] = a
    d, w = np.empty(m), np.empty(m)
    p = m
    scale = 1.0
    for stops in range(most + 1):
        if p < 2:
            return stops, True
        for a in range(p):
            d[a] = -scale * slope[place[a]]
            w[a] = 1.0
        _solve_factored(R, p, d)
        _solve_factored(R, p, w)
        total, weight = 0.0, 0.0
        for a in range(p):
            total += d[a]
            weight += w[a]
        shift = total / weight
        total = 0.0
        for a in range(p):
            d[a] -= shift * w[a]
            total += d[a]
        rest = total / p  # remove rounding: the sum of beta must not drift
        t = 1.0
        first = np.int64(-1)  # a literal would have another type
        for a in range(p):
            d[a] -= rest
            k = place[a]
            room = upper[k] - beta[k] if d[a] > 0.0 else lower[k] - beta[k]
            if d[a] != 0.0 and room / d[a] < t:
                t = max(room / d[a], 0.0)
                first = a
        if not np.isfinite(shift):
            return stops, False
        for a in range(p):
            beta[place[a]] += t * d[a]
        if first < 0:
            return stops, True
        k = place[first]
        beta[k] = upper[k] if d[first] > 0.0 else lower[k]
        scale *= 1.0 - t
        _remove(R, p, first)
        for a in range(first, p - 1):
            place[a] = place[a + 1]
        p -= 1
    return most, False


@compiled
def _factor(H, R):
    """Write the upper Cholesky factor of a small matrix H into R; return whether H is positive definite."""
    m = len(H)
    for i in range(m):
        for j in range(i, m):
            R[i, j] = H[i, j]
        for k in range(i):
            c = R[k, i]
            row, out = R[k, i:m], R[i, i:m]
            for j in range(len(out)):
                out[j] -= c * row[j]
        if not R[i, i] > 0.0:
            return False
        pivot = np.sqrt(R[i, i])
        out = R[i, i:m]
        for j in range(len(out)):
            out[j] /= pivot
    return True


@compiled
def small_newton_step(K, offset, g, beta, lower, upper, epsilon, free):
    """Minimise over a few free variables, as `face_minimum` does; return the stops, -1 if the curvature has no minimum."""
    m = len(free)
    H, R = np.empty((m, m)), np.empty((m, m))
    b, lo, hi, slope = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    size = 0.0
    for a in range(m):
        k = free[a]
        b[a], lo[a], hi[a], slope[a] = beta[k], lower[k], upper[k], g[k]
        if epsilon > 0.0:
            lo[a] = max(lo[a], 0.0) if b[a] > 0.0 else lo[a]
            hi[a] = min(hi[a], 0.0) if b[a] < 0.0 else hi[a]
            slope[a] += epsilon * np.sign(b[a])
        for c in range(m):
            H[a, c] = np.float64(K[k, free[c]]) + offset
        size += H[a, a] / m
    size = max(size, 1e-300)
    jitter = 1e-10 * size
    for a in range(m):
        for c in range(m):
            H[a, c] += size  # see `face_minimum`
    for _ in range(4):
        for a in range(m):
            H[a, a] += jitter
        if _factor(H, R):
            stops, _ = descend_face(R, slope, b, lo, hi, m // 2 + 4)
            for a in range(m):
                change = b[a] - beta[free[a]]
                beta[free[a]] = b[a]
                if change != 0.0:
                    row = K[free[a]]
                    for k in range(len(g)):
                        g[k] += change * np.float64(row[k])
            return stops
        jitter *= 30.0
    return np.int64(-1)

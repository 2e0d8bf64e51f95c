"""Compiled loops of the exact solver without bias: ascent along two coordinates at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.compiled import compiled

Floats = NDArray[np.float64]


@compiled
def largest(score: Floats) -> tuple[int, float]:
    """Return the index and the value of the largest positive entry; -1 and 0 if no entry is positive."""
    n = len(score)
    best = 0.0
    at = -1
    tail = n - n % 64
    for start in range(0, tail, 64):
        part = score[start : start + 64]
        # eight lanes of compare-and-select: LLVM vectorises these, but not a plain running maximum
        m0, m1, m2, m3, m4, m5, m6, m7 = part[0], part[1], part[2], part[3], part[4], part[5], part[6], part[7]
        for k in range(8, 64, 8):
            m0 = part[k] if part[k] > m0 else m0
            m1 = part[k + 1] if part[k + 1] > m1 else m1
            m2 = part[k + 2] if part[k + 2] > m2 else m2
            m3 = part[k + 3] if part[k + 3] > m3 else m3
            m4 = part[k + 4] if part[k + 4] > m4 else m4
            m5 = part[k + 5] if part[k + 5] > m5 else m5
            m6 = part[k + 6] if part[k + 6] > m6 else m6
            m7 = part[k + 7] if part[k + 7] > m7 else m7
        m = max(max(max(m0, m1), max(m2, m3)), max(max(m4, m5), max(m6, m7)))
        if m > best:
            best = m
            at = start
    for j in range(tail, n):
        if score[j] > best:
            best = score[j]
            at = j
    if 0 <= at < tail:
        for j in range(at, at + 64):
            if score[j] == best:
                return j, best
    return at, best


@compiled
def best_step(slope: float, curvature: float, low: float, high: float) -> float:
    """Return the step between `low` and `high` with the largest gain, slope step - curvature step^2 / 2."""
    if curvature > 0.0:
        return min(max(slope / curvature, low), high)
    if high * (slope - 0.5 * curvature * high) >= low * (slope - 0.5 * curvature * low):
        return high
    return low


@compiled
def best_pair(
    gi: float, gj: float, a: float, b: float, c: float, li: float, ui: float, lj: float, uj: float
) -> tuple[float, float]:
    """Return the two steps in their box with the largest joint gain, for slopes gi, gj and curvature [[a, c], [c, b]]."""
    det = a * b - c * c
    if a > 0.0 and det > 1e-12 * a * b:
        s = (b * gi - c * gj) / det
        t = (a * gj - c * gi) / det
        if li <= s <= ui and lj <= t <= uj:
            return s, t
    best = 0.0
    s = t = 0.0
    for edge in range(4):  # without an inner maximum, the largest value is on an edge
        if edge == 0 or edge == 1:
            x = li if edge == 0 else ui
            z = best_step(gj - c * x, b, lj, uj)
        else:
            z = lj if edge == 2 else uj
            x = best_step(gi - c * z, a, li, ui)
        gain = x * (gi - 0.5 * a * x - c * z) + z * (gj - 0.5 * b * z)
        if gain > best:
            best = gain
            s = x
            t = z
    return s, t


@compiled
def _move(i: int, step: float, lower: Floats, upper: Floats, beta: Floats, up: Floats, down: Floats) -> None:
    value = beta[i] + step
    if step >= upper[i] - beta[i]:
        value = upper[i]  # exactly: rounding could leave it just beside its bound
    elif step <= lower[i] - beta[i]:
        value = lower[i]
    beta[i] = value
    up[i] = 1.0 if value < upper[i] else 0.0
    down[i] = 1.0 if value > lower[i] else 0.0


@compiled
def _score_second(
    row: Floats, s: float, follows: float, gradient: Floats, diagonal: Floats, up: Floats, down: Floats, tau: float, score: Floats
) -> None:
    for j in range(len(score)):
        g = gradient[j] - row[j] * s
        rise = g * up[j]
        fall = -g * down[j]
        slope = rise if rise > fall else fall
        curvature = diagonal[j] - follows * row[j] * row[j]
        curvature = curvature if curvature > tau else tau
        score[j] = slope * slope / curvature


@compiled
def _advance(row: Floats, s: float, other: Floats, t: float, gradient: Floats, up: Floats, down: Floats, score: Floats) -> None:
    for j in range(len(score)):
        g = gradient[j] - row[j] * s - other[j] * t
        gradient[j] = g
        rise = g * up[j]
        fall = -g * down[j]
        score[j] = rise if rise > fall else fall


@compiled
def pair_ascent(
    K: Floats,
    diagonal: Floats,
    lower: Floats,
    upper: Floats,
    beta: Floats,
    gradient: Floats,
    up: Floats,
    down: Floats,
    score: Floats,
    tau: float,
    tol: float,
    max_iter: int,
) -> tuple[int, float]:
    """Climb y'beta - beta' K beta / 2 within the bounds, two coordinates a step; return the steps and the KKT violation.

    beta = alpha y, `gradient` = y - K beta; `up` and `down` are 1 where beta can grow or fall. All arguments except K, `diagonal`
    and the bounds are changed in place; `score` is a buffer.
    """
    n = len(beta)
    for j in range(n):
        up[j] = 1.0 if beta[j] < upper[j] else 0.0
        down[j] = 1.0 if beta[j] > lower[j] else 0.0
    _advance(K[0], 0.0, K[0], 0.0, gradient, up, down, score)
    iterations = 0
    while True:
        i, worst = largest(score)
        if worst <= tol or iterations >= max_iter:
            return iterations, worst
        iterations += 1
        row = K[i]
        gi = gradient[i]
        a = diagonal[i]
        li = lower[i] - beta[i]
        ui = upper[i] - beta[i]
        s = best_step(gi, a, li, ui)
        # gain of j after i's own best step: its remaining slope squared over its curvature, if i follows where it can
        follows = 1.0 / a if li < s < ui else 0.0
        _score_second(row, s, follows, gradient, diagonal, up, down, tau, score)
        score[i] = 0.0
        j, _ = largest(score)
        t = 0.0
        if j < 0:
            j = i
        else:
            s, t = best_pair(gi, gradient[j], a, diagonal[j], row[j], li, ui, lower[j] - beta[j], upper[j] - beta[j])
            _move(j, t, lower, upper, beta, up, down)
        _move(i, s, lower, upper, beta, up, down)
        _advance(row, s, K[j], t, gradient, up, down, score)

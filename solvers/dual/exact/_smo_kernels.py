"""Compiled loops of sequential minimal optimisation.

The problem is in terms of beta_i = y_i alpha_i: minimise beta' K beta / 2 - z' beta + epsilon |beta|_1 subject to sum(beta) =
const and lower <= beta <= upper. In classification z = y, epsilon = 0, and one end of each interval is 0; in regression each
interval has both signs. A row that is not trained on has lower = upper = 0.

| name | meaning |
| --- | --- |
| `rise`, `fall` | derivative of the objective as beta_i rises or falls; inf and -inf if it must not |
| `keys`, `bits` | an array of float32, and the same memory as int32 |
"""

from __future__ import annotations

import math

import numpy as np

from spotsvm.surrogates.compiled import compiled

_BLOCK = 1024  # its index fits into the low bits of a key
_LOW = np.int32(_BLOCK - 1)
_HIGH = np.int32(-_BLOCK)
_FLAT = 1e-12  # smallest curvature, as LIBSVM's TAU

# The compiler vectorises a maximum over integers, but not over floats. Non-negative floats have the order of their bits, so a
# pass writes its criterion as float32 and reads it as integers, whose low bits are replaced by the index.


@compiled
def _set_slopes(k, g, beta, lower, upper, epsilon, rise, fall):
    """Write the derivatives of variable k, whose smooth part is g."""
    b = beta[k]
    rise[k] = (g + epsilon if b >= 0.0 else g - epsilon) if b < upper[k] else np.inf
    fall[k] = (g + epsilon if b > 0.0 else g - epsilon) if b > lower[k] else -np.inf


@compiled
def _smooth_slope(k, beta, epsilon, rise, fall):
    """Return the smooth part of variable k's derivative; nan for a row that is not trained on."""
    if rise[k] < np.inf:
        return rise[k] - epsilon if beta[k] >= 0.0 else rise[k] + epsilon
    if fall[k] > -np.inf:
        return fall[k] - epsilon if beta[k] > 0.0 else fall[k] + epsilon
    return np.nan


@compiled
def _least(values):
    """Return the index of the smallest value, or of the first nan; numba's own minimum takes longer to compile."""
    place = 0
    for k in range(len(values)):
        if np.isnan(values[k]):
            return k
        if values[k] < values[place]:
            place = k
    return place


@compiled
def _largest(values):
    """Return the largest value, or nan if one is."""
    top = values[0]
    for k in range(len(values)):
        if np.isnan(values[k]):
            return values[k]
        top = max(top, values[k])
    return top


@compiled
def _largest_key(bits):
    """Return the largest key, with its index in place of its low bits."""
    top = np.int32(0)
    for k in range(len(bits)):
        x = (bits[k] & _HIGH) | np.int32(k)
        top = x if x > top else top
    return top


@compiled
def _steepest_rise(rise, shift, keys, bits):
    """Return the index of the smallest `rise`, to three digits of its distance from shift; -1 if no `rise` is below shift."""
    best = np.int32(0)
    place = -1
    for start in range(0, len(rise), _BLOCK):
        r = rise[start : start + _BLOCK]
        a = keys[: len(r)]
        for k in range(len(r)):
            x = np.float32(shift - r[k])
            a[k] = x if x > np.float32(0.0) else np.float32(0.0)
        top = _largest_key(bits[: len(r)])
        if top & _HIGH > best:
            best = top & _HIGH
            place = start + (top & _LOW)
    return place


@compiled
def _partner(row, diagonal, own, fall, best, keys, bits, gaps, gap_bits):
    """Return the variable whose fall, with the given rise, gains most (to second order), and the largest violation."""
    top_gain = np.int32(0)
    top_gap = np.int32(0)
    place = -1
    own = np.float32(own)
    for start in range(0, len(fall), _BLOCK):
        f = fall[start : start + _BLOCK]
        q = row[start : start + _BLOCK]
        d = diagonal[start : start + _BLOCK]
        a = keys[: len(f)]
        h = gaps[: len(f)]
        for k in range(len(f)):
            gap = np.float32(f[k] - best)
            gap = gap if gap > np.float32(0.0) else np.float32(0.0)
            curve = own + np.float32(d[k]) - np.float32(2.0) * np.float32(q[k])
            curve = curve if curve > np.float32(_FLAT) else np.float32(_FLAT)
            a[k] = gap * gap / curve
            h[k] = gap
        top = _largest_key(bits[: len(f)])
        if top & _HIGH > top_gain:
            top_gain = top & _HIGH
            place = start + (top & _LOW)
        w = gap_bits[: len(f)]
        for k in range(len(w)):
            top_gap = w[k] if w[k] > top_gap else top_gap
    gap_bits[0] = top_gap
    return place, np.float64(gaps[0])


@compiled
def _move(step, row_i, row_j, rise, fall, shift, keys, bits):
    """Add step times the difference of two rows to the slopes, and find the steepest rise in the same pass."""
    best = np.int32(0)
    place = -1
    for start in range(0, len(rise), _BLOCK):
        r = rise[start : start + _BLOCK]
        f = fall[start : start + _BLOCK]
        p = row_i[start : start + _BLOCK]
        q = row_j[start : start + _BLOCK]
        a = keys[: len(r)]
        for k in range(len(r)):
            change = step * (np.float64(p[k]) - np.float64(q[k]))
            u = r[k] + change
            r[k] = u
            f[k] += change
            x = np.float32(shift - u)
            a[k] = x if x > np.float32(0.0) else np.float32(0.0)
        top = _largest_key(bits[: len(r)])
        if top & _HIGH > best:
            best = top & _HIGH
            place = start + (top & _LOW)
    return place


@compiled
def smo(K, diagonal, rise, fall, beta, lower, upper, epsilon, tol, max_iter, keys, gaps):
    """Move pairs until no violation is above tol or max_iter is reached; return the iterations and whether it converged.

    Working sets by second-order information (Fan, Chen, Lin 2005). All arrays are changed in place; every step keeps beta
    feasible and lowers the objective.
    """
    bits = keys.view(np.int32)
    gap_bits = gaps.view(np.int32)
    shift = _largest(fall)
    i = _steepest_rise(rise, shift, keys, bits)
    iterations = 0
    while iterations < max_iter:
        if i < 0:
            # no rise below the last shift: try again with the exact shift
            shift = _largest(fall)
            i = _steepest_rise(rise, shift, keys, bits)
            if i < 0:
                return iterations, True
        best = rise[i]
        row_i = K[i]
        j, gap = _partner(row_i, diagonal, diagonal[i], fall, best, keys, bits, gaps, gap_bits)
        if gap <= tol or j < 0:
            i = _least(rise)
            if _largest(fall) - rise[i] <= tol or j < 0:
                return iterations, True
            best = rise[i]
            row_i = K[i]
            j, gap = _partner(row_i, diagonal, diagonal[i], fall, best, keys, bits, gaps, gap_bits)
            if j < 0:
                return iterations, False
        shift = best + gap
        low, high = fall[j], best
        curve = np.float64(diagonal[i]) + np.float64(diagonal[j]) - 2.0 * np.float64(row_i[j])
        step = (low - high) / (curve if curve > _FLAT else _FLAT)
        room_i = (upper[i] if beta[i] >= 0.0 else min(upper[i], 0.0)) - beta[i]
        room_j = beta[j] - (lower[j] if beta[j] <= 0.0 else max(lower[j], 0.0))
        g_i = _smooth_slope(i, beta, epsilon, rise, fall)
        g_j = _smooth_slope(j, beta, epsilon, rise, fall)
        # land on a bound exactly: with a rounding error the variable would count as free
        if step >= room_i and room_i <= room_j:
            step = room_i
            beta[i] = upper[i] if beta[i] >= 0.0 else min(upper[i], 0.0)
            beta[j] = beta[j] - step if room_j > room_i else (lower[j] if beta[j] <= 0.0 else max(lower[j], 0.0))
        elif step >= room_j:
            step = room_j
            beta[j] = lower[j] if beta[j] <= 0.0 else max(lower[j], 0.0)
            beta[i] += step
        else:
            beta[i] += step
            beta[j] -= step
        _set_slopes(i, g_i, beta, lower, upper, epsilon, rise, fall)
        _set_slopes(j, g_j, beta, lower, upper, epsilon, rise, fall)
        i = _move(step, row_i, K[j], rise, fall, shift, keys, bits)
        iterations += 1
    return iterations, _largest(fall) - rise[_least(rise)] <= tol


@compiled
def add_rows(K, changes, g):
    """Add sum_j changes_j K_j to g."""
    for j in range(len(changes)):
        c = changes[j]
        if c != 0.0:
            row = K[j]
            for k in range(len(g)):
                g[k] += c * np.float64(row[k])


@compiled
def slopes(g, beta, lower, upper, epsilon, rise, fall):
    """Write all derivatives from the smooth part g; return the largest violation."""
    for k in range(len(g)):
        _set_slopes(k, g[k], beta, lower, upper, epsilon, rise, fall)
    return _largest(fall) - rise[_least(rise)]


@compiled
def _choose_active(rise, fall, active):
    """List the variables that could be in a violating pair now; return their number."""
    low = rise[_least(rise)]
    high = _largest(fall)
    m = 0
    for k in range(len(rise)):
        if rise[k] <= high or fall[k] >= low:
            active[m] = k
            m += 1
    return m


@compiled
def _gather(K, active, part):
    m = len(active)
    for a in range(m):
        row = K[active[a]]
        out = part[a]
        for b in range(m):
            out[b] = row[active[b]]


@compiled
def solve(K, diagonal, g, beta, lower, upper, epsilon, tol, max_iter, buffer):
    """Solve the problem from beta, with smooth slope g = K beta - z on all rows; return iterations, convergence and work.

    After pairs of all variables, only those that can still move are used, on a copy of their part of K (`buffer`), and all are
    checked at the end. The work is the sum of the lengths of all passes.
    """
    n = len(g)
    rise, fall, keys, gaps = np.empty(n), np.empty(n), np.empty(_BLOCK, np.float32), np.empty(_BLOCK, np.float32)
    before, active = np.empty(n), np.empty(n, np.int64)
    iterations = 0
    work = 0.0
    limit = int(math.sqrt(len(buffer)))
    slice_ = n
    converged = False
    while iterations < max_iter:
        violation = slopes(g, beta, lower, upper, epsilon, rise, fall)
        if violation <= tol:
            converged = True
            break
        for k in range(n):
            before[k] = beta[k]
        m = _choose_active(rise, fall, active)
        few = m <= limit and 4 * m <= 3 * n
        if few:
            part = buffer[: m * m].reshape((m, m))
            _gather(K, active[:m], part)
            b, lo, hi, ri, fa = np.empty(m), np.empty(m), np.empty(m), np.empty(m), np.empty(m)
            dg = np.empty(m, diagonal.dtype)
            for a in range(m):
                k = active[a]
                b[a], lo[a], hi[a], dg[a], ri[a], fa[a] = beta[k], lower[k], upper[k], diagonal[k], rise[k], fall[k]
        else:
            part, dg, ri, fa, b, lo, hi = K, diagonal, rise, fall, beta, lower, upper
        most = min(max_iter - iterations, 64 * slice_ if few else slice_)
        done, ok = smo(part, dg, ri, fa, b, lo, hi, epsilon, tol, most, keys, gaps)
        work += float(done) * len(b)
        if few:
            work += float(m) * m
            for a in range(m):
                beta[active[a]] = b[a]
        if done == 0:  # rounding: the running slopes and the recomputed ones differ by more than tol
            break
        iterations += done
        slice_ = min(2 * slice_, 1 << 40)
        for k in range(n):
            before[k] = beta[k] - before[k]
        add_rows(K, before, g)
    return iterations, converged, work

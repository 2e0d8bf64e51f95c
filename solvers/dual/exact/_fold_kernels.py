"""Compiled steps around the pair solver: several models on the same rows, each started from a similar model's solution.

Arrays have a row for each model and a column for each row of the data; names are those of `_smo_kernels`.
"""

from __future__ import annotations

import numpy as np

from spotsvm.solvers.dual.exact._face_kernels import small_newton_step
from spotsvm.solvers.dual.exact._smo_kernels import add_rows, solve
from spotsvm.surrogates.compiled import compiled

#: fixed cost of a small Newton step, and cost of a multiplication in its factorisation, in units of a pass over a variable
_NEWTON_CALL, _NEWTON_FACTOR = 3000.0, 0.5
_REST = 1e-9  # relative distance to a bound that is only rounding, as in `bias_interval`


@compiled
def rebalance(beta, slope, lower, upper):
    """Bring the sum of beta to 0 in place, by the cheapest variables; return whether that was possible."""
    n = len(beta)
    excess, size = 0.0, 0.0
    for k in range(n):
        excess += beta[k]
        size += abs(beta[k])
    falls = excess > 0.0
    left = abs(excess)
    moved = False
    while left > 0.0:
        cheapest = -1
        least = np.inf
        for k in range(n):
            cost = -slope[k] if falls else slope[k]
            if beta[k] != (lower[k] if falls else upper[k]) and (cheapest < 0 or cost < least):
                cheapest = k
                least = cost
        if cheapest < 0:
            return moved and left <= n * 2.0**-52 * size
        moved = True
        end = lower[cheapest] if falls else upper[cheapest]
        room = abs(beta[cheapest] - end)
        if room >= left:
            shifted = beta[cheapest] + (-left if falls else left)
            beta[cheapest] = min(max(shifted, lower[cheapest]), upper[cheapest])  # rounding must not pass a bound
            return True
        beta[cheapest] = end
        left -= room
    return True


@compiled
def _solve_small(K, diagonal, offset, g, beta, lower, upper, epsilon, tol, most, max_iter, most_free, buffer):
    """Solve a problem of few rows by runs of pairs, and by Newton steps once these cost less; return the same as `solve`.

    A first run has at most `most` steps. If more than `most_free` variables are free, no Newton step is made, and `minimise` has
    to finish.
    """
    n = len(g)
    iterations, total, spent = 0, 0.0, 0.0
    free = np.empty(n, np.int64)
    while True:
        done, converged, work = solve(K, diagonal, g, beta, lower, upper, epsilon, tol, min(most, max_iter - iterations), buffer)
        iterations += done
        total += work
        spent += work
        if converged or iterations >= max_iter or done == 0:
            return iterations, converged, total
        m = 0
        for k in range(n):
            if lower[k] < beta[k] < upper[k] and (beta[k] != 0.0 or epsilon == 0.0):
                free[m] = k
                m += 1
        if m < 2 or m > most_free:
            return iterations, converged, total
        # in units of a pass over a variable; a Newton step has a factorisation, and a pass over all rows for each free variable
        if _NEWTON_CALL + m * m * m / 3.0 * _NEWTON_FACTOR + m * n <= spent:
            if small_newton_step(K, offset, g, beta, lower, upper, epsilon, free[:m]) < 0:
                return iterations, converged, total
            spent = 0.0


@compiled
def train(
    K,
    diagonal,
    offset,
    z,
    lower,
    upper,
    epsilon,
    from_beta,
    from_slope,
    from_z,
    same,
    tol,
    most,
    max_iter,
    most_free,
    buffer,
    beta,
    slope,
    steps,
):
    """Move a similar model's solution into each model's bounds, and solve each model by at most `most` steps of pairs.

    With `most_free`, models with at most so many free variables also use Newton steps, at most `max_iter`. Fewer starts than
    models are used in turn. `same` says that `from_slope` belongs to this K. Writes beta, slope = K beta - z, steps.
    """
    m, n = z.shape
    changes = np.empty(n)
    for p in range(m):
        b, g, q = beta[p], slope[p], p % len(from_beta)
        for k in range(n):
            b[k] = min(max(from_beta[q, k], lower[p, k]), upper[p, k])
        if not rebalance(b, from_slope[q], lower[p], upper[p]):
            for k in range(n):
                b[k] = 0.0
                g[k] = -z[p, k]
        else:
            for k in range(n):
                changes[k] = b[k] - from_beta[q, k] if same else b[k]
                g[k] = from_slope[q, k] + (from_z[q, k] - z[p, k]) if same else -z[p, k]
            add_rows(K, changes, g)
        if most_free is None:  # then numba compiles no Newton steps
            steps[p, 0], steps[p, 1], steps[p, 2] = solve(K, diagonal, g, b, lower[p], upper[p], epsilon, tol, most, buffer)
        else:
            steps[p, 0], steps[p, 1], steps[p, 2] = _solve_small(
                K, diagonal, offset, g, b, lower[p], upper[p], epsilon, tol, most, max_iter, most_free, buffer
            )


@compiled
def biases(slope, beta, lower, upper, epsilon, found):
    """Write the interval of optimal biases of each solution (`bias_interval`), its middle, and whether a bound is active.

    Columns of `found`: least, largest, middle, and 1 if a variable is at a bound other than 0, otherwise 0.
    """
    m, n = beta.shape
    for p in range(m):
        total, free, bounded = 0.0, 0, 0.0
        rise, fall = np.inf, -np.inf
        for k in range(n):
            b, g = beta[p, k], slope[p, k]
            rest = _REST * (upper[p, k] - lower[p, k])
            if not b > lower[p, k] + rest or not b < upper[p, k] - rest:
                bounded = 1.0 if abs(b) > rest else bounded
            elif epsilon == 0.0 or abs(b) > rest:
                total += g + epsilon * np.sign(b)
                free += 1
            if b < upper[p, k] - rest:
                rise = min(rise, g + (epsilon if b >= -rest else -epsilon))
            if b > lower[p, k] + rest:
                fall = max(fall, g + (epsilon if b > rest else -epsilon))
        low = -total / free if free else -rise
        high = -total / free if free else -fall
        found[p, 0], found[p, 1], found[p, 3] = low, high, bounded
        one = low if low > -np.inf else high
        other = high if high < np.inf else low
        found[p, 2] = 0.5 * (one + other) if one < np.inf and other > -np.inf else 0.0

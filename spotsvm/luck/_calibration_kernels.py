"""Compiled Newton steps of the calibration of decisions, for many draws of rows."""

from __future__ import annotations

import numpy as np

from spotsvm.surrogates.compiled import compiled


@compiled
def _loss(d, y, w, sure, ridge, theta, p):
    """Return the cross entropy to smoothed targets, and write the probabilities to p."""
    n, k = d.shape
    total = 0.0
    for c in range(k):
        total += 0.5 * ridge * theta[c + 1] ** 2
    for i in range(n):
        if w[i] == 0.0:
            continue
        top, own, others = -np.inf, 0.0, 0.0
        for c in range(k):
            f = theta[0] * d[i, c] + theta[c + 1]
            p[i, c] = f
            top = max(top, f)
            if c == y[i]:
                own = f
            else:
                others += f
        mass = 0.0
        for c in range(k):
            p[i, c] = np.exp(p[i, c] - top)
            mass += p[i, c]
        for c in range(k):
            p[i, c] /= mass
        t = sure[y[i]]
        total += w[i] * (np.log(mass) + top - t * own - (1.0 - t) / (k - 1) * others)
    return total


@compiled
def fit_softmax(decisions, y, weights, sure, ridge, theta, most_steps, enough):
    """Minimise the cross entropy of softmax(a d_c + b_c) for each draw, and write a and b into `theta`.

    `sure`, of shape (draws, k), is the target of a row's own class.
    """
    n_draws, n, k = decisions.shape
    p, q = np.empty((n, k)), np.empty((n, k))
    g, H = np.empty(k + 1), np.empty((k + 1, k + 1))
    for draw in range(n_draws):
        d, w, at = decisions[draw], weights[draw], theta[draw]
        now = _loss(d, y, w, sure[draw], ridge, at, p)
        for _ in range(most_steps):
            g[:] = 0.0
            H[:] = 0.0
            H[0, 0] = 1e-9
            for c in range(k):
                g[c + 1] = ridge * at[c + 1]
                H[c + 1, c + 1] = ridge
            for i in range(n):
                if w[i] == 0.0:
                    continue
                t = sure[draw, y[i]]
                mean, square = 0.0, 0.0
                for c in range(k):
                    mean += p[i, c] * d[i, c]
                    square += p[i, c] * d[i, c] ** 2
                H[0, 0] += w[i] * (square - mean * mean)
                for c in range(k):
                    r = w[i] * (p[i, c] - (t if c == y[i] else (1.0 - t) / (k - 1)))
                    g[0] += r * d[i, c]
                    g[c + 1] += r
                    H[0, c + 1] += w[i] * p[i, c] * (d[i, c] - mean)
                    H[c + 1, c + 1] += w[i] * p[i, c]
                    for e in range(c + 1):
                        H[e + 1, c + 1] -= w[i] * p[i, c] * p[i, e]
            for c in range(k + 1):
                for e in range(c):
                    H[c, e] = H[e, c]
            step = np.linalg.solve(H, g)
            size, after = 1.0, now
            for _ in range(15):
                after = _loss(d, y, w, sure[draw], ridge, at - size * step, q)
                if after <= now:
                    break
                size *= 0.5
            if not after < now:
                break
            at -= size * step
            p, q = q, p
            done = now - after <= enough * abs(now)
            now = after
            if done:
                break

"""The factor D by which the kernel is rescaled: large near the boundary of the pass before, or near its support vectors."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from spotsvm.estimators import Floats

# exp(-80) is 1.8e-35: nothing beside 1, and its square is still a normal number; denormals are up to 60 times slower
LOWEST_EXPONENT = -80.0
#: nearest support vectors that set the width around a support vector
N_NEAREST = 5


def log_factor(kappa: float | Floats, f: Floats) -> Floats:
    """Return log D = -kappa f^2, at least -80; equation :eq:`conformal-factor`."""
    with np.errstate(over="ignore"):
        return np.maximum(-(kappa * f) * f, LOWEST_EXPONENT)


def log_support_factor(rates: Floats, distances: Floats) -> Floats:
    """Return log D = log sum_i exp(-kappa_i d_i^2), at least -80; equation :eq:`support-factor`.

    `rates` are the kappa_i, nan for rows that are no support vectors; `distances` (m, n) the squared distances of new rows from
    all of them. Without a support vector D is 1.
    """
    centres = np.flatnonzero(np.isfinite(rates))
    if not len(centres):
        return np.zeros(len(distances))
    with np.errstate(over="ignore"):
        exponents = -rates[centres] * distances[:, centres]
    log_D: Floats = np.maximum(logsumexp(exponents, axis=1), LOWEST_EXPONENT)
    return log_D


def log_support_factor_gradient(rates: Floats, X: Floats, Z: Floats, distances: Floats) -> Floats:
    """Return the gradient of log D at the rows X, (m, d), 0 where log D is held at -80; Z are the rows that `rates` are of."""
    centres = np.flatnonzero(np.isfinite(rates))
    if not len(centres):
        return np.zeros_like(X)
    with np.errstate(over="ignore", invalid="ignore"):
        exponents = -rates[centres] * distances[:, centres]
        log_D = logsumexp(exponents, axis=1, keepdims=True)
        pulls = np.exp(exponents - log_D) * rates[centres]
        gradient: Floats = -2.0 * (pulls.sum(axis=1, keepdims=True) * X - pulls @ Z[centres])
        return np.where(log_D > LOWEST_EXPONENT, gradient, 0.0)


def local_rates(distances: Floats) -> Floats:
    """Return 1 / tau^2 of each support vector, with tau^2 its mean squared distance from the nearest others.

    `distances` (n, n) are the squared distances between them. A tau of 0, or that of a single support vector, gives way to the
    mean tau^2 of the others, or to 1.
    """
    n = len(distances)
    if n < 2:
        return np.ones(n)
    others = np.sort(distances + np.diag(np.full(n, np.inf)), axis=1)[:, : min(N_NEAREST, n - 1)]
    squared = others.mean(axis=1)
    known = squared[squared > 0]
    rates: Floats = 1.0 / np.where(squared > 0, squared, known.mean() if len(known) else 1.0)
    return rates

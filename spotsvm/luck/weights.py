"""Weights of an average of settings, from out-of-fold decisions; computed for many draws of rows at once.

In classification the weight of a setting is the share of draws of rows in which it is the best (agnostic Bayes: Lacoste,
Marchand, Laviolette and Larochelle 2014). In regression settings are selected greedily with replacement, to lower the
squared error of the average (Caruana, Niculescu-Mizil, Crew and Ksikes 2004).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.draws import Draws, counts_of, unit_sums

Array = NDArray[Any]

_LEAST = 0.02  # minimum weight of a setting, as a share of the largest weight
_FIRST, _STEPS = 3, 12  # size of the first set, and number of steps, of the greedy selection


def trimmed(weights: Array) -> Array:
    """Return weights that add up to 1, without tiny ones."""
    kept = np.where(weights >= _LEAST * weights.max(axis=-1, keepdims=True), weights, 0.0)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def largest(weights: Array, most: int) -> Array:
    """Return the `most` largest weights, scaled to add up to 1; all other weights are 0."""
    place = np.argsort(np.argsort(-weights, axis=-1, kind="stable"), axis=-1)
    kept = np.where(place < most, weights, 0.0)
    return np.asarray(kept / kept.sum(axis=-1, keepdims=True))


def single_best(gains: Array, weights: Array) -> Array:
    """Return weight 1 for the best setting and 0 for all others, (b, m), by gains (m, n) for each row of `weights` (b, n)."""
    means = weights @ gains.T
    return np.asarray(np.eye(len(gains))[means.argmax(axis=1)])


def agnostic_bayes(gains: Array, weights: Array, unit: NDArray[np.intp], rng: np.random.Generator, n_draws: int = 500) -> Array:
    """Return the share of draws of units of rows in which each setting is the best (:eq:`agnostic-bayes`); ties at random.

    `gains` are (m, n), `unit` is as in `Draws`.
    """
    units = unit_sums((gains * weights).astype(np.float32), unit)
    size = units.shape[1]
    counts = counts_of(rng.integers(size, size=(n_draws, size)))
    return trimmed(_how_often_best(counts @ units.T, units, rng))


def agnostic_bayes_in_draws(gains: Array, weights: Array, draws: Draws, rng: np.random.Generator, n_inner: int = 50) -> Array:
    """Return the weights of `agnostic_bayes` in each draw, (b, m).

    The inner draws use the same positions in all outer draws, so no further random numbers are needed.
    """
    units = unit_sums((gains * weights).astype(np.float32), draws.unit)
    size = units.shape[1]
    counts = counts_of(rng.integers(size, size=(n_inner, size)))
    columns = np.ascontiguousarray(units.T)
    return trimmed(np.stack([_how_often_best(counts @ columns[drawn], units, rng) for drawn in draws.drawn]))


def _how_often_best(totals: Array, units: Array, rng: np.random.Generator) -> Array:
    """Return the share of rows of totals in which each column is the largest."""
    noise = 1e-3 * float(np.abs(units).max(initial=0.0)) + 1e-12
    noisy = totals + np.float32(noise) * rng.random(totals.shape, np.float32)
    return np.bincount(noisy.argmax(axis=1), minlength=totals.shape[1]) / len(totals)


def greedy(errors: Array, weights: Array) -> Array:
    """Select settings with replacement: the three best, then those that lower the average's squared error most (:eq:`greedy`).

    Out-of-fold errors (m, n) and weights of rows (b, n) give shares (b, m).
    """
    errors, weights = errors.astype(np.float32), weights.astype(np.float32)
    own = weights @ (errors**2).T
    counts = np.zeros(own.shape)
    draws = np.arange(len(weights))
    total = np.zeros_like(weights)  # of the errors of the chosen settings
    first = np.argsort(own, axis=1, kind="stable")[:, :_FIRST]
    for step in range(first.shape[1] + _STEPS):
        with_chosen = (weights * total) @ errors.T
        best = first[:, step] if step < first.shape[1] else np.argmin(2.0 * with_chosen + own, axis=1)
        counts[draws, best] += 1.0
        total += errors[best]
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))

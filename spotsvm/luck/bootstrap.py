"""The score on new rows of a choice among candidates, from their out-of-fold decisions alone.

Rows are drawn again with replacement. The choice (here an average of candidates with weights) is made anew on each draw, and
judged on the rows that were left out of it: so the best of many out-of-fold scores is not taken for what it promises. No model
is fitted again. Tsamardinos, Greasidou and Borboudakis 2018, "Bootstrapping the out-of-sample predictions for efficient and
accurate cross-validation" (BBC-CV). As a draw has 63 % of the rows, its choice is worse than that on all rows, and the estimate
too low; the choice on all rows judged on the same rows is too high. Efron's .632 rule (1983) takes 0.632 times the first and
0.368 times the second. The spread of the draws, which leave out 37 % of the rows each, is that of 1.3 standard errors of a mean
over all rows; what is more than needed for the chance of rows makes up for the chance of folds and fits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.luck.scores import Score

Array = NDArray[Any]
_BLOCK = 4_000_000  # numbers of decisions that are held at once


@dataclass(frozen=True)
class Draws:
    """Draws with replacement of units, which are rows or groups of rows.

    Attributes
    ----------
    unit : ndarray of shape (n,)
        The unit of each row.
    drawn : ndarray of shape (n_draws, n_units)
        The units in each draw.
    """

    unit: NDArray[np.intp]
    drawn: NDArray[np.intp]

    @property
    def counts(self) -> NDArray[np.float32]:
        """How often each row is in each draw, (n_draws, n)."""
        return counts_of(self.drawn)[:, self.unit]


def draw_rows(n: int, n_draws: int, rng: np.random.Generator, groups: Any = None) -> Draws:
    """Draw rows with replacement, or groups of rows together.

    Parameters
    ----------
    n : int
        Number of rows.
    n_draws : int
        Number of draws.
    rng : numpy.random.Generator
        The source of chance.
    groups : array-like of shape (n,), optional
        A label of the group of each row.

    Returns
    -------
    Draws
        The draws.

    Examples
    --------
    >>> draws = draw_rows(4, 100, np.random.default_rng(0), groups=["a", "a", "b", "b"])
    >>> bool((draws.counts[:, 0] == draws.counts[:, 1]).all()), float(draws.counts.sum(axis=1).mean())
    (True, 4.0)
    """
    unit = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1].astype(np.intp)
    size = int(unit.max()) + 1
    return Draws(unit, rng.integers(size, size=(n_draws, size)))


def counts_of(drawn: NDArray[np.intp]) -> NDArray[np.float32]:
    """Return how often each unit is in each draw."""
    n_draws, size = drawn.shape
    flat = (drawn + size * np.arange(n_draws)[:, None]).ravel()
    return np.bincount(flat, minlength=n_draws * size).reshape(n_draws, size).astype(np.float32)


def unit_sums(values: Array, unit: NDArray[np.intp]) -> Array:
    """Return the sums over the rows of each unit along the last axis."""
    size = int(unit.max()) + 1
    if size == len(unit) and (unit == np.arange(size)).all():
        return values
    sums = np.zeros((*values.shape[:-1], size), values.dtype)
    np.add.at(sums.T, unit, values.T)
    return sums


def left_out_scores(
    decisions: Array,
    y: Array,
    sample_weight: Array,
    score: Score,
    draws: Draws,
    shares: Array,
    calibrate: Callable[[Array, Array], Array] | None = None,
) -> Array:
    """Score averages of candidates, one for each draw, on the rows that the draw has left out.

    Parameters
    ----------
    decisions : ndarray of shape (n_candidates, n, k)
        Out-of-fold decisions.
    y, sample_weight : ndarray of shape (n,)
        Codes of classes or targets, and weights of rows.
    score : Score
        The score.
    draws : Draws
        The draws.
    shares : ndarray of shape (n_draws, n_candidates)
        The weights of the average that each draw has chosen.
    calibrate : callable, optional
        (averages (b, n, k), weights of rows in the draw (b, n)) -> decisions (b, n, k) as `score` takes them.

    Returns
    -------
    ndarray of shape (n_draws,)
        The scores; nan where no rows were left out, or too few classes.
    """
    m, n, k = decisions.shape
    flat = decisions.reshape(m, n * k)
    counts = draws.counts
    scores = np.empty(len(counts))
    size = max(_BLOCK // (n * k), 1)
    for start in range(0, len(counts), size):
        block = slice(start, start + size)
        average = (shares[block].astype(flat.dtype) @ flat).reshape(-1, n, k)
        if calibrate is not None:
            average = calibrate(average, counts[block] * sample_weight)
        scores[block] = score.values(average, y, (counts[block] == 0) * sample_weight)
    return scores


def corrected(scores: Array, on_all_rows: float) -> Array:
    """Return the scores of draws, moved so that their mean is as the .632 rule has it.

    Parameters
    ----------
    scores : ndarray of shape (n_draws,)
        On the rows that each draw has left out.
    on_all_rows : float
        Score of the choice by all rows on all rows.

    Examples
    --------
    >>> corrected(np.array([0.7, 0.8, 0.9]), 0.9).round(4)
    array([0.7368, 0.8368, 0.9368])
    """
    return np.asarray(scores + 0.368 * (on_all_rows - mean_score(scores)))


def mean_score(scores: Array) -> float:
    """Return the mean over draws in which the score is defined; nan without any."""
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else np.nan


def percentile_interval(scores: Array, level: float = 0.95) -> tuple[float, float]:
    """Return the central interval that holds this share of the scores of draws; nan without any."""
    known = scores[np.isfinite(scores)]
    if not len(known):
        return np.nan, np.nan
    low, high = np.quantile(known, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)

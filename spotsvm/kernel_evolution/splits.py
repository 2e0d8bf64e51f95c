"""Random splits of rows into those to train on and those to predict, with a share of every class in either."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Split = tuple[NDArray[np.intp], NDArray[np.intp]]


def holdouts(strata: NDArray[Any] | None, n: int, fraction: float, count: int, rng: np.random.Generator) -> list[Split]:
    """Split off a random part of the rows, some times.

    Parameters
    ----------
    strata : int ndarray of shape (n,) or None
        Classes, each of which gives its share, and where it has two rows or more one to either part.
    n : int
        Number of rows, 2 or more.
    fraction : float
        Part of the rows that is split off, between 0 and 1.
    count : int
        Number of splits.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of pairs of int ndarray
        Rows to train on and rows to predict, each sorted.
    """
    groups = [np.arange(n)] if strata is None else [np.flatnonzero(strata == c) for c in np.unique(strata)]
    splits = []
    for _ in range(count):
        off = np.zeros(n, dtype=bool)
        for group in groups:
            size = min(max(round(fraction * len(group)), 1), len(group) - 1)
            off[rng.permutation(group)[:size]] = True
        splits.append((np.flatnonzero(~off), np.flatnonzero(off)))
    return splits


def folds(strata: NDArray[Any] | None, n: int, k: int, rng: np.random.Generator) -> list[Split]:
    """Make the folds of a cross-validation at random, of about equal parts of each stratum.

    Parameters
    ----------
    strata, n, rng
        As in `holdouts`.
    k : int
        Number of folds, 2 or more.
    """
    order = rng.permutation(n)
    if strata is not None:
        order = order[np.argsort(strata[order], kind="stable")]
    fold = np.empty(n, dtype=np.intp)
    fold[order] = np.arange(n) % min(k, n)
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(min(k, n))]

"""Detection of noise in an objective from repeated evaluations."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.kriging.replicates import aggregate

Floats = NDArray[np.float64]
Verdict = Literal["noisy", "deterministic", "unknown"]

_MANY_TIES = 0.05


def judge_noise(points: Floats, values: Floats) -> Verdict:
    """Judge by the replicates among evaluations whether the response at a point is always the same.

    Two responses at one point that differ prove noise; two that agree to the last bit speak against it.

    Parameters
    ----------
    points : ndarray of shape (N, d)
        Canonical points; equal rows are replicates.
    values : ndarray of shape (N,)
        Finite responses.

    Examples
    --------
    >>> judge_noise(np.array([[0.5], [0.2], [0.5]]), np.array([1.0, 2.0, 1.0]))
    'deterministic'
    """
    if len(values) < 2:
        return "unknown"
    data = aggregate(points, values)
    repeats = len(values) - len(data.mean)
    if repeats == 0:
        return "unknown"
    first = values[np.unique(data.index, return_index=True)[1]]
    if np.any(values != first[data.index]):
        return "noisy"
    return "deterministic"


def needs_second_look(points: Floats, values: Floats) -> bool:
    """Return whether a single pair of agreeing replicates may be chance.

    It may where even different points often give equal responses, such as an error counted on a small test set. Ties at
    the largest value do not count: there many a hopeless configuration gets the same error.

    Parameters
    ----------
    points, values
        As in `judge_noise`, which has found them deterministic.
    """
    data = aggregate(points, values)
    if len(values) - len(data.mean) != 1:
        return False
    below = data.mean[data.mean < np.max(data.mean)]
    if len(below) < 2:
        return False
    _, counts = np.unique(below, return_counts=True)
    ties = float(np.sum(counts * (counts - 1))) / (len(below) * (len(below) - 1))
    return ties > _MANY_TIES

"""Optimal computing budget allocation: which of several noisy candidates to evaluate once more."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solvers.errors import SolverError


def ocba_shares(means: ArrayLike, variances: ArrayLike) -> NDArray[np.float64]:
    """Give the share of all evaluations that each candidate should have, for the best chance to choose the best.

    For i not the best, N_i is proportional to (s_i / (mean_i - mean_best))^2, and N_best = s_best sqrt(sum N_i^2 / s_i^2).

    Parameters
    ----------
    means : array-like of shape (k,)
        Estimated responses, smaller being better; k >= 1.
    variances : array-like of shape (k,)
        Variance of one evaluation of each, > 0.

    Returns
    -------
    ndarray of shape (k,)
        Shares that add up to 1; candidates that tie with the best share its difficulty.

    Raises
    ------
    SolverError
        If there is no candidate, or a variance is not positive.

    References
    ----------
    Chen, Lin, Yucesan, Chick 2000, "Simulation Budget Allocation for Further Enhancing the Efficiency of Ordinal
    Optimization", theorem 1.

    Examples
    --------
    >>> ocba_shares([0.0, 1.0, 2.0], [1.0, 1.0, 1.0]).round(3)
    array([0.452, 0.438, 0.11 ])
    """
    mean, variance = np.asarray(means, dtype=float), np.asarray(variances, dtype=float)
    if mean.size == 0 or mean.shape != variance.shape or not np.all(variance > 0):
        raise SolverError(f"means={mean!r} and variances={variance!r} do not describe candidates; variances must be positive")
    if mean.size == 1:
        return np.ones(1)
    best = int(np.argmin(mean))
    gap = mean - mean[best]
    # a tie would need infinitely many evaluations; a hundredth of the noise is as good as tied
    ratio = variance / np.maximum(gap, 0.01 * np.sqrt(variance)) ** 2
    ratio[best] = 0.0
    ratio[best] = np.sqrt(variance[best] * np.sum(ratio**2 / variance))
    return np.asarray(ratio / ratio.sum())


def ocba_next(means: ArrayLike, variances: ArrayLike, counts: ArrayLike) -> int:
    """Give the candidate that is furthest behind its share once one more evaluation is made.

    Parameters
    ----------
    means, variances
        As in `ocba_shares`.
    counts : array-like of shape (k,)
        Evaluations that each has had.
    """
    have = np.asarray(counts, dtype=float)
    return int(np.argmax(ocba_shares(means, variances) * (have.sum() + 1.0) - have))

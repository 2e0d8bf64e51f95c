"""Optimal computing budget allocation: the choice of a noisy candidate to evaluate again."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError


def ocba_shares(means: ArrayLike, variances: ArrayLike) -> NDArray[np.float64]:
    """Return the shares of evaluations that maximise the probability of choosing the best candidate.

    For i not the best, N_i is proportional to (s_i / (mean_i - mean_best))^2, and N_best = s_best sqrt(sum N_i^2 / s_i^2).

    Parameters
    ----------
    means : array-like of shape (k,)
        Estimated responses, smaller being better, finite; k >= 1.
    variances : array-like of shape (k,)
        Variance of a single evaluation of each candidate, finite and > 0.

    Returns
    -------
    ndarray of shape (k,)
        Shares that add up to 1; candidates tied with the best get shares like the best.

    Raises
    ------
    SolverError
        If there is no candidate, a number is not finite, or a variance is not positive.

    Notes
    -----
    Equation :eq:`ocba-shares` of the chapter :doc:`/method/index`.

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
    finite = np.all(np.isfinite(mean)) and np.all(np.isfinite(variance))
    if mean.size == 0 or mean.shape != variance.shape or not finite or not np.all(variance > 0):
        raise SolverError(
            f"means={mean!r} and variances={variance!r} do not describe candidates; both must be finite, and variances positive"
        )
    if mean.size == 1:
        return np.ones(1)
    best = int(np.argmin(mean))
    others = np.arange(mean.size) != best
    deviation = np.sqrt(variance)
    # a tie would need infinitely many evaluations; a hundredth of the noise is as good as tied
    gap = np.maximum(0.5 * mean - 0.5 * mean[best], 0.005 * deviation)
    # logarithms, so that no square overflows; half of each gap suffices, since all shares are relative
    log_deviation = np.log(deviation)
    log_share = 2.0 * (log_deviation - np.log(gap))
    log_share[best] = log_deviation[best] + 0.5 * np.logaddexp.reduce(2.0 * (log_share - log_deviation)[others])
    shares = np.exp(log_share - log_share.max())
    return np.asarray(shares / shares.sum())


def ocba_next(means: ArrayLike, variances: ArrayLike, counts: ArrayLike) -> int:
    """Return the candidate that would be furthest behind its share after one more evaluation.

    Parameters
    ----------
    means, variances
        As in `ocba_shares`.
    counts : array-like of shape (k,)
        Number of evaluations of each candidate so far.

    Notes
    -----
    Equation :eq:`ocba-next` of the chapter :doc:`/method/index`.
    """
    have = np.asarray(counts, dtype=float)
    return int(np.argmax(ocba_shares(means, variances) * (have.sum() + 1.0) - have))

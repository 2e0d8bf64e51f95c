"""Optimal computing budget allocation: the choice of a noisy candidate to evaluate again."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError


def ocba_shares(means: ArrayLike, variances: ArrayLike) -> NDArray[np.float64]:
    """Return the shares of evaluations that maximise the probability of choosing the candidate of the smallest mean.

    Equation :eq:`ocba-shares`; Chen, Lin, Yucesan, Chick 2000, theorem 1: N_i ~ (s_i / (mean_i - mean_best))^2, N_best = s_best
    sqrt(sum N_i^2 / s_i^2). Candidates tied with the best get shares like it.
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
    """Return the candidate that would be furthest behind its share after one more evaluation (:eq:`ocba-next`)."""
    have = np.asarray(counts, dtype=float)
    return int(np.argmax(ocba_shares(means, variances) * (have.sum() + 1.0) - have))

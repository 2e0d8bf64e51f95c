"""Several objectives as one: the augmented Tchebycheff norm."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def augmented_tchebycheff(objectives: Floats, weights: Floats, rho: float = 0.05) -> Floats:
    """Return max_j w_j f_j + rho sum_j w_j f_j, f_j being the objectives scaled to [0, 1] by the range that was seen.

    At a small rho every point of a front, also of its concave parts, is the smallest at some weights; the second term keeps
    off what is dominated but for a tie, and what gains next to nothing in one objective for much of another.

    Parameters
    ----------
    objectives : ndarray of shape (n, m)
        All m to be minimised. Rows that are not finite give nan, and have no part in the range.
    weights : ndarray of shape (m,)
        Not negative, not all 0.
    rho : float, default=0.05
        Weight of the sum, above 0.

    Returns
    -------
    ndarray of shape (n,)

    References
    ----------
    Knowles 2006, "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization
    problems", IEEE Transactions on Evolutionary Computation 10(1), equation (2).

    Examples
    --------
    >>> augmented_tchebycheff(np.array([[0.0, 30.0], [1.0, 20.0], [2.0, 10.0]]), np.array([0.5, 0.5]))
    array([0.525, 0.275, 0.525])
    """
    out = np.full(len(objectives), np.nan)
    finite = np.isfinite(objectives).all(axis=1)
    if not finite.any():
        return out
    halves = 0.5 * objectives[finite]  # of which no difference is infinite
    low = halves.min(axis=0)
    span = halves.max(axis=0) - low
    weighted = weights * (halves - low) / np.where(span > 0, span, 1.0)
    out[finite] = weighted.max(axis=1) + rho * weighted.sum(axis=1)
    return out

"""Newton steps on the free variables of the dual without bias, for problems on which pairs converge slowly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]

LARGEST_FACE = 1500


def climb_face(K: Floats, lower: Floats, upper: Floats, beta: Floats, gradient: Floats) -> bool:
    """Climb to the maximum over the free variables, in place; stop variables at the bounds they meet.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.
    lower, upper : ndarray of shape (n,)
        Bounds.
    beta, gradient : ndarray of shape (n,)
        Point, and y - K beta there.

    Returns
    -------
    bool
        True if the step was possible: K is positive definite on the free variables, or nearly.
    """
    free = np.flatnonzero((beta > lower) & (beta < upper))
    if not 0 < len(free) <= LARGEST_FACE:
        return bool(len(free) == 0)
    start = beta[free].copy()
    slope = gradient[free].copy()
    H = K[np.ix_(free, free)]
    left = np.arange(len(free))  # variables not stopped yet
    for _ in range(len(free)):
        if not len(left):
            break
        direction = _newton_direction(H[np.ix_(left, left)], slope[left])
        if direction is None:
            break
        point, low, high = beta[free[left]], lower[free[left]], upper[free[left]]
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction > 0, (high - point) / direction, np.where(direction < 0, (low - point) / direction, np.inf))
        step = min(1.0, float(room.min()))
        moved = np.clip(point + step * direction, low, high)
        stopped = room <= step
        moved[stopped] = np.where(direction[stopped] > 0, high[stopped], low[stopped])
        slope -= (moved - point) @ H[left]
        beta[free[left]] = moved
        if step == 1.0:
            break
        left = left[~stopped]
    changes = beta[free] - start
    gradient -= changes @ K[free]
    return bool(changes.any())


def _newton_direction(H: Floats, slope: Floats) -> Floats | None:
    jitter = 1e-12 * max(float(np.trace(H)) / len(H), 1e-300)
    for _ in range(3):
        A = H.copy()
        A[np.diag_indices(len(A))] += jitter
        _, direction, info = lapack.dposv(A.T, slope, lower=True, overwrite_a=True)
        if info == 0 and direction @ slope > 0:
            found: Floats = direction
            return found
        jitter *= 100
    return None

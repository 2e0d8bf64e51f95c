"""A Newton step on the free variables, for problems on which pairs converge slowly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from spotsvm.solvers.dual.exact._face_kernels import descend_face

Floats = NDArray[np.float64]


def face_minimum(H: Floats, slope: Floats, beta: Floats, lower: Floats, upper: Floats, most: int) -> tuple[Floats, int] | None:
    """Move to the minimum of a quadratic on the face of its free variables, stopping variables at bounds they meet.

    Parameters
    ----------
    H : ndarray of shape (m, m)
        Curvature; overwritten. A constant may be added to all entries, as the sum of beta does not change.
    slope, beta, lower, upper : ndarray of shape (m,)
        Derivative, point and bounds of the free variables.
    most : int
        Number of stops after which it returns the point reached so far.

    Returns
    -------
    point : ndarray of shape (m,)
        A point with the same sum and no higher value.
    stops : int
        Number of variables that were stopped. If H is not positive definite, None is returned instead of both.
    """
    size = max(float(np.trace(H)) / len(H), 1e-300)
    H += size  # without it, a singular matrix whose range lacks the vector of ones would give a huge multiplier of the sum
    jitter = 1e-10 * size
    diagonal = np.diag_indices(len(H))
    for _ in range(4):
        H[diagonal] += jitter
        factor, info = lapack.dpotrf(H.T, lower=True, clean=False, overwrite_a=False)
        if info == 0:
            point = beta.copy()
            stops, _ = descend_face(np.ascontiguousarray(factor.T), slope, point, lower, upper, most)
            return point, int(stops)
        jitter *= 30
    return None

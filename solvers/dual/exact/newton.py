"""A Newton step on the free variables, where pairs of them converge slowly."""

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
        Curvature. A constant may be added to all of it, as the sum of beta does not change. It is overwritten.
    slope, beta, lower, upper : ndarray of shape (m,)
        Derivative, point and bounds of the free variables.
    most : int
        Stops after which it gives up; the way until then is kept.

    Returns
    -------
    point : ndarray of shape (m,)
        A point with the same sum and no higher value.
    stops : int
        Variables that were stopped. None instead of both if H is not positive definite.
    """
    size = max(float(np.trace(H)) / len(H), 1e-300)
    H += size  # where the vector of ones is not in a singular matrix's range, the multiplier of the sum would be huge
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

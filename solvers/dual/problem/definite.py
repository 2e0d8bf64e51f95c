"""A check whether a dual problem is concave; an exact local solution is then the optimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from spotsvm.solvers.dual.problem.problem import DualProblem

Floats = NDArray[np.float64]


def is_concave(problem: DualProblem) -> bool:
    """Return whether the dual objective is concave on its feasible set, up to rounding.

    It is concave if K is positive semidefinite; this is checked by a Cholesky factor of K plus 4 n eps times its trace on the
    diagonal. With a bias it suffices that beta' K beta >= 0 for every beta of sum zero, as with the negative distance and the
    negative multiquadric: then K_ij - K_i0 - K_0j + K_00 is semidefinite (Schoenberg 1938).
    """
    if has_factor(problem.K.copy()):
        return True
    K = problem.K
    return problem.bias and has_factor(K - K[:1] - K[:, :1] + K[0, 0])


def has_factor(K: Floats) -> bool:
    """Return whether K plus a small diagonal is positive definite, by a Cholesky factor; K is overwritten."""
    n = len(K)
    trace = float(K.trace())
    if trace < 0 or float(K.diagonal().min()) < -4 * n * np.finfo(np.float64).eps * max(trace, 0.0):
        return False
    if trace == 0:
        return not K.any()
    K.ravel()[:: n + 1] += 4 * n * np.finfo(np.float64).eps * trace
    # the transpose is in Fortran's order, so nothing is copied
    _, info = lapack.dpotrf(K.T, lower=True, clean=False, overwrite_a=True)
    return bool(info == 0)

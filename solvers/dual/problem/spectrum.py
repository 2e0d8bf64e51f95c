"""Checks whether a kernel matrix is positive semidefinite and a dual problem concave, and the nearest semidefinite matrix."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh, lapack

from spotsvm.solvers.dual.problem.problem import DualProblem

Floats = NDArray[np.float64]
MatrixState = Literal["semidefinite", "indefinite", "asymmetric", "not finite"]

#: smallest eigenvalue of a positive semidefinite matrix, relative to the largest: 0 up to rounding
SMALLEST_EIGENVALUE = -1e-8
_ASYMMETRY = 1e-8  # of the largest entry
_LARGEST_ENTRY = 1e150  # the squares of larger ones overflow


def matrix_state(K: Floats) -> MatrixState:
    """Return whether a matrix is a valid kernel matrix, or the reason why it is not: Koch et al. 2011, section 2.3.2.

    "semidefinite": symmetric, and the smallest eigenvalue is at least -1e-8 times the largest; "not finite" also if squares
    overflow.
    """
    low, high = float(K.min()), float(K.max())
    size = max(high, -low)
    if not size <= _LARGEST_ENTRY:
        return "not finite"
    if not is_symmetric(K, size):
        return "asymmetric"
    return "semidefinite" if _semidefinite(K, size) else "indefinite"


def is_symmetric(K: Floats, size: float) -> bool:
    """Return whether a matrix with entries up to `size` is symmetric within rounding."""
    # most asymmetric matrices show it in a corner
    corner = K[:8, :8]
    allowed = _ASYMMETRY * size
    if not (np.abs(corner - corner.T) <= allowed).all():
        return False
    return np.array_equal(K, K.T) or bool((np.abs(K - K.T) <= allowed).all())


def _semidefinite(K: Floats, size: float) -> bool:
    if size == 0.0:
        return True
    scaled = K / size
    diagonal = scaled.diagonal()
    if diagonal.min() < SMALLEST_EIGENVALUE * len(K):  # no eigenvalue is larger than n times the largest entry
        return False
    largest = _power_steps(scaled)
    if _has_factor(scaled, -SMALLEST_EIGENVALUE * largest):
        return True
    if not _has_factor(scaled, -SMALLEST_EIGENVALUE * float(np.linalg.norm(scaled))):
        return False
    eigenvalues = eigvalsh(scaled)
    return bool(eigenvalues[0] >= SMALLEST_EIGENVALUE * eigenvalues[-1])


def _power_steps(K: Floats) -> float:
    """Return a lower bound on the largest eigenvalue, usually close to it."""
    vector = K.sum(axis=0)
    bound = float(K.diagonal().max())
    for _ in range(3):
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            break
        vector = vector / length
        image = K @ vector
        bound = max(bound, float(vector @ image))
        vector = image
    return bound


def _has_factor(K: Floats, shift: float) -> bool:
    """Return whether K with `shift` added to its diagonal has a Cholesky factor."""
    shifted = K.copy()
    shifted.ravel()[:: len(K) + 1] += shift
    # the transpose is in Fortran's order, so nothing is copied
    _, info = lapack.dpotrf(shifted.T, lower=True, clean=False, overwrite_a=True)
    return bool(info == 0)


def clipping(K: Floats) -> tuple[Floats, Floats]:
    """Return the nearest positive semidefinite matrix K A, and A, the projection on eigenvectors of positive eigenvalues.

    For kernel values B of other rows with those of K, B A are the clipped values (Chen et al. 2009, "Similarity-based
    Classification", section 4.1.3).
    """
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    kept: Any = vectors[:, values > 0]
    projection = kept @ kept.T
    clipped = (kept * values[values > 0]) @ kept.T
    return (clipped + clipped.T) / 2, projection


def is_concave(problem: DualProblem) -> bool:
    """Return whether the dual objective is concave on its feasible set, up to rounding.

    It is concave if K is positive semidefinite. With a bias it suffices that beta' K beta >= 0 for every beta of sum zero, as
    with the negative distance and the negative multiquadric: then K_ij - K_i0 - K_0j + K_00 is semidefinite (Schoenberg 1938).
    """
    K = problem.K
    return is_semidefinite(K) or (problem.bias and is_semidefinite(K - K[:1] - K[:, :1] + K[0, 0]))


def is_semidefinite(K: Floats) -> bool:
    """Return whether K with 4 n eps times its trace added to its diagonal is positive definite, or K is 0."""
    trace = float(K.trace())
    rounding = 4 * len(K) * np.finfo(np.float64).eps * trace
    if trace < 0 or float(K.diagonal().min()) < -rounding:
        return False
    return _has_factor(K, rounding) if trace else not K.any()

"""Sequential minimal optimisation with Newton steps: the exact solver of problems with a bias."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from spotsvm.errors import OutOfTimeError

Floats = NDArray[np.float64]

#: Seconds of a pass over a variable; of a multiplication in a Cholesky factorisation (m^3 / 3 for m free variables); and of a
#: multiplication for a variable stopped at its bound (m^2 each). Only the ratios matter.
_PASS, _FACTOR, _STOP = 1e-9, 7e-11, 4e-10
#: fixed seconds of a Newton step, and steps of pairs before a Newton step is considered
_CALL, _LEAST = 1e-4, 500
#: share of the free variables that a first Newton step is expected to stop, from zero and from a similar solution
_COLD, _WARM = 0.25, 0.03
_LARGEST_FACE = 2500


@dataclass
class PairProblem:
    """Minimise beta' K beta / 2 - z' beta + epsilon |beta|_1 with sum(beta) fixed and lower <= beta <= upper.

    K is float32 or float64, C-contiguous, minus the constant `offset`; `buffer` holds copies of parts of it. Rows with lower =
    upper = 0 are not trained on.
    """

    K: NDArray[Any]
    diagonal: NDArray[Any]
    lower: Floats
    upper: Floats
    epsilon: float
    offset: float
    buffer: NDArray[Any]


def pair_steps(n: int, warm: bool) -> int:
    """Return the steps of pairs of n variables before a Newton step is considered; fewer from a similar solution."""
    return max(_LEAST, n // 2 if warm else 2 * n)


def minimise(
    problem: PairProblem,
    g: Floats,
    beta: Floats,
    tol: float,
    max_iter: int,
    *,
    warm: bool | None = None,
    first: tuple[int, bool, float] | None = None,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[int, bool]:
    """Minimise in place from beta, where g = K beta - z; return the iterations and whether the violation is at most tol.

    Newton steps on the free variables come when they cost no more than the pairs since the last. `first` is the result of a run
    of pairs that was already made, and `warm` says that beta is a similar problem's solution. OutOfTimeError once `is_late`.
    """
    from spotsvm.solvers.dual.exact._smo_kernels import solve

    p = problem
    iterations, spent, convex, stalled = 0, 0.0, True, False
    warm = bool(beta.any()) if warm is None else warm
    passes, stops = pair_steps(len(g), warm), None
    while True:
        done, converged, work = first or solve(
            p.K, p.diagonal, g, beta, p.lower, p.upper, p.epsilon, tol, min(passes, max_iter - iterations), p.buffer
        )
        first = None
        iterations += done
        if converged or iterations >= max_iter or (done == 0 and stalled):
            return iterations, bool(converged)
        if is_late():
            raise OutOfTimeError(f"no solution after {iterations} iterations, and the time is up")
        stalled = done == 0
        spent += work * _PASS
        free = np.flatnonzero((beta > p.lower) & (beta < p.upper) & ((beta != 0) | (p.epsilon == 0)))
        m = len(free)
        expected = m * (_WARM if warm else _COLD) if stops is None else stops + 4
        price = _CALL + m**3 / 3 * _FACTOR + expected * m**2 * _STOP
        if convex and 2 <= m <= _LARGEST_FACE and (price <= spent or stalled):
            stops = _newton_step(p, g, beta, free)
            convex, spent = stops is not None, 0.0


def _newton_step(problem: PairProblem, g: Floats, beta: Floats, free: NDArray[np.intp]) -> int | None:
    """Minimise over the free variables; return how many met a bound, or None if the curvature has no minimum."""
    from spotsvm.solvers.dual.exact._smo_kernels import add_rows

    p, b = problem, beta[free]
    curvature = p.K[np.ix_(free, free)].astype(np.float64) + p.offset
    lower, upper, slope = p.lower[free], p.upper[free], g[free]
    if p.epsilon:
        lower, upper = np.where(b > 0, np.maximum(lower, 0.0), lower), np.where(b < 0, np.minimum(upper, 0.0), upper)
        slope = slope + p.epsilon * np.sign(b)
    minimum = face_minimum(curvature, slope, b, lower, upper, len(free) // 2 + 4)
    if minimum is None:
        return None
    point, stops = minimum
    changes = np.zeros(len(g))
    changes[free] = point - b
    beta[free] = point
    add_rows(p.K, changes, g)
    return stops


def face_minimum(H: Floats, slope: Floats, beta: Floats, lower: Floats, upper: Floats, most: int) -> tuple[Floats, int] | None:
    """Move to the minimum of a quadratic on the face of its free variables, stopping variables at bounds they meet.

    Return a point with the same sum and no higher value, and how many (at most `most`) were stopped; None if H is not positive
    definite. H is overwritten; a constant may be added to it.
    """
    from spotsvm.solvers.dual.exact._face_kernels import descend_face

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

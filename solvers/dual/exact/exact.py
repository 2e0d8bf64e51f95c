"""The exact solver of the dual: coordinate ascent without a bias, pairs of coordinates with one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.exact.smo import PairProblem, minimise
from spotsvm.solvers.dual.problem.problem import DualProblem, kernel_sums
from spotsvm.solvers.dual.problem.result import Solution, iteration_cap, stop_message

Floats = NDArray[np.float64]

_ROUNDS = 4  # of solving again from recomputed slopes


def solve_exact(problem: DualProblem, start: Floats, tol: float = 1e-3, max_iter: int | None = None) -> Solution:
    """Solve the problem to a KKT violation of at most `tol`; if K is indefinite, to a stationary point.

    The start is moved into the feasible set, and the objective never falls below its value there.
    """
    cap = iteration_cap(problem.n) if max_iter is None else max_iter
    if not problem.bias:
        from spotsvm.solvers.dual.exact.coordinate import coordinate_ascent

        return coordinate_ascent(problem, start, tol, cap)
    lower, upper = problem.box
    beta = balanced(start * problem.y, lower, upper)
    beta, iterations, converged = solve_pairs(problem.K, problem.y, lower, upper, 0.0, beta, tol, cap)
    return Solution(np.abs(beta), iterations, iterations, converged, stop_message(converged, iterations, tol, cap))


def solve_pairs(
    K: Floats, z: Floats, lower: Floats, upper: Floats, epsilon: float, start: Floats, tol: float, max_iter: int
) -> tuple[Floats, int, bool]:
    """Minimise `beta' K beta / 2 - z' beta + epsilon |beta|_1` (:eq:`common-dual`) from a feasible start.

    Return beta, the number of iterations, and whether it has converged.
    """
    # steps are chosen in single precision: bring the matrix, and the target of a regression, into its range
    size = float(max(K.max(), -K.min()))
    k = 1.0 if size == 0.0 or 1e-9 < size < 1e9 else size
    height = float(np.abs(z).max())
    h = 1.0 if height == 0.0 or 1e-3 < height < 1e6 else height
    if k == 1.0 and h == 1.0:
        return _run(K, z, lower, upper, epsilon, start, tol, max_iter)
    r = k / h
    low, high = lower * r, upper * r
    beta, iterations, converged = _run(K / k, z / h, low, high, epsilon / h, start * r, tol / h, max_iter)
    inside: Floats = np.clip(beta / r, lower, upper)
    # variables at a bound must be exactly at it, unless the scaled bound has underflowed to 0
    top, bottom = (beta >= high) & (high > 0), (beta <= low) & (low < 0)
    inside[top], inside[bottom] = upper[top], lower[bottom]
    return inside, iterations, converged


def _run(
    K: Floats, z: Floats, lower: Floats, upper: Floats, epsilon: float, start: Floats, tol: float, max_iter: int
) -> tuple[Floats, int, bool]:
    n = len(z)
    room = np.empty(min(3 * n // 4 + 1, 4000) ** 2)
    problem = PairProblem(K, K.diagonal().copy(), lower, upper, float(epsilon), 0.0, room)
    beta = start.copy()
    iterations = 0
    for _ in range(_ROUNDS):
        g = kernel_sums(K, beta) - z
        done, converged = minimise(problem, g, beta, float(tol), max_iter - iterations)
        iterations += done
        # else solve again: slopes summed over many steps have rounding errors
        if not converged or done == 0 or iterations >= max_iter:
            break
    return beta, iterations, pair_violation(kernel_sums(K, beta) - z, beta, lower, upper, epsilon) <= tol


def pair_violation(g: Floats, beta: Floats, lower: Floats, upper: Floats, epsilon: float) -> float:
    """Return the largest violation of the optimality conditions by a pair of variables, where g = K beta - z."""
    rise = (g + np.where(beta >= 0, epsilon, -epsilon))[beta < upper]
    fall = (g + np.where(beta > 0, epsilon, -epsilon))[beta > lower]
    return float(np.max(fall, initial=-np.inf) - np.min(rise, initial=np.inf))


def balanced(beta: Floats, lower: Floats, upper: Floats) -> Floats:
    """Return a feasible point near beta: clipped to the bounds, with the heavier sign scaled down to a sum of 0."""
    inside: Floats = np.clip(beta, lower, upper)
    above, below = inside[inside > 0].sum(), -inside[inside < 0].sum()
    # a smaller difference is rounding: scaling would move variables off their bounds
    if abs(above - below) > 1e-12 * (above + below):
        heavy = inside > 0 if above > below else inside < 0
        inside[heavy] *= min(above, below) / max(above, below)
    return inside

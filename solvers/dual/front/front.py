"""Points of the Pareto front of margin and training error, and exact solutions on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.front.margin_error import ON_THE_MARGIN, Expansions, MarginError, evenly
from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.solvers.pareto import non_dominated

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Front:
    """Mutually non-dominated expansions, the widest margin first.

    Attributes
    ----------
    expansions : Expansions
        The points.
    C : ndarray of shape (m,)
        The C of an exact solution, up to scale; nan for all other points.
    source : ndarray of str of shape (m,)
        Source of each point: "exact"; "unconverged" if the exact solver did not converge; "scaled" for an exact solution with the
        error ``"hinge"`` whose margin exceeded the widest; "evolved"; "re-solved" by `resolve_front`.
    """

    expansions: Expansions
    C: Floats
    source: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.C)


def without_C(expansions: Expansions, source: str) -> Front:
    """Return points that are not exact solutions as a front."""
    return Front(expansions, np.full(len(expansions), np.nan), np.full(len(expansions), source))


def merge(criteria: MarginError, first: Front, second: Front) -> Front:
    """Return the non-dominated points of two fronts; of points that are equal up to rounding, that of the first front.

    Parameters
    ----------
    first, second : Front
        Points, not necessarily non-dominated.
    """
    points = first.expansions.joined(second.expansions)
    kept = non_dominated(criteria.objectives(points))
    return Front(points[kept], np.concatenate([first.C, second.C])[kept], np.concatenate([first.source, second.source])[kept])


def better_than_constant(criteria: MarginError, front: Front) -> Front:
    """Return the points with a smaller training error than the constant function, whose margin is wider than any."""
    error = criteria.objectives(front.expansions)[:, 1]
    constant = criteria.objectives(criteria.constant())[0, 1]
    kept = np.flatnonzero(error < constant * (1.0 - 1e-12))  # equality up to rounding is not better
    return Front(front.expansions[kept], front.C[kept], front.source[kept])


def natural_scale(K: Floats) -> float:
    """Return the mean squared distance of the rows from their centre in feature space.

    Its root is the widest useful margin: with a larger 1 / ||w|| the decision function is nearly constant. If an indefinite
    kernel has no such distance, the mean size of an entry is returned.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Kernel matrix.

    Returns
    -------
    float
        Positive.

    Examples
    --------
    >>> natural_scale(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    1.0
    """
    size = float(np.abs(K).mean())
    squared = float(np.diagonal(K).mean() - K.mean())
    if squared > 1e-9 * size:
        return squared
    return size if size > 0 else 1.0


def exact_front(criteria: MarginError, bounds: Sequence[float] | Floats, tol: float) -> Front:
    """Solve the support vector machine's dual exactly for rising C, each from the solution for the previous C.

    With the error ``"hinge"`` and a positive semidefinite kernel, these are points of the true Pareto front: both criteria are
    convex, and C runs through their weighted sums (eq. 22). With ``"count"`` each solution is evaluated at all its scales.

    Parameters
    ----------
    criteria : MarginError
        Kernel matrix, labels, and whether there is a bias.
    bounds : sequence of float
        Values of C, rising.
    tol : float
        Largest violation of the optimality conditions.

    Returns
    -------
    Front
        The solutions; empty if no solution has a norm.
    """
    front = without_C(criteria.evaluate(np.zeros((0, len(criteria.y)))), "exact")
    last: Floats | None = None
    for C in bounds:
        result = solve_dual(criteria.K, criteria.y, C, "exact", bias=criteria.bias, tol=tol, start=last)
        last = result.alpha
        points = _at_its_scales(criteria, result.alpha)
        source = "exact" if result.converged else "unconverged"
        if criteria.error == "hinge" and not np.array_equal(points.alpha[0], last):
            source = "scaled"  # its margin exceeded the widest, and the scaled point is not an optimum
        front = merge(criteria, front, Front(points, np.full(len(points), float(C)), np.full(len(points), source)))
    return front


def resolve_front(criteria: MarginError, front: Front, at_most: int, tol: float) -> Front:
    """Widen the margin of points of a ``"count"`` front exactly, with no more errors than before.

    Evolution chooses the rows to misclassify. The widest margin on the other rows is then a convex problem, the hard-margin
    support vector machine (Mierswa 2006, eq. 18); it is solved with the bound 0 for the chosen rows.

    Parameters
    ----------
    criteria : MarginError
        The two criteria, with the error ``"count"``.
    front : Front
        Points to start from.
    at_most : int
        Maximum number of problems to solve, at points evenly spread along the front.
    tol : float
        Largest violation of the optimality conditions.

    Returns
    -------
    Front
        The non-dominated points of `front` and of the solutions at all their scales.
    """
    bound = 4.0 * front.expansions.alpha.max(initial=0.0)  # hard enough: no multiplier of a point so far is larger
    best = front
    for point in evenly(len(front), at_most):
        alpha = front.expansions.alpha[point]
        decision = criteria.K @ (alpha * criteria.y) + front.expansions.bias[point]
        kept = criteria.y * decision >= 1.0 - ON_THE_MARGIN
        if len(np.unique(criteria.y[kept])) == 2:
            C = np.where(kept, bound, 0.0)
            result = solve_dual(criteria.K, criteria.y, C, "exact", bias=criteria.bias, tol=tol)
            best = merge(criteria, best, without_C(_at_its_scales(criteria, result.alpha), "re-solved"))
    return best


def _at_its_scales(criteria: MarginError, alpha: Floats) -> Expansions:
    return criteria.evaluate_at_all_scales(alpha) if criteria.error == "count" else criteria.evaluate(alpha[None, :])

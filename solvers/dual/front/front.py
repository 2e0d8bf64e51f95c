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

    `C` is that of an exact solution, up to scale, else nan. `source`: "exact", "unconverged", "scaled" (an exact solution whose
    margin exceeded the widest), "evolved" or "re-solved".
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
    """Return the non-dominated points of two fronts; of points that are equal up to rounding, that of the first front."""
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
    """Return the mean squared distance of the rows from their centre in feature space, or the mean size of K's entries.

    Its root is the widest useful margin: with a larger 1 / ||w|| the decision function is nearly constant. An indefinite kernel
    may have no such distance.
    """
    size = float(np.abs(K).mean())
    squared = float(np.diagonal(K).mean() - K.mean())
    if squared > 1e-9 * size:
        return squared
    return size if size > 0 else 1.0


def exact_front(criteria: MarginError, bounds: Sequence[float] | Floats, tol: float) -> Front:
    """Solve the dual exactly for rising C, each from the solution for the previous C; empty if no solution has a norm.

    With the error ``"hinge"`` and a positive semidefinite kernel these are points of the true Pareto front (eq. 22). With
    ``"count"`` each solution is evaluated at all its scales.
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

    Evolution chooses the rows to misclassify; the widest margin on the others is the hard-margin problem (Mierswa 2006, eq. 18),
    solved with bound 0 for the chosen rows, at `at_most` points evenly spread along the front.
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

"""Points of the Pareto front of margin and training error, with their sources."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.front.margin_error import Expansions, MarginError
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
    criteria : MarginError
        The two criteria.
    first, second : Front
        Points, not necessarily non-dominated.

    Returns
    -------
    Front
    """
    points = first.expansions.joined(second.expansions)
    kept = non_dominated(criteria.objectives(points))
    return Front(points[kept], np.concatenate([first.C, second.C])[kept], np.concatenate([first.source, second.source])[kept])


def better_than_constant(criteria: MarginError, front: Front) -> Front:
    """Return the points with a smaller training error than the constant function, whose margin is wider than any.

    Parameters
    ----------
    criteria : MarginError
        The two criteria.
    front : Front
        Points.

    Returns
    -------
    Front
        It may be empty.
    """
    error = criteria.objectives(front.expansions)[:, 1]
    constant = criteria.objectives(criteria.constant())[0, 1]
    kept = np.flatnonzero(error < constant * (1.0 - 1e-12))  # equality up to rounding is not better
    return Front(front.expansions[kept], front.C[kept], front.source[kept])

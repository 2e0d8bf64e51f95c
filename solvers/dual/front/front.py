"""Points of the front of margin against training error, and where they come from."""

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
        The C whose exact solution a point is, up to scale; nan for all others.
    source : ndarray of str of shape (m,)
        Where a point comes from: "exact" or, where the exact solver did not converge, "unconverged"; "scaled" for an exact
        solution by ``"hinge"`` whose margin was wider than the widest; "evolved"; "re-solved" by `resolve_front`.
    """

    expansions: Expansions
    C: Floats
    source: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.C)


def without_C(expansions: Expansions, source: str) -> Front:
    """Return points that are no exact solutions as a front."""
    return Front(expansions, np.full(len(expansions), np.nan), np.full(len(expansions), source))


def merge(criteria: MarginError, first: Front, second: Front) -> Front:
    """Return the non-dominated points of two fronts; of points that are equal up to rounding the first one's.

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
    kept = np.flatnonzero(error < constant * (1.0 - 1e-12))  # what is equal up to rounding is no better
    return Front(front.expansions[kept], front.C[kept], front.source[kept])

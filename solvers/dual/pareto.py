"""Fronts of two objectives that are both minimised: what is on them, how much they cover, and their knee."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def non_dominated(objectives: Floats) -> NDArray[np.intp]:
    """Give the rows that no other row dominates, by rising first objective; of equal rows the first.

    Parameters
    ----------
    objectives : ndarray of shape (m, 2)
        Both to be minimised; rows that are not finite are left out.

    Returns
    -------
    ndarray of shape (k,)
        Indices; the second objective falls strictly along them.

    Examples
    --------
    >>> non_dominated(np.array([[2.0, 1.0], [1.0, 3.0], [2.0, 2.0], [1.0, 3.0]]))
    array([1, 0])
    """
    rows = np.flatnonzero(np.isfinite(objectives).all(axis=1))
    rows = rows[np.lexsort((rows, objectives[rows, 1], objectives[rows, 0]))]
    second = objectives[rows, 1]
    lowest_before = np.concatenate([[np.inf], np.minimum.accumulate(second)])[:-1]
    front: NDArray[np.intp] = rows[second < lowest_before]
    return front


def hypervolume(objectives: Floats, reference: tuple[float, float]) -> float:
    """Give the area that points dominate, up to a reference point (Zitzler and Thiele 1998).

    Parameters
    ----------
    objectives : ndarray of shape (m, 2)
        Both to be minimised.
    reference : tuple of two floats
        Points beyond it in either objective count nothing.

    Returns
    -------
    float

    Examples
    --------
    >>> hypervolume(np.array([[0.0, 1.0], [1.0, 0.0]]), (2.0, 2.0))
    3.0
    """
    inside = objectives[(objectives < reference).all(axis=1)]
    front = inside[non_dominated(inside)]
    widths = np.diff(np.append(front[:, 0], reference[0]))
    return float(np.sum(widths * (reference[1] - front[:, 1])))


def knee(objectives: Floats) -> int:
    """Give the point of a front that is farthest below the straight line between its ends, both objectives scaled to [0, 1].

    Das 1999 (On characterizing the "knee" of the Pareto curve based on normal-boundary intersection, Structural Optimization
    18) for two objectives. Where no point is below the line, it is the first end.

    Parameters
    ----------
    objectives : ndarray of shape (m, 2)
        A front: mutually non-dominated points, m >= 1.

    Returns
    -------
    int
        Index of the point.

    Examples
    --------
    >>> knee(np.array([[0.0, 1.0], [0.2, 0.1], [1.0, 0.0]]))
    1
    """
    low, high = objectives.min(axis=0), objectives.max(axis=0)
    scaled = (objectives - low) / np.where(high > low, high - low, 1.0)
    return int(np.argmin(scaled.sum(axis=1)))


def evenly(length: int, at_most: int) -> NDArray[np.intp]:
    """Give at most so many indices, evenly spread from the first to the last."""
    return np.unique(np.linspace(0, length - 1, min(length, at_most)).astype(np.intp))

"""Pareto fronts of minimised objectives: the non-dominated points and the knee."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# relative; values that differ by less are equal up to rounding
_ROUNDING = 1e-12


def non_dominated(objectives: Floats) -> NDArray[np.intp]:
    """Return the rows that no other row dominates (all to be minimised), by rising first objective; of equal rows, the first.

    Relative differences up to 1e-12 count as equal, so rounding alone puts no point on the front; rows that are not finite are
    left out.
    """
    rows = np.flatnonzero(np.isfinite(objectives).all(axis=1))
    places = np.column_stack([_places(column) for column in objectives[rows].T])
    order = np.lexsort(places.T[::-1])
    if places.shape[1] == 2:
        second = places[order, 1]
        lowest_before = np.concatenate([[len(rows)], np.minimum.accumulate(second)])[:-1]
        front: NDArray[np.intp] = rows[order[second < lowest_before]]
        return front
    kept = np.empty(len(order), dtype=np.intp)
    front_places, n = np.empty_like(places), 0
    for k in order:  # a later row in this order dominates no earlier row
        if not (front_places[:n] <= places[k]).all(axis=1).any():
            kept[n], front_places[n] = k, places[k]
            n += 1
    found: NDArray[np.intp] = rows[kept[:n]]
    return found


def _places(values: Floats) -> NDArray[np.intp]:
    """Return each number's rank among the distinct numbers; neighbours that are equal up to rounding share a rank."""
    order = np.argsort(values, kind="stable")
    halves = 0.5 * values[order]  # halved, so that no difference overflows
    apart = np.diff(halves) > _ROUNDING * np.maximum(np.abs(halves[1:]), np.abs(halves[:-1]))
    places = np.zeros(len(values), dtype=np.intp)
    places[order[1:]] = np.cumsum(apart)
    return places


def knee(objectives: Floats) -> int:
    """Return the point of a front farthest below the line between its ends, both objectives scaled to [0, 1] (Das 1999).

    Where no point is below the line, it is the first end.
    """
    low, high = objectives.min(axis=0), objectives.max(axis=0)
    scaled = (objectives - low) / np.where(high > low, high - low, 1.0)
    return int(np.argmin(scaled.sum(axis=1)))

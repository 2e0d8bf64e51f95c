"""The region that a front does not dominate, as boxes, and what a point in it adds to the hypervolume.

All objectives are minimised. A box is open downwards in each objective, or begins at a level of the front; it ends at a level of
the front or at the reference.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.pareto import non_dominated

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MOST_BOXES = 1000


@dataclass(frozen=True)
class Boxes:
    """Disjoint boxes between levels of each objective; `low` (-1 for no lower end) and `high` are indices of levels, (B, m)."""

    levels: tuple[Floats, ...]
    low: Indices
    high: Indices

    @classmethod
    def of(cls, values: Floats, reference: Floats) -> Boxes:
        """Divide what no row of `values` (n, m) dominates, below the reference (m,); at most about a thousand boxes.

        Of a front that would need more, the points that are farthest apart are used.
        """
        inside = values[(values < reference).all(axis=1)]
        front, m = inside[non_dominated(inside)], len(reference)
        most = len(front)
        while _count(most, m) > _MOST_BOXES:
            most -= 1
        front = front[_far_apart(front, most)]
        levels = tuple(np.append(np.unique(front[:, j]), reference[j]) for j in range(m))
        places = np.column_stack([np.searchsorted(levels[j], front[:, j]) for j in range(m)]).astype(np.intp)
        tops = np.array([len(one) - 1 for one in levels], dtype=np.intp)
        pairs = np.array(_divide(places, tops), dtype=np.intp)
        return cls(levels, pairs[:, :, 0], pairs[:, :, 1])

    def volume(self, gains: list[Floats]) -> Floats:
        """Return the sum over boxes of the product of gains between their ends; `gains[j]` is (k, levels of objective j)."""
        product = np.ones(1)
        for j, gain in enumerate(gains):
            padded = np.hstack([np.zeros((len(gain), 1)), gain])
            product = product * (padded[:, self.high[:, j] + 1] - padded[:, self.low[:, j] + 1])
        return np.asarray(product.sum(axis=1))

    def added(self, values: Floats) -> Floats:
        """Return the hypervolume that each of the rows (k, m) alone would add; shape (k,)."""
        return self.volume([np.maximum(levels - values[:, [j]], 0.0) for j, levels in enumerate(self.levels)])


def _count(n: int, m: int) -> int:
    """Return the largest number of boxes of n points."""
    count = 1
    for j in range(m - 1):
        count = count * (n + 1 + j) // (j + 1)
    return count


def _far_apart(front: Floats, n: int) -> Indices:
    """Return n points of a front, each the farthest from those before it, from the best in the first objective on."""
    if len(front) <= n:
        return np.arange(len(front))
    span = np.ptp(front, axis=0)
    scaled = front / np.where(span > 0, span, 1.0)
    chosen, distance = [0], np.full(len(front), np.inf)
    while len(chosen) < n:
        distance = np.minimum(distance, ((scaled - scaled[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int(np.argmax(distance)))
    return np.array(chosen)


def _divide(places: Indices, tops: Indices) -> list[list[tuple[int, int]]]:
    """Return the boxes of points given by their levels, as pairs of ends for each objective: slabs along the last objective."""
    last = len(tops) - 1
    ends = places[:, last]
    if last == 0:
        return [[(-1, int(ends.min(initial=int(tops[0]))))]]
    steps = [-1, *np.unique(ends).tolist(), int(tops[last])]
    return [
        [*box, (low, high)]
        for low, high in zip(steps[:-1], steps[1:], strict=True)
        for box in _divide(places[ends <= low, :last], tops[:last])
    ]

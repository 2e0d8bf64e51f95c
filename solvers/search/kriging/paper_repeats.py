"""How often points are evaluated under noise: the rule of Koch et al. 2011, Algorithm 1."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.kriging.ocba import ocba_next

Floats = NDArray[np.float64]


@dataclass
class Tally:
    """A point, the evaluations that it has had or is having, and those that it is owed.

    Attributes
    ----------
    point : ndarray of shape (d,)
        The canonical point.
    owed : int
        Evaluations that it is to have whatever comes of them.
    n : int
        Evaluations asked for, or told without that.
    values : list of float
        What those gave that succeeded.
    mean : float
        The estimated response: their mean, inf as long as there is none.
    """

    point: Floats
    owed: int
    n: int = 0
    values: list[float] = field(default_factory=list)
    mean: float = np.inf

    def update(self) -> None:
        """Compute the mean of the values anew."""
        self.mean = sum(v / len(self.values) for v in self.values) if self.values else np.inf


class PaperRepeats:
    """Chooses which point to evaluate again, or a new one.

    A new point is owed as many evaluations as the best one has had, k, and `first` at least. Once all are paid, the best point is
    evaluated once more, so that k grows, `spread` more evaluations go where OCBA wants them, and a new point is due. A point that
    is pending is left alone, and so is one at which every evaluation has failed.

    Parameters
    ----------
    first : int
        Evaluations of each point of the initial design, k_0.
    most : int or None
        Evaluations of a point at most.
    spread : int
        Evaluations that OCBA allots between two new points.
    """

    def __init__(self, first: int, most: int | None, spread: int):
        self.first, self.most, self.spread = first, most, spread
        self._tallies: dict[bytes, Tally] = {}
        self._told_last: tuple[Floats, float] | None = None
        self._more = 0  # evaluations since the last new point that nothing was owed

    def asked(self, point: Floats) -> None:
        """Take note that a canonical point is asked for."""
        tally = self._tallies.get(point.tobytes())
        if tally is None:
            tally = self._tallies[point.tobytes()] = Tally(point, self._k())
            self._more = 0
        elif tally.n >= tally.owed:
            self._more += 1
        tally.n += 1

    def told(self, point: Floats, value: float, asked: bool) -> None:
        """Take note of what an evaluation gave, and whether it was asked for."""
        self._told_last = point, value
        tally = self._tallies.setdefault(point.tobytes(), Tally(point, 1))
        tally.n += not asked
        if np.isfinite(value):
            tally.values.append(value)
            tally.update()

    def disregard_last(self) -> None:
        """Take what was told last for a failure."""
        if self._told_last is not None and np.isfinite(self._told_last[1]):
            tally = self._tallies[self._told_last[0].tobytes()]
            tally.values.pop()
            tally.update()
        self._told_last = None

    def next(self, pending: Collection[bytes]) -> tuple[Floats, str] | None:
        """Return the point to evaluate again and why, or None where a new one is due.

        Parameters
        ----------
        pending : collection of bytes
            The points that are pending, as `tobytes` gives them.
        """
        idle = [
            tally
            for key, tally in self._tallies.items()
            if tally.values and key not in pending and (self.most is None or tally.n < self.most)
        ]
        for tally in idle:
            if tally.n < tally.owed:
                return tally.point, f"evaluation {tally.n + 1} of {tally.owed}"
        if self._more == 0:
            best = self._best()
            if any(tally is best for tally in idle):
                return best.point, f"evaluation {best.n + 1} of the best"
        chosen = _allotted(idle) if self._more <= self.spread and self.spread else None
        return None if chosen is None else (chosen.point, "to tell the best points apart")

    def _k(self) -> int:
        """Return how many evaluations a new point is owed."""
        k = max(self.first, self._best().n if self._tallies else 0)
        return k if self.most is None else min(k, self.most)

    def _best(self) -> Tally:
        return min(self._tallies.values(), key=lambda tally: tally.mean)


def _allotted(tallies: Sequence[Tally]) -> Tally | None:
    """Return the one to which OCBA allots an evaluation, None where the repeats show no noise.

    The variance at a point is estimated from its own repeats and, with the weight of one, from those of all: two responses that
    happen to be close do not pass for a point without noise.
    """
    if len(tallies) < 2:
        return None
    quarters = [0.25 * np.array(tally.values) for tally in tallies]  # the difference of any two is a number
    low, unit = np.min(np.concatenate(quarters)), np.ptp(np.concatenate(quarters))
    if not unit > 0:
        return None
    scaled = [(values - low) / unit for values in quarters]
    mean, count = np.array([np.mean(z) for z in scaled]), np.array([len(z) for z in scaled])
    within = np.array([np.sum((z - m) ** 2) for z, m in zip(scaled, mean, strict=True)])
    if not within.sum() > np.finfo(float).tiny:
        return None
    variance = (within + within.sum() / np.sum(count - 1)) / count
    return tallies[ocba_next(mean, variance, count)]

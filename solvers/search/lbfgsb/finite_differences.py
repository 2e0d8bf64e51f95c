"""Which points to evaluate for a gradient by finite differences on the unit cube, and the gradient from their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
Response = Callable[[Floats], float | None]


class FiniteDifferences:
    """One-sided differences, the step chosen for what a coordinate is.

    A continuous coordinate moves by `step`, an ordered one by as many levels as come near to that, and by one at least.
    A step that would leave the cube goes the other way. Categorical and inactive coordinates are held.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    response : callable
        Gives the value at a canonical point: nan for one that failed, None where it is not known.
    step : float
        Length of a step, as part of a coordinate's range, in (0, 0.5].

    Examples
    --------
    >>> differences = FiniteDifferences(Domain.continuous(2), lambda u: float(u[0] + 3 * u[1]), 0.05)
    >>> differences.gradient(np.array([0.5, 1.0])).round(6).tolist()
    [1.0, 3.0]
    """

    def __init__(self, domain: Domain, response: Response, step: float):
        self.domain = domain
        self.response = response
        self.step = step

    def neighbours(self, base: Floats, enlarged: float = 1.0) -> dict[int, list[Floats]]:
        """Return, for each coordinate that can move, the point to compare with, and one on the other side.

        Parameters
        ----------
        base : ndarray of shape (d,)
            A canonical point.
        enlarged : float, default=1.0
            Factor of the step.
        """
        out: dict[int, list[Floats]] = {}
        for j in np.flatnonzero((self.domain.levels != 1) & ~self.domain.categorical & self.domain.active(base)[0]):
            levels = int(self.domain.levels[j])
            length = min(self.step * enlarged, 0.5)
            if levels:
                length = max(round(length * levels), 1) / levels
            moved = []
            for sign in (1.0, -1.0):
                point = base.copy()
                point[j] += sign * length
                if -1e-12 <= point[j] <= 1.0 + 1e-12:
                    point = self.domain.snap_one(point)
                numbers = self.domain.coordinates[j].numbers
                if numbers is not None and point[j] == base[j]:  # the step is short of the next whole number
                    point[j] = numbers.place_of(np.clip(numbers.number_at(base[j]) + int(sign), numbers.low, numbers.high))
                if 0.0 <= point[j] <= 1.0 and point[j] != base[j]:
                    moved.append(self.domain.snap_one(point))
            out[int(j)] = moved
        return out

    def missing(self, base: Floats, enlarged: float = 1.0) -> list[Floats]:
        """Return the points whose values the gradient still needs."""
        out = []
        for points in self.neighbours(base, enlarged).values():
            for point in points:
                value = self.response(point)
                if value is None:
                    out.append(point)
                if value is None or np.isfinite(value):
                    break
        return out

    def gradient(self, base: Floats, enlarged: float = 1.0) -> Floats:
        """Return the gradient, when nothing is missing; 0 in a coordinate that is held, or where both sides failed."""
        at = self.response(base)
        out = np.zeros(self.domain.dimension)
        for j, points in self.neighbours(base, enlarged).items():
            for point in points:
                value = self.response(point)
                if value is not None and at is not None and np.isfinite(value):
                    with np.errstate(over="ignore"):
                        out[j] = (value - at) / (point[j] - base[j])
                    break
        return out

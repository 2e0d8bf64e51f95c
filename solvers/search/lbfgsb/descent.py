"""A descent of scipy's L-BFGS-B, which has no ask and tell: it is rerun on the known values until a value is missing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
Response = Callable[[Floats], float | None]


class FiniteDifferences:
    """One-sided differences, with a step for each kind of coordinate.

    A continuous coordinate moves by `step`, an ordered coordinate by the nearest number of levels, at least 1. A step that would
    leave the cube goes the other way. Categorical and inactive coordinates are not moved.

    Parameters
    ----------
    response : callable
        Returns the value at a canonical point: nan if the evaluation failed, None if the value is not known.
    step : float
        Length of a step, as a share of a coordinate's range, in (0, 0.5].

    Examples
    --------
    >>> differences = FiniteDifferences(
    ...     Domain.continuous(2), lambda u: float(u[0] + 3 * u[1]), 0.05
    ... )
    >>> differences.gradient(np.array([0.5, 1.0])).round(6).tolist()
    [1.0, 3.0]
    """

    def __init__(self, domain: Domain, response: Response, step: float):
        self.domain = domain
        self.response = response
        self.step = step

    def neighbours(self, base: Floats, enlarged: float = 1.0) -> dict[int, list[Floats]]:
        """Return the points on both sides of each coordinate that can move, the preferred side first.

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
                if numbers is not None and point[j] == base[j]:  # the step does not reach the next integer
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
        """Return the gradient, if no value is missing; 0 in a coordinate that is not moved, or if both sides failed."""
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


_ENLARGED = 4.0  # factor of the step on a plateau


class ValueMissingError(Exception):
    """Ends a descent at the first unknown value.

    Attributes
    ----------
    points : list of ndarray
        The points needed; none depends on another's value.
    origin : str
        Their purpose: "step" or "difference".
    """

    def __init__(self, points: list[Floats], origin: str):
        super().__init__(f"{len(points)} points for a {origin} are not known")
        self.points = points
        self.origin = origin


class LbfgsbDescent:
    """The descent from a start, as far as the known values allow.

    scipy gets the responses minus the response at the start, in a unit that makes the first step as long as `first_step`: the
    descent depends on neither unit nor offset of the response. A point that is no better than the best so far cannot be accepted,
    so no evaluations are spent on its gradient: scipy gets the gradient of the parabola along the step. A failed point gets the
    value that makes the step a quarter as long.

    Parameters
    ----------
    response : callable
        Returns the value at a canonical point: nan if the evaluation failed, None if the value is not known.
    start : ndarray of shape (d,)
        A canonical point.
    step : float
        Step of the finite differences.
    first_step : float
        Length of the first step, in the unit cube.
    options : dict
        Options of scipy's "L-BFGS-B".
    """

    def __init__(
        self, domain: Domain, response: Response, start: Floats, step: float, first_step: float, options: dict[str, Any]
    ):
        self.domain = domain
        self.response = response
        self.start = start
        self.first_step = first_step
        self.options = options
        self.differences = FiniteDifferences(domain, self._scaled, step)
        self._unit = 1.0
        self._origin = 0.0
        self._best: tuple[Floats, float, Floats] | None = None

    def run(self) -> None:
        """Descend until scipy has finished; return at once if there is no slope at the start.

        Raises
        ------
        ValueMissingError
            If values are missing; it has the points to evaluate first.
        """
        at = self._known([self.start], "step")[0]
        if not np.isfinite(at):
            return
        self._unit, self._origin, self._best = 1.0, at, None
        slope = self._gradient(self.start)
        largest = float(np.max(np.abs(slope)))
        if not 0 < largest < np.inf:
            return
        # in two steps: the square of a slope of 1e300 overflows
        self._unit = largest
        self._unit = largest * float(np.linalg.norm(slope / largest)) / self.first_step
        minimize(
            self._value_and_gradient,
            self.start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, 1.0)] * self.domain.dimension,
            options=self.options,
        )

    def _scaled(self, point: Floats) -> float | None:
        value = self.response(point)
        return None if value is None else (float(value) - self._origin) / self._unit

    def _known(self, points: list[Floats], origin: str) -> list[float]:
        values = [self.response(p) for p in points]
        if missing := [p for p, v in zip(points, values, strict=True) if v is None]:
            raise ValueMissingError(missing, origin)
        return [float(v) for v in values if v is not None]

    def _value_and_gradient(self, x: Floats) -> tuple[float, Floats]:
        """Return value and gradient at x for scipy, from the canonical point there."""
        point = self.domain.snap_one(x)
        value = (self._known([point], "step")[0] - self._origin) / self._unit
        if self._best is None or value < self._best[1]:
            slope = self._gradient(point)
            self._best = (np.array(x), value, slope)
            return value, slope
        before, lowest, slope = self._best
        way = x - before
        drop = float(slope @ way)
        if not np.isfinite(value):
            value = lowest + abs(drop)
        along = 2.0 * (value - lowest) - drop
        return value, slope + (along - drop) / max(float(way @ way), np.finfo(float).tiny) * way

    def _gradient(self, point: Floats) -> Floats:
        """Return the gradient, by larger steps if the smaller steps show no difference."""
        for enlarged in (1.0, _ENLARGED):
            if missing := self.differences.missing(point, enlarged):
                raise ValueMissingError(missing, "difference")
            slope = self.differences.gradient(point, enlarged)
            if np.any(slope != 0):
                break
        return slope

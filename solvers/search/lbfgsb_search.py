"""L-BFGS-B with finite differences and restarts: the obvious local search.

scipy's implementation has no ask and tell: a descent is rerun on the known values until a value is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import Noise, Suggestion
from spotsvm.solvers.search.contract.planned_search import PlannedSearch
from spotsvm.surrogates.domain import Domain, initial_design

Floats = NDArray[np.float64]
Response = Callable[[Floats], float | None]

_FREE_DESCENTS = 30  # descents that need no new point, before a random point is suggested
_DESIGNS_AHEAD = 200  # designs asked for while a descent waits for values, before a random point is suggested


class Progress(NamedTuple):
    """The progress of the search; `start` is None between two descents, `step` that of the current differences."""

    designs: int = 0
    start: Floats | None = None
    step: float = 0.0
    tried: frozenset[bytes] = frozenset()

    def descend(self, start: Floats, step: float) -> Progress:
        """Return the progress at the beginning of a descent."""
        return self._replace(start=start, step=step, tried=self.tried | {start.tobytes()})


class LbfgsbSearch(PlannedSearch):
    """scipy's L-BFGS-B from the best points of space-filling designs, with gradients by finite differences.

    Every evaluation counts: each point of a design, line search or difference is a separate suggestion.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of the designs.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of a point may differ. "auto" evaluates the best point of the first design again to detect noise.
    n_initial : int, default=6
        Points of each design, at least 1. The first design is the centre and a Latin hypercube, further designs are hypercubes.
    step : float, default=0.05
        Step of the differences, as a share of a coordinate's range, in (0, 0.5]. Cross-validated error is piecewise constant, so
        the best step for a smooth function, about 1e-8, would show no slope.
    noisy_step : float, default=0.1
        Step of the differences if there is noise.
    first_step : float, default=0.2
        Length of the first step of each descent in the unit cube, in (0, 1]; the unit of the response follows from it.
    ftol : float, default=1e-4
        A descent ends when a step lowers the response by less than this, in that unit.
    maxls : int, default=6
        Maximum number of points of a line search, at least 1.

    Notes
    -----
    The first descent starts at the best point reported before, without a design; if there is none, at the best point of the first
    design. After each descent follow another design and a descent from the best point, of all designs and of points reported
    without being asked for, that was not a start before. While a descent waits for values, `ask` returns points of the designs of
    later descents.

    Ordered coordinates move by whole levels; categories stay as at the start. If no difference shows a slope, the step is made
    four times as long; if there is still no slope, the descent ends. If a point of a difference fails, the other side is used; if
    a point of a line search fails, the step is shortened (`FiniteDifferences`, `LbfgsbDescent`).

    References
    ----------
    Byrd, Lu, Nocedal, Zhu 1995, "A Limited Memory Algorithm for Bound Constrained Optimization". Koch, Bischl, Flasch,
    Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", which compares it with Kriging.

    Examples
    --------
    >>> search = LbfgsbSearch(Domain.continuous(2), seed=0, noise=False)
    >>> for _ in range(40):
    ...     point = search.ask().point
    ...     search.tell(point, float(((point - 0.3) ** 2).sum()))
    >>> bool(search.values.min() < 0.002)
    True
    """

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        noise: Noise = "auto",
        n_initial: int = 6,
        step: float = 0.05,
        noisy_step: float = 0.1,
        first_step: float = 0.2,
        ftol: float = 1e-4,
        maxls: int = 6,
    ):
        super().__init__(domain, seed)
        for name, count in (("n_initial", n_initial), ("maxls", maxls)):
            if not is_count(count):
                raise SolverError(f"{name}={count!r} is too few points, or no number of points; use 1 or more")
        for name, most, length in (("step", 0.5, step), ("noisy_step", 0.5, noisy_step), ("first_step", 1.0, first_step)):
            if not 0 < length <= most:
                raise SolverError(f"{name}={length} is not a length in the unit cube; use more than 0 and at most {most}")
        if not ftol >= 0:
            raise SolverError(f"ftol={ftol} is negative; use 0 (stop only without any gain) or more")
        self.noise = noise
        self.n_initial = int(n_initial)
        self.capabilities = replace(self.capabilities, n_initial=self.n_initial)
        self.step = step
        self.noisy_step = noisy_step
        self.first_step = first_step
        self.options = {"ftol": ftol, "gtol": 1e-6, "maxls": maxls}
        self._designs: list[Floats] = []
        self._progress = Progress()
        self._planned_progress = Progress()

    @property
    def n_foreseen(self) -> int:
        """Number of points left of the design or of a gradient's differences."""
        return max(sum(self._is_open(s) for s in self._due(self._progress)[1]), 1)

    def _plan(self, rng: np.random.Generator) -> Suggestion:
        """Choose the next point: of a design or a descent; while the descent waits for values, of the next designs."""
        self._planned_progress, due = self._due(self._progress)
        for suggestion in due:
            if self._is_open(suggestion):
                return suggestion
        reason = "a descent waits for values" if due else "every point that a descent needs is known"
        for k in range(self._planned_progress.designs, self._planned_progress.designs + _DESIGNS_AHEAD):
            for point in self._design(k):
                if self.is_new(point):
                    return Suggestion(point, "design", reason)
        return Suggestion(self.new_point(rng), "random", reason)

    def _proceed(self, planned: Suggestion) -> None:
        self._progress = self._planned_progress

    def _is_open(self, suggestion: Suggestion) -> bool:
        if suggestion.origin == "replicate":
            return not self.is_pending(suggestion.point)
        return self.is_new(suggestion.point)

    def _due(self, progress: Progress) -> tuple[Progress, list[Suggestion]]:
        """Return the next points, none of which depends on another's value, and their progress.

        This changes no state: only points that are asked for do.
        """
        for _ in range(_FREE_DESCENTS):
            if progress.designs == 0 and progress.start is None:
                told = self.best_told()
                progress = progress._replace(designs=1) if told is None else progress.descend(told, self._step_now())
            if progress.start is None:
                points = [p for k in range(progress.designs) for p in self._design(k)]
                if missing := [p for p in points if self.response(p) is None]:
                    return progress, [Suggestion(p, "design") for p in missing]
                best = self.best_told()
                if best is not None and self.judge(self.noise) == "unknown":
                    return progress, [Suggestion(best, "replicate", "to find out whether the objective is noisy")]
                ahead = [p for design in self._designs[progress.designs :] for p in design]
                start = self._best_start([*points, *ahead, *self.strangers()], progress)
                if start is None:
                    progress = progress._replace(designs=progress.designs + 1)
                    continue
                progress = progress.descend(start, self._step_now())
            assert progress.start is not None
            try:
                LbfgsbDescent(self.domain, self.response, progress.start, progress.step, self.first_step, self.options).run()
            except ValueMissingError as missing_values:
                return progress, [Suggestion(p, missing_values.origin) for p in missing_values.points]
            progress = progress._replace(start=None, designs=progress.designs + 1)
        return progress, []

    def _best_start(self, points: list[Floats], progress: Progress) -> Floats | None:
        """Return the best of the points that was not a start before."""
        values = {p.tobytes(): self.response(p) for p in points if p.tobytes() not in progress.tried}
        ok = {key: v for key, v in values.items() if v is not None and np.isfinite(v)}
        return np.frombuffer(min(ok, key=lambda key: ok[key])).copy() if ok else None

    def _step_now(self) -> float:
        return self.noisy_step if self.judge(self.noise) == "noisy" else self.step

    def _design(self, number: int) -> Floats:
        while len(self._designs) <= number:
            k = len(self._designs)
            rng = np.random.default_rng([self.seed, 1 << 43, k])
            self._designs.append(initial_design(self.domain, self.n_initial, rng, centre=k == 0))
        return self._designs[number]


class FiniteDifferences:
    """One-sided differences; an ordered coordinate moves by the nearest number of levels, at least 1.

    A step that would leave the cube goes the other way; categorical and inactive coordinates are not moved. `response` is nan if
    the evaluation failed, None if the value is not known.
    """

    def __init__(self, domain: Domain, response: Response, step: float):
        self.domain = domain
        self.response = response
        self.step = step

    def neighbours(self, base: Floats, enlarged: float = 1.0) -> dict[int, list[Floats]]:
        """Return the points on both sides of each coordinate that can move, the preferred side first."""
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
    """Ends a descent at the first unknown value; `points` to evaluate do not depend on each other's values."""

    def __init__(self, points: list[Floats], origin: str):
        super().__init__(f"{len(points)} points for a {origin} are not known")
        self.points = points
        self.origin = origin


class LbfgsbDescent:
    """The descent from a start, as far as the known values allow.

    scipy gets responses minus that at the start, in a unit that makes the first step `first_step` long. Points no better than the
    best get the gradient of the parabola along the step; a failure gets a value that quarters the step.
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
        """Descend until scipy has finished, or there is no slope at the start; ValueMissingError has points to evaluate first."""
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

"""L-BFGS-B with finite differences and restarts: the obvious local search."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import Noise, Suggestion
from spotsvm.solvers.search.contract.planned_search import PlannedSearch
from spotsvm.solvers.search.lbfgsb.descent import LbfgsbDescent, ValueMissingError
from spotsvm.surrogates.domain import Domain, initial_design

Floats = NDArray[np.float64]

_FREE_DESCENTS = 30  # descents that need no new point, before a random point is suggested
_DESIGNS_AHEAD = 200  # designs asked for while a descent waits for values, before a random point is suggested


class Progress(NamedTuple):
    """The progress of the search.

    Attributes
    ----------
    designs : int
        Number of designs begun so far.
    start : ndarray or None
        Start of the current descent; None between two descents.
    step : float
        Step of the finite differences of the current descent.
    tried : frozenset of bytes
        The starts so far.
    """

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

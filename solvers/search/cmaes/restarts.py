"""Restarts of CMA-ES: population and initial width of each further run."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from spotsvm.solvers.errors import SolverError

Schedule = Literal["ipop", "bipop"]

_MOST_DOUBLINGS = 9


class Restarts:
    """The populations and widths of consecutive runs.

    Parameters
    ----------
    schedule : {"ipop", "bipop"}
        Each run has twice the population of the one before; or such runs take turns with small, narrow ones, of whichever
        kind has spent fewer evaluations so far.
    popsize : int
        Population of the first run.
    sigma0 : float
        Width of the first run, and of all large ones.

    References
    ----------
    Auger, Hansen 2005, "A restart CMA evolution strategy with increasing population size", section 2.
    Hansen 2009, "Benchmarking a BI-population CMA-ES on the BBOB-2009 function testbed", section 2.

    Examples
    --------
    >>> restarts = Restarts("ipop", popsize=6, sigma0=0.25)
    >>> sizes = []
    >>> for _ in range(3):
    ...     sizes.append(restarts.next(np.random.default_rng(0))[0])
    ...     restarts.end(all_failed=False)
    >>> sizes
    [6, 12, 24]
    """

    def __init__(self, schedule: Schedule, popsize: int, sigma0: float):
        if schedule not in get_args(Schedule):
            raise SolverError(f"restarts={schedule!r} is unknown; use 'ipop' or 'bipop'")
        self.schedule: Schedule = schedule
        self.popsize = popsize
        self.sigma0 = sigma0
        self.n_runs = 0
        self._doublings = 0
        self._small = False
        self._spent = {False: 0, True: 0}

    def next(self, rng: np.random.Generator) -> tuple[int, float]:
        """Return the population and the width of the next run; `rng` is for the small ones."""
        self.n_runs += 1
        large = self.popsize * 2**self._doublings
        self._small = self.schedule == "bipop" and self._doublings > 0 and self._spent[True] < self._spent[False]
        if not self._small:
            return large, self.sigma0
        size = int(self.popsize * (0.5 * large / self.popsize) ** (rng.random() ** 2))
        return size, self.sigma0 * 10.0 ** (-2.0 * rng.random())

    def spend(self, evaluations: int) -> None:
        """Count what the present run has spent; the first run counts for neither kind."""
        if self._doublings > 0:
            self._spent[self._small] += evaluations

    def end(self, all_failed: bool) -> None:
        """End the present run; where all points have failed, a larger population is no remedy."""
        if not self._small and not all_failed:
            self._doublings = min(self._doublings + 1, _MOST_DOUBLINGS)

"""The progress of a fit: log lines, and with `verbose` a bar or lines."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from time import monotonic

from spotsvm.tuned.sweeps import Scored, Sweeps

_LOG = logging.getLogger(__name__)


class SweepProgress(AbstractContextManager["SweepProgress"]):
    """Follows sweeps while they are scored, and logs each.

    With `verbose=1` there is a bar or a line for each tenth on standard error, as `Study.run` has with `progress`; with more a
    line for each sweep is printed, as `SpotSearchCV` does. `ends` is the time on the monotonic clock at which the sweeps end.
    """

    def __init__(self, sweeps: Sweeps, verbose: int, name: str, ends: float):
        from spotsvm.common.progress import ProgressDisplay  # on use: it is imported with the first fit

        self._sweeps, self._verbose, self._ends = sweeps, verbose, ends
        self._display = ProgressDisplay(sweeps.n_sweeps, name, "sweep") if verbose == 1 else None
        self._began = monotonic()

    def __enter__(self) -> SweepProgress:
        self._sweeps.callbacks.append(self._scored)
        if self._sweeps.n_scored:
            _LOG.info("%d of %d sweeps are recorded", self._sweeps.n_scored, self._sweeps.n_sweeps)
        if self._display is not None:
            self._display.begin(self._sweeps.n_scored)
        return self

    def __exit__(self, *details: object) -> None:
        if self._display is not None:
            self._display.end()

    def _scored(self, scored: Sequence[Scored]) -> None:
        number, of, first = self._sweeps.n_scored, self._sweeps.n_sweeps, scored[0].setting
        what = f"{first.family}, gamma 2^{first.log_gamma:g}, {len(scored)} values of C"
        _LOG.info("sweep %d of %d is scored after %.3g s: %s", number, of, monotonic() - self._began, what)
        if self._verbose > 1:
            print(f"[{number}/{of}] {what}")
        if self._display is not None:
            self._display.show(number, seconds=max(self._ends - monotonic(), 0.0))

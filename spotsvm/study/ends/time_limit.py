"""The time limit of a run: at its end no further trial starts."""

from __future__ import annotations

import threading
from collections.abc import Callable
from numbers import Real
from time import monotonic
from typing import Any

from spotsvm.common.errors import ArgumentError
from spotsvm.common.text import shown_value

FINDING = "timeout"


def checked_timeout(timeout: float | None, name: str = "trial_timeout") -> float | None:
    """Return the timeout, or raise ArgumentError if it is not a time."""
    is_number = isinstance(timeout, Real) and not isinstance(timeout, bool)
    if timeout is not None and not (is_number and 0 < timeout <= threading.TIMEOUT_MAX):
        raise ArgumentError(f"{name}={shown_value(timeout)} is not a time; use a positive number of seconds, or None")
    return timeout


class TimeLimit:
    """Wall seconds for a run, from now on.

    `reserve` returns seconds that are to be left for what follows the run, given the study. One trial is run in any case.

    Examples
    --------
    >>> from spotsvm import Study
    >>> study = Study({"x": [1, 2, 3]}, "random", 0).run(lambda p: p["x"], n_trials=1)
    >>> TimeLimit(60.0).reached(study), TimeLimit(1e-9).reached(study)
    (False, True)
    """

    def __init__(self, seconds: float, reserve: Callable[[Any], float] = lambda study: 0.0):
        self.seconds, self._reserve, self._began = seconds, reserve, monotonic()
        self._reached = False

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return self._began + self.seconds - monotonic()

    def reached(self, study: Any) -> bool:
        """Return whether the time is up, but for what is reserved; it stays so."""
        self._reached = self._reached or (study.n_finished > 0 and self.left <= self._reserve(study))
        return self._reached

    def report(self, study: Any) -> None:
        """Store the finding "timeout" if the limit has ended the run, or replace that of an earlier run."""
        if self._reached or FINDING in study.findings:
            n = study.n_finished
            how = "because its time was up" if self._reached else "within its time"
            sentence = f"The run ended after {n} {'trial' if n == 1 else 'trials'}, {how} (timeout={self.seconds:.4g} s)."
            study.add_finding(
                FINDING, {"sentence": sentence, "timed_out": bool(self._reached), "n_trials": n, "timeout": float(self.seconds)}
            )

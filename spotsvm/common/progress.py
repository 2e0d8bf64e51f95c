"""How far something long is, on standard error: a bar on a terminal, else a line after each tenth."""

from __future__ import annotations

import sys
from math import inf
from time import monotonic
from typing import Any

from tqdm import tqdm

from spotsvm.common.text import duration


class ProgressDisplay:
    """The progress of `budget` units; both forms have the remaining time, estimated from the mean time of a unit."""

    def __init__(self, budget: int, name: str = "", unit: str = "trial"):
        self._budget, self._name, self._unit = budget, name, unit
        self._tenth, self._earlier, self._began = -1, 0, 0.0
        self._bar: Any = None

    def begin(self, done: int, incumbent: str = "") -> None:
        """Begin where an earlier run has ended."""
        self._earlier, self._began = done, monotonic()
        self._tenth = 10 * done // max(self._budget, 1)
        if sys.stderr.isatty():
            self._bar = tqdm(total=self._budget, desc=f"{self._name:>8}" if self._name else None, unit=self._unit)
            self.show(done, incumbent=incumbent)

    def show(self, done: int, best: str = "", incumbent: str = "", seconds: float = inf) -> None:
        """Show how many units are done, and the best so far in a line or a bar; at most `seconds` are left."""
        if self._bar is not None:
            self._bar.update(done - self._bar.n)
            if incumbent:
                self._bar.set_postfix_str(incumbent)
            return
        tenth = 10 * done // max(self._budget, 1)
        if tenth > self._tenth:
            self._tenth = tenth
            mean = (monotonic() - self._began) / max(done - self._earlier, 1)
            seconds = min(mean * (self._budget - done), seconds)
            left = f", about {duration(seconds)} left" if seconds > 0 else ""
            name = f"{self._name}: " if self._name else ""
            print(f"{name}{done} of {self._budget} {self._unit}s{best}{left}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()

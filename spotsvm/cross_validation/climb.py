"""The early end of a sweep of ascending values, such as those of C, whose largest take the most time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Climb:
    """A sweep of ascending values, which ends at a score that is no better than the one before and clearly behind the best."""

    #: number of values before the sweep may end
    least: int = 2
    #: the best score so far, here or in other sweeps; larger is better
    best: float = -np.inf
    scores: list[float] = field(default_factory=list)

    def is_over(self, score: float, slack: float | Callable[[], float]) -> bool:
        """Add the score of the next value; return whether larger values would be no better, as it is `slack` behind the best.

        A score that is not finite keeps the sweep going.
        """
        self.scores.append(score)
        self.best = float(np.fmax(self.best, score))
        if len(self.scores) < self.least or not np.isfinite(self.scores).all():
            return False
        return score <= self.scores[-2] and score < self.best - (slack() if callable(slack) else slack)

"""The target and the models of a fit in numeric form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.cross_validation.fast_machines import Machines
from spotsvm.luck.draws import sample_rows
from spotsvm.out_of_fold.judged_rows import Answers, JudgedRows
from spotsvm.tuned.power_target import PowerScale, Smearing

Array = NDArray[Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Task:
    """The target and the models in numeric form; answers of a regression are in units of `scale` from `location`.

    Settings are chosen by `aim`, `y` within `ordinary_range`, which squared loss may also have on a `power` scale, and relevance
    is learned from the `relevance_target` (n, t). `default` maps training rows to C and epsilon, in the units of the models.
    """

    y: Array
    aim: Array
    machines: Machines
    relevance_target: Floats
    default: Callable[[NDArray[np.intp]], tuple[float, float]]
    epsilon: float
    classes: Array | None = None
    location: float = 0.0
    scale: float = 1.0
    power: PowerScale | None = None

    def sample(self, size: int, seed: int, groups: Any = None, held: Any = ()) -> NDArray[np.intp]:
        """Return indices of random rows; see `sample_rows`."""
        return sample_rows(len(self.y), size, seed, self.y if self.machines.n_classes else None, groups, held)

    def judged(self, weights: Floats, units: Any, held: bool) -> JudgedRows:
        """Return the rows as those that are judged, with these weights in scores; `held` if a fit on many rows left them out."""
        kind: Any = "left out" if held else "out of fold"
        cost, of_target = self.machines.cost, (self.location, self.scale)
        return JudgedRows(self.y, self.aim, self.classes, weights, cost, units, *of_target, kind)

    def answers(self, decisions: Array, own_threshold: bool = False) -> Answers:
        """Return decisions of settings, (m, n, k), as answers."""
        return Answers("predict" if self.classes is None else "decision_function", decisions, own_threshold=own_threshold)

    def smearing(self, decisions: Array) -> Smearing:
        """Return what makes targets of predictions on the power scale, by those out of fold, (n, 1)."""
        assert self.power is not None
        assert self.machines.aims is not None
        return Smearing.of(self.power, self.machines.aims[0], decisions[:, 0])

    def on(self, rows: Array) -> Task:
        """Return the task on some rows."""
        if len(rows) == len(self.y):
            return self
        return replace(
            self,
            y=self.y[rows],
            aim=self.aim[rows],
            machines=self.machines.on(rows),
            relevance_target=self.relevance_target[rows],
            default=lambda train: self.default(rows[train]),
        )

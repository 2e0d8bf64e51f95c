"""Policies: ways to spend the time of tuning on looks at settings, and on further partitions for the best of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spotsvm.studies.common.data import Floats
from spotsvm.studies.equal_time.estimates.choices import DEFAULTS, WEIGHT, Settings, best
from spotsvm.studies.equal_time.estimates.tables import LOG_C, Table, at

#: what a few C of a gamma cost by themselves, beside the same C on a path (1.13 to 1.19 on four data sets)
_ALONE = 1.2


class Looked(NamedTuple):
    """Who competes on further partitions, the time spent so far, and what one costs there beside the same on a path."""

    contenders: Settings
    time: float
    alone: float


class Policy(NamedTuple):
    """How time is spent: on looks, each a gamma with every `step`-th C of the grid, and then on further partitions.

    Of the best `contenders` gammas the best C and its neighbours in the grid are scored on all partitions; of None, all paths.
    The criterion is the error plus `weight` times the loss.
    """

    looks: int
    step: int
    partitions: int
    contenders: int | None = 3
    weight: float = WEIGHT

    def __str__(self) -> str:
        text = f"{self.looks} gamma x {len(LOG_C[:: self.step])} C"
        if self.partitions > 1:
            scored = "each" if self.contenders is None else f"the best {self.contenders} gamma x 3 C"
            text += f", {scored} on {self.partitions} partitions"
        return text + ("" if self.weight else ", error alone")

    def spend(self, table: Table, gammas: Sequence[int]) -> tuple[Settings, float]:
        """Return what is chosen, the defaults competing, and the time in units; looks are at the first of the gammas."""
        looked = self.look(table, gammas)
        values, further = table.errors + self.weight * table.losses, looked.contenders
        units = table.units[:, 1]
        time = looked.time + (self.partitions - 1) * (units[DEFAULTS].sum() + looked.alone * units[further].sum())
        return best(values[:, : self.partitions], np.concatenate([DEFAULTS, further])), float(time)

    def look(self, table: Table, gammas: Sequence[int]) -> Looked:
        """Score paths, and what is beside the contenders, on the first partition."""
        values, units = table.errors + self.weight * table.losses, table.units
        paths = at(np.asarray(gammas[: self.looks]), np.arange(0, len(LOG_C), self.step))
        time = float(units[DEFAULTS, 0].sum() + units[paths, 0].sum())
        if self.contenders is None or self.partitions == 1:
            return Looked(paths, time, 1.0)
        further = self._contenders(values[:, 0], paths)
        return Looked(further, time + _ALONE * float(units[np.setdiff1d(further, paths), 0].sum()), _ALONE)

    def _contenders(self, values: Floats, paths: Settings) -> Settings:
        rows = paths.reshape(self.looks, -1)
        tops = rows[np.arange(self.looks), values[rows].argmin(axis=1)]
        tops = tops[np.argsort(values[tops], kind="stable")[: self.contenders]]
        gammas, costs = np.divmod(tops - 1, len(LOG_C))
        near = [np.arange(max(c - 1, 0), min(c + 2, len(LOG_C))) for c in costs]
        return np.concatenate([at(g, some) for g, some in zip(gammas, near, strict=True)])


SPENT = (
    *(Policy(looks, 1, 1, weight=weight) for looks in (8, 19) for weight in (0.0, WEIGHT)),
    Policy(8, 2, 4, contenders=None),
    *(Policy(looks, 2, n) for looks, n in ((5, 3), (5, 5), (8, 4), (8, 6), (8, 8))),
    Policy(8, 2, 6, weight=0.0),
    *(Policy(8, 2, 6, contenders=n) for n in (1, 5)),
    *(Policy(looks, 1, n) for looks, n in ((8, 6), (13, 8), (19, 8))),
)

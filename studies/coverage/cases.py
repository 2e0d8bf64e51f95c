"""Rows to fit on, and many new rows: simulated tables of several kinds, and large real sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.studies.common.data import Floats
from spotsvm.studies.new_rows.sets import TableSet
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION

FEATURES = 5
#: numbers of rows to fit on: of a simulated table, and of a real set
SIMULATED_ROWS, REAL_ROWS = 150, 300
#: new rows of a simulated table: the standard error of their accuracy is below 0.5 points
NEW_ROWS = 10_000
SIMULATED, REAL = "simulated tables", "real sets"


class Rows(NamedTuple):
    """Rows with their targets; `weight` and `groups` are None where there are none."""

    X: Any
    y: Any
    weight: Floats | None = None
    groups: NDArray[np.int_] | None = None


class Sample(NamedTuple):
    """Rows to fit on, and new rows of the same kind."""

    old: Rows
    new: Rows


@dataclass(frozen=True)
class Case:
    """A law of rows: f = x1 + x1 x2 + e is the target, or its place among the `cuts` the class.

    Features are standard normal, and e is normal of deviation 0.7. With `weighted`, rows with x3 > 0 have the weight 3, others 1,
    and twice the deviation. With `group_size`, rows of a group share x5 and a part of e.
    """

    name: str
    task: str
    cuts: tuple[float, ...] = ()
    weighted: bool = False
    group_size: int = 1

    def sample(self, seed: list[int]) -> Sample:
        """Draw rows to fit on, and new rows in new groups."""
        return Sample(*(self._rows(n, np.random.default_rng([*seed, k])) for k, n in enumerate((SIMULATED_ROWS, NEW_ROWS))))

    def _rows(self, n: int, rng: np.random.Generator) -> Rows:
        X, groups = rng.normal(size=(n, FEATURES)), np.arange(n) // self.group_size
        heavy = X[:, 2] > 0
        noise = 0.7 * rng.normal(size=n) * np.where(self.weighted & heavy, 2.0, 1.0)
        if self.group_size > 1:
            X[:, 4] = rng.normal(size=n)[groups]
            noise += 0.7 * rng.normal(size=n)[groups]
        f = X[:, 0] + X[:, 0] * X[:, 1] + noise
        y = np.digitize(f, self.cuts) if self.cuts else f
        return Rows(X, y, np.where(heavy, 3.0, 1.0) if self.weighted else None, groups if self.group_size > 1 else None)


_CASES = (
    Case("two classes", CLASSIFICATION, (0.0,)),
    Case("a rare class", CLASSIFICATION, (2.0,)),
    Case("three classes", CLASSIFICATION, (-0.6, 0.6)),
    Case("two classes, weights", CLASSIFICATION, (0.0,), weighted=True),
    Case("two classes, groups", CLASSIFICATION, (0.0,), group_size=5),
    Case("regression", REGRESSION),
    Case("regression, weights", REGRESSION, weighted=True),
    Case("regression, groups", REGRESSION, group_size=5),
)
CASES = {case.name: case for case in _CASES}

#: sets of 1,797 rows and more, of scikit-learn and of the data folder
LARGE_SETS = (
    "digits", "friedman 1", "friedman 2", "friedman 3", "digits, x34", "banana", "image", "mfeat fou", "mfeat mor", "mfeat zer",
    "pendigits", "ringnorm", "splice", "twonorm", "waveform", "mushroom", "image, x18", "mfeat mor, 4", "mfeat zer, 24",
    "pendigits, x9", "twonorm, x11", "waveform, x11",
)  # fmt: skip


def real_sample(data: TableSet, split: int) -> Sample:
    """Return rows of a real set to fit on, and up to 2,000 others."""
    found = data.split(REAL_ROWS, split)
    return Sample(Rows(found.X, found.y), Rows(found.new_X, found.new_y))

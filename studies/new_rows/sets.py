"""The data sets of the study `new_rows` as raw tables, their kinds, and their splits into rows for tuning and new rows."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import skew
from sklearn.model_selection import train_test_split

from spotsvm.errors import DataError
from spotsvm.studies.new_rows.development_sets import DEVELOPMENT
from spotsvm.studies.new_rows.judging_sets import COMMITTED_SPLITS, JUDGED_ROWS, JUDGED_SPLITS, JUDGING
from spotsvm.studies.new_rows.sources import CLASSIFICATION, Source

NUMBERS, CATEGORIES = "numbers", "categories"
IMBALANCED, SKEWED, PLAIN = "imbalanced", "skewed", "plain"
#: the kinds of sets that are shown apart; a set is of one of the first two, and may be of one of the others too
KINDS = (NUMBERS, CATEGORIES, IMBALANCED, SKEWED)
#: of two classes the smaller one has less than this share
_IMBALANCE = 0.2
_SKEWNESS = 1.0
#: bounds of the number of new rows; sets with fewer than 1,000 + `_LEAST_NEW` rows leave fewer rows for tuning
_MOST_NEW, _LEAST_NEW = 2000, 400

SETS: dict[str, Source] = {**DEVELOPMENT, **JUDGING}


class Split(NamedTuple):
    """Rows for tuning and new rows: raw tables, and classes as integers or targets in their own unit."""

    X: pd.DataFrame
    y: NDArray[Any]
    new_X: pd.DataFrame
    new_y: NDArray[Any]


class TableSet(NamedTuple):
    """A data set: a raw table of features, and classes (as integers) or targets in their own unit."""

    name: str
    task: str
    table: pd.DataFrame
    target: NDArray[Any]

    @property
    def kind(self) -> str:
        """Whether the table has columns that are neither numbers nor dates."""
        dtypes = self.table.dtypes
        others = [t for t in dtypes if not (pd.api.types.is_numeric_dtype(t) or pd.api.types.is_datetime64_any_dtype(t))]
        return CATEGORIES if others else NUMBERS

    @property
    def trait(self) -> str:
        """Whether one of two classes is rare, or the skewness of a target is above 1 in size."""
        if self.task == CLASSIFICATION:
            shares = np.bincount(self.target) / len(self.target)
            return IMBALANCED if len(shares) == 2 and shares.min() < _IMBALANCE else PLAIN
        return SKEWED if abs(skew(self.target)) > _SKEWNESS else PLAIN

    @property
    def new_rows(self) -> int:
        """The number of new rows; it does not depend on the number of rows for tuning."""
        n = len(self.target)
        return min(_MOST_NEW, max(n - 1000, min(_LEAST_NEW, n // 3)))

    def allows(self, rows: int) -> bool:
        """Whether the set has this number of rows for tuning."""
        return rows <= len(self.target) - self.new_rows

    def places(self, rows: int, split: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Draw the places of rows for tuning and of new rows, by class if there are any; the new ones do not depend on `rows`."""
        classes = self.target if self.task == CLASSIFICATION else None
        pool, new = train_test_split(np.arange(len(self.target)), test_size=self.new_rows, stratify=classes, random_state=split)
        if rows < len(pool):
            strata = None if classes is None else classes[pool]
            pool, _ = train_test_split(pool, train_size=rows, stratify=strata, random_state=split)
        return pool, new

    def split(self, rows: int, split: int) -> Split:
        """Return rows for tuning and new rows, as they are."""
        old, new = self.places(rows, split)
        X, new_X = (self.table.iloc[part].reset_index(drop=True) for part in (old, new))
        return Split(X, self.target[old], new_X, self.target[new])

    def checksum(self, rows: Sequence[int], splits: int) -> int:
        """Return a checksum of the targets, the names of the columns, and the places of all splits."""
        target = self.target.astype(np.float64)
        found = zlib.crc32(repr([str(name) for name in self.table]).encode(), zlib.crc32(target.tobytes()))
        for number in filter(self.allows, rows):
            for split in range(splits):
                for places in self.places(number, split):
                    found = zlib.crc32(places.astype(np.int64).tobytes(), found)
        return found


def read_set(name: str) -> TableSet:
    """Read a set of `SETS`; DataError if it cannot be read, or if the splits of a judging set are not the committed ones."""
    found = _read(name, SETS[name])
    if name in JUDGING and found.checksum(JUDGED_ROWS, JUDGED_SPLITS) != COMMITTED_SPLITS.get(name):
        raise DataError(f"the rows or splits of {name} are not the committed ones; a package has another version")
    return found


def _read(name: str, source: Source) -> TableSet:
    table, target = source.read()
    table = table[table[target].notna()].reset_index(drop=True)
    y = table.pop(target)
    if source.task == CLASSIFICATION:
        return TableSet(name, source.task, table, np.unique(y.astype(str), return_inverse=True)[1])
    return TableSet(name, source.task, table, y.to_numpy(dtype=np.float64))

"""Encodings: the ways in which the columns of a table can become the numbers that a kernel takes.

`TableEncoder` makes a 0/1 column for each level of a category. With variance 1, as numbers have, a rare level is far from all
others, and a category with many levels counts for many numbers in each distance; as encoded, any two levels are equally far
apart, and a category counts for about one number. Which is better depends on the table, as does whether small whole numbers are
amounts or codes, and whether the last hour of a day is near the first. Out-of-fold rows choose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from spotsvm.common.notices import untold
from spotsvm.preprocessing.table_encoder import TableEncoder

STANDARD, LEVELS, CODES, CYCLES = "standard", "levels", "codes", "cycles"

#: numbers of different values of a column whose whole numbers may be codes, and the most 0/1 columns of all codes
_FEWEST_CODES, _MOST_CODES, _MOST_COLUMNS = 3, 12, 256
#: days of a week, months, hours and minutes: from 0 or 1, with this share of the values in the rows
_PERIODS, _SHARE = (7, 12, 24, 60), 0.9


@dataclass(frozen=True)
class Encoding:
    """The columns taken as categories, periods by column, and whether levels, marks of gaps and texts are `scaled` too."""

    codes: tuple[str, ...] = ()
    cycles: Mapping[str, int] = field(default_factory=dict)
    scaled: bool = False

    @property
    def reading(self) -> tuple[Any, ...]:
        """What the numbers depend on before they are scaled."""
        return self.codes, tuple(self.cycles.items())


def encodings_of(X: Any, categorical: Any) -> dict[str, Encoding]:
    """Return the encodings that a table allows, by name; `categorical` columns are categories in all of them."""
    found = {STANDARD: Encoding(scaled=True)}
    if issparse(X):
        return found
    with untold():  # the model tells, once
        columns = TableEncoder(categorical).fit(X).columns_
    if ((columns["kind"] == "category") & (columns["n_outputs"] >= _FEWEST_CODES)).any():
        found[LEVELS] = Encoding()
    numbers = columns.loc[columns["kind"] == "number", "column"].tolist()
    whole = {name: values for name, values in _whole_numbers(X, columns["column"].tolist()).items() if name in numbers}
    codes = [name for name, values in whole.items() if _FEWEST_CODES <= len(values) <= _MOST_CODES]
    if codes and sum(len(whole[name]) for name in codes) <= _MOST_COLUMNS:
        found[CODES] = Encoding(tuple(codes))
    cycles = {name: period for name, values in whole.items() if (period := _period(values))}
    if cycles:
        found[CYCLES] = Encoding(cycles=cycles)
    return found


def encodings_for(squared: bool, available: Collection[str]) -> list[str]:
    """Return the encodings of the models with squared loss, or of those with support vectors, so that the kinds differ."""
    if not squared:
        return [STANDARD]
    return [name for name in available if name != STANDARD or LEVELS not in available]


def _whole_numbers(X: Any, names: list[str]) -> dict[str, Any]:
    """Return the different values of the columns of whole numbers, by name."""
    found = {}
    for k, name in enumerate(names):
        column = X.iloc[:, k] if isinstance(X, pd.DataFrame) else X[:, k]
        if isinstance(column, pd.Series):
            if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
                continue
            column = column.to_numpy(dtype=np.float64, na_value=np.nan)
        values = np.unique(column[np.isfinite(column)])
        if len(values) and (values % 1 == 0).all():
            found[name] = values
    return found


def _period(values: Any) -> int:
    """Return the period whose values, from 0 or 1, these are; 0 if there is none."""
    first, last, n = values[0], values[-1], len(values)
    fitting = [p for p in _PERIODS if first in (0, 1) and last - first == p - 1 and n >= _SHARE * p]
    return fitting[0] if fitting else 0

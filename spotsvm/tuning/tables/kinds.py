"""The kinds of a table's columns: numbers, yes or no, categories and dates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from spotsvm.common.errors import DataError
from spotsvm.tuning.tables.cells import Where, mostly_numbers, not_numeric, shown, thousands_mark

#: of a text with more levels, nearly all of them different, nothing can be learnt
_MANY_LEVELS, _NEARLY_ALL = 20, 0.9
_DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%d-%m-%Y", "%Y.%m.%d")
#: how dates are written, in the order in which they are tried
FORMATS = tuple(day + time for day in _DAYS for time in ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S"))
_INTEGER = re.compile(r"[-+]?\d{1,400}")
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T]\d{1,2}:\d{2}(:\d{2})?)?")


@dataclass(frozen=True)
class Kinds:
    """The names of the columns of each kind; `dates` has their formats too, and `left_out` the reasons."""

    numeric: tuple[str, ...] = ()
    yes_no: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    dates: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    #: columns with missing values
    incomplete: tuple[str, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether all features are numbers without gaps."""
        return not (self.yes_no or self.categorical or self.dates or self.incomplete)

    def __str__(self) -> str:
        named = {"numeric": self.numeric, "yes/no": self.yes_no, "categorical": self.categorical, "dates": self.dates}
        parts = [f"{len(names)} {kind}" for kind, names in named.items() if names]
        gaps = f", {len(self.incomplete)} of them with missing values" if self.incomplete else ""
        return f"{', '.join(parts)}{gaps}" + (f"; {len(self.left_out)} left out" if self.left_out else "")


def find_kinds(X: pd.DataFrame, where: Where, categorical: Sequence[str] = (), wanted: Sequence[str] = ()) -> Kinds:
    """Return the kind of each column; `categorical` are taken as they are said, and `wanted` are never left out.

    DataError is raised if most cells of a column, but not all, are numbers: it is rather a column of numbers with a fault.
    """
    found: dict[str, list[str]] = {"numeric": [], "yes_no": [], "categorical": []}
    dates: dict[str, str] = {}
    left_out: dict[str, str] = {}
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if name in categorical:
            found["categorical"].append(name)
            continue
        if is_numeric_dtype(dtype):
            found["numeric"].append(name)
            continue
        column = X[name].dropna()
        if column.isin([True, False]).all() or huge_integers(column):  # booleans with gaps
            found["numeric"].append(name)
            continue
        mark = thousands_mark(column)
        if mark or mostly_numbers(column):
            thousands = f"use --thousands {mark!r}, " if mark else ""
            remedy = f"; correct the cell, {thousands}or use --categorical or --drop {name!r}"
            raise DataError(not_numeric(f"column {name!r}", X[name], where, remedy))
        levels = column.nunique()
        written = _format_of(column)
        if written is not None:
            dates[name] = written
        elif levels == 2:
            found["yes_no"].append(name)
        elif levels > max(_MANY_LEVELS, _NEARLY_ALL * len(column)) and name not in wanted:
            left_out[name] = f"a text with {levels} different values in {len(column)} rows, such as {shown(column.iloc[0])}"
        else:
            found["categorical"].append(name)
    gaps = np.asarray(X.isna().any())
    incomplete = tuple(name for name, gap in zip(X.columns, gaps, strict=True) if gap and name not in left_out)
    numeric, yes_no, categories = (tuple(found[kind]) for kind in ("numeric", "yes_no", "categorical"))
    return Kinds(numeric, yes_no, categories, dates, left_out, incomplete)


def typed(X: pd.DataFrame, kinds: Kinds) -> pd.DataFrame:
    """Return the columns that are used: numbers as floats, all others as text, or numbers that are categories."""
    if kinds.plain and not kinds.left_out:
        # one block of memory: pandas would else take thousands of columns one by one in every fold
        return pd.DataFrame(X.to_numpy(dtype=float), index=X.index, columns=X.columns)
    X = X.drop(columns=list(kinds.left_out))
    texts = [n for n, dtype in zip(X.columns, X.dtypes, strict=True) if n not in kinds.numeric and not _is_number(dtype)]
    # a missing value is nan, and not None, which encoders of scikit-learn take for a category
    as_text = {name: X[name].map(str, na_action="ignore").astype(object).where(X[name].notna(), np.nan) for name in texts}
    return X.assign(**as_text).astype({name: float for name in X.columns if name not in texts})


def huge_integers(column: pd.Series) -> bool:
    """Return whether all cells are integers, too large for those of a machine, but not for a float.

    Before version 3, pandas reads such a column as text.
    """
    is_text = any(isinstance(cell, str) for cell in column)
    try:
        numbers = [int(cell) if isinstance(cell, str) and _INTEGER.fullmatch(cell) else cell for cell in column]
        whole = len(numbers) > 0 and all(type(number) is int and np.isfinite(float(number)) for number in numbers)
        return whole and (not is_text or max(map(abs, numbers)) >= 2**63)
    except OverflowError:
        return False


def _is_number(dtype: Any) -> bool:
    return is_numeric_dtype(dtype) and not is_bool_dtype(dtype)


def _format_of(column: pd.Series) -> str | None:
    """Return the first format that reads all dates of a column; None if they are none."""
    if not column.map(lambda cell: isinstance(cell, str) and _DATE.fullmatch(cell) is not None).all():
        return None
    for written in FORMATS:
        if pd.to_datetime(column, format=written, errors="coerce").notna().all():
            return written
    return None

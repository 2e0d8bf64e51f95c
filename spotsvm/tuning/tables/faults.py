"""Faults in a table: cells that are not numbers or cannot be used, with their rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from spotsvm.errors import DataError
from spotsvm.preprocessing.cells.deciding import numbers_in

_HUGE = 1e100  # squares of larger numbers, and their sums, overflow
#: names the place of a row, by its label
Where = Callable[[Any], str]


def row_of(label: Any) -> str:
    """Return the place of a row in a table that was not read from a file."""
    return f"row {label}"


def not_numeric(what: str, column: pd.Series, where: Where, remedy: str) -> str:
    """Return an error message that names the first cell that is not a number."""
    odd = column[column.notna() & np.isnan(numbers_in(column))]
    label = (odd if len(odd) else column.dropna()).index[0]
    return f"{what} is not numeric ({where(label)} contains {short_repr(column.loc[label])}){remedy}"


def short_repr(value: Any) -> str:
    """Return the repr of a value, shortened to 40 characters."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def listed(names: Iterable[Any], most: int = 8) -> str:
    """Return the first names of columns, and the number of further columns."""
    texts = [repr(str(name)) for name in names]
    return ", ".join(texts[:most]) + (f" and {len(texts) - most} more" if len(texts) > most else "")


def check_features(X: pd.DataFrame) -> None:
    """Raise DataError if a column has missing values or anything but numbers; a series and some pipelines need numbers."""
    for name, dtype in zip(X.columns, X.dtypes, strict=True):
        if not is_numeric_dtype(dtype) and not (X[name].isna() | X[name].isin([True, False])).all():
            raise DataError(not_numeric(f"column {name!r}", X[name], row_of, "; correct the cell, or leave the column out"))
    missing = X.isna().to_numpy()
    if missing.any():
        k = int(np.argmax(missing.any(axis=0)))
        raise DataError(
            f"column {X.columns[k]!r} has {int(missing[:, k].sum())} missing values, the first in "
            f"{row_of(X.index[int(np.argmax(missing[:, k]))])}; fill or remove them"
        )
    check_sizes(X, row_of)


def check_sizes(X: pd.DataFrame, where: Where) -> None:
    """Raise DataError if a numeric column has infinite or too large numbers."""
    values = np.abs(X.to_numpy(dtype=float))
    bad = (values > _HUGE).any(axis=0)
    if bad.any():
        k = int(np.argmax(bad))
        remedy = "remove those rows, or leave the column out by --drop"
        check_size(f"column {X.columns[k]!r}", X.iloc[:, k], where, remedy)


def check_size(name: str, column: pd.Series, where: Where, remedy: str = "remove those rows") -> None:
    """Raise DataError if a numeric column, called `name` in the message, has infinite or too large numbers."""
    size = np.abs(column.to_numpy(dtype=float))
    for wrong, what in (
        (np.isinf(size), "infinite values"),
        (size > _HUGE, f"absolute values above {_HUGE:g}, too large to scale"),
    ):
        if wrong.any():
            raise DataError(f"{name} has {what}, the first in {where(column.index[int(np.argmax(wrong))])}; {remedy}")

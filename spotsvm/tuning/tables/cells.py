"""Say where in a table a cell is, and which one is no number."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype

#: says where a row is, by its label
Where = Callable[[Any], str]
#: numbers with marks between thousands, by the mark
_GROUPED = {
    ",": re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*)?"),
    ".": re.compile(r"[+-]?\d{1,3}(\.\d{3})+(,\d*)?"),
    "'": re.compile(r"[+-]?\d{1,3}(['\u2019]\d{3})+([.,]\d*)?"),
    " ": re.compile(r"[+-]?\d{1,3}([ \u00a0\u202f]\d{3})+([.,]\d*)?"),
}


def row_of(label: Any) -> str:
    """Return where a row is in a table that comes from no file."""
    return f"row {label}"


def are_numbers(present: pd.Series) -> pd.Series:
    """Return which cells of a column of text are numbers, with decimal points or, where more cells are so, with commas."""
    points = pd.to_numeric(present, errors="coerce").notna()
    if is_bool_dtype(present):
        return ~points
    texts = present.map(str)
    commas = pd.to_numeric(texts.str.replace(",", ".", regex=False), errors="coerce").notna()
    return commas if points.sum() < commas.sum() < len(present) else points


def mostly_numbers(present: pd.Series) -> bool:
    """Return whether at least half of the cells of a column of text are numbers."""
    return 2 * int(are_numbers(present).sum()) >= len(present)


def thousands_mark(present: pd.Series) -> str | None:
    """Return the mark that stands between the thousands of cells that would otherwise not parse as numbers; None without one.

    Examples
    --------
    >>> thousands_mark(pd.Series(["1,234.5", "12"])), thousands_mark(pd.Series(["1,5", "red"]))
    (',', None)
    """
    odd = present[~are_numbers(present)].map(str)
    return next((mark for mark, written in _GROUPED.items() if len(odd) and odd.map(written.fullmatch).notna().all()), None)


def not_numeric(what: str, column: pd.Series, where: Where, remedy: str) -> str:
    """Return an error that names the first cell that is no number."""
    present = column[column.notna()]
    odd = present[~are_numbers(present)]
    label = (odd if len(odd) else present).index[0]
    return f"{what} is not numeric ({where(label)} contains {shown(column.loc[label])}){remedy}"


def shown(value: Any) -> str:
    """Return the repr of a value, shortened to 40 characters."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:37]}..."

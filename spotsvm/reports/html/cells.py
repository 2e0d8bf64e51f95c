"""Values as texts of a page: numbers with few digits, and the same number of decimals within a column."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.text import MISSING, short

_LONGEST = 1000


def cell_of(value: Any, digits: int = 4) -> tuple[str, bool]:
    """Return the text of a table cell, floats with `digits` significant digits, and whether it is a number."""
    if value is None or value is pd.NaT or value is pd.NA:
        return MISSING, False
    if isinstance(value, bool | np.bool_):
        return str(bool(value)), False
    if isinstance(value, numbers.Integral):
        return cut_text(str(int(value))), True
    if isinstance(value, numbers.Real):
        return short(float(value), digits), True
    return cut_text(str(value)), False


def cut_text(text: str, longest: int = _LONGEST) -> str:
    """Shorten a text at its end; by default only if it would make a page unreadable."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def is_numeric(column: pd.Series[Any]) -> bool:
    """Return whether all known values of a column are numbers."""
    present = [number for text, number in map(cell_of, column) if text != MISSING]
    return bool(present) and all(present)


def column_texts(column: pd.Series[Any], digits: int = 4, decimals: int | None = None) -> list[str]:
    """Return the cells of a column; floats have these decimals, or the same number of decimals if their sizes are similar."""
    texts = [cell_of(value, digits)[0] for value in column]
    if column.dtype.kind != "f":
        return texts
    if decimals is None:
        sizes = np.abs(column[column.notna() & (column != 0)].to_numpy())
        if not len(sizes) or (sizes == np.rint(sizes)).all():
            return texts
        if not 1e-4 <= sizes.max() < 10.0**digits or sizes.min() < 1e-3 * sizes.max():
            return texts
        usual = float(np.median(sizes))
        # the smallest numbers get another digit
        decimals = max(digits - 1 - math.floor(math.log10(usual)), 0) + int(sizes.min() < 0.02 * usual)
    return [f"{value:.{decimals}f}" if text != MISSING else text for value, text in zip(column, texts, strict=True)]

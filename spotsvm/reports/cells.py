"""The cells of a table: numbers in short, what is missing as a dash."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

MISSING = "–"
_LONGEST = 1000


@dataclass(frozen=True)
class Cell:
    """What stands in a cell.

    Attributes
    ----------
    text : str
        As it is read.
    number : bool
        Whether it is a number, which stands to the right.
    """

    text: str
    number: bool = False


def cell_of(value: Any, digits: int = 4) -> Cell:
    """Give the cell of a value.

    Parameters
    ----------
    value : object
        A number, a text, or anything that has one; None and nan are missing.
    digits : int, default=4
        Significant digits of a number that is not whole.

    Examples
    --------
    >>> [cell_of(value).text for value in (0.123456, 12, 1234567.0, None, "rbf", 3e-9)]
    ['0.1235', '12', '1234567', '–', 'rbf', '3e-09']
    """
    if value is None or value is pd.NaT or value is pd.NA:
        return Cell(MISSING)
    if isinstance(value, bool | np.bool_):
        return Cell(str(bool(value)))
    if isinstance(value, numbers.Integral):
        return Cell(cut_text(str(int(value))), True)
    if isinstance(value, numbers.Real):
        return Cell(short(float(value), digits), True)
    return Cell(cut_text(str(value)))


def cut_text(text: str) -> str:
    """Give the beginning of a text that would make a page unreadable.

    Examples
    --------
    >>> cut_text("short"), len(cut_text("x" * 10_000))
    ('short', 1000)
    """
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def short(value: float, digits: int = 4) -> str:
    """Give a number in short, without an exponent where it is neither tiny nor huge.

    Examples
    --------
    >>> short(0.30000000000000004), short(2.0), short(float("nan")), short(-2.5e-5), short(13241.7)
    ('0.3', '2', '–', '-2.5e-05', '13242')
    """
    if math.isnan(value):
        return MISSING
    if value.is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e7 else f"{value:.{digits}g}"


def is_numeric(column: pd.Series[Any]) -> bool:
    """Tell whether a column holds numbers, and beside them at most what is missing."""
    cells = [cell_of(value) for value in column]
    known = [cell for cell in cells if cell.text != MISSING]
    return bool(known) and all(cell.number for cell in known)

"""The values of a column of any type: numbers, time stamps, or texts; DataError for types that no table of an SVM can have."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_datetime64_any_dtype, is_numeric_dtype, is_timedelta64_dtype

from spotsvm.common.text import shown_value
from spotsvm.errors import DataError
from spotsvm.preprocessing.cells.dates import stamps
from spotsvm.preprocessing.cells.numbers import Counts, Floats
from spotsvm.preprocessing.cells.words import is_missing, number_text

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating, Decimal, Fraction)
_DATES = (datetime.date, np.datetime64, pd.Period)  # a datetime and a Timestamp are dates
_DURATIONS = (datetime.timedelta, np.timedelta64, datetime.time)
#: what `infer_dtype` calls columns whose cells are all of one kind
_ALL_NUMBERS = ("boolean", "integer", "floating", "mixed-integer-float", "decimal")
_ALL_DATES = ("datetime", "datetime64", "date", "period")
_ALL_DURATIONS = ("timedelta", "timedelta64", "time")


class Texts(NamedTuple):
    """Some of the texts of a column: their indices, the texts, and how often each occurs."""

    at: NDArray[np.intp]
    texts: list[str]
    counts: Counts

    @property
    def n(self) -> int:
        """Number of cells."""
        return int(self.counts.sum())

    def spread(self, found: NDArray[Any], n: int, elsewhere: Any) -> NDArray[Any]:
        """Return what was found for each of these texts as an array for all `n` texts."""
        every = np.full(n, elsewhere, dtype=found.dtype)
        every[self.at] = found
        return every


@dataclass(frozen=True)
class Values:
    """The cells of a column; among "texts" there may be numbers, durations are in seconds, time stamps without their zone.

    `numbers` is NaN where there is none; `codes` has the index of each cell's text, -1 for a cell that is no text.
    """

    kind: Literal["numbers", "durations", "dates", "texts"]
    gaps: NDArray[np.bool_]
    numbers: Floats
    dates: pd.Series | None = None
    texts: list[str] = field(default_factory=list)
    codes: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    zoned: bool = False
    #: the column itself, for the texts of its numbers
    cells: Any = None

    @cached_property
    def counts(self) -> Counts:
        """How often each text occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.texts)).astype(np.intp)

    @property
    def n_numbers(self) -> int:
        """Number of cells that are numbers and not texts."""
        return int(np.isfinite(self.numbers).sum() + np.isinf(self.numbers).sum())

    def meaningful(self, missing: Collection[str]) -> Texts:
        """Return the texts that do not mean a missing value."""
        at = np.array([k for k, text in enumerate(self.texts) if not is_missing(text, missing)], dtype=np.intp)
        return Texts(at, [self.texts[k] for k in at], self.counts[at])

    def of_texts(self, per_text: NDArray[Any], elsewhere: Any) -> NDArray[Any]:
        """Return a value for each cell: that of its text, or `elsewhere`, which is a value or an array."""
        found = np.array(np.broadcast_to(elsewhere, self.codes.shape), dtype=np.result_type(per_text, elsewhere))
        is_text = self.codes >= 0
        found[is_text] = per_text[self.codes[is_text]]
        return found

    def as_texts(self) -> NDArray[np.object_]:
        """Return all cells as texts, with NaN for gaps; whole numbers have no decimal point."""
        found = np.full(len(self.gaps), np.nan, dtype=object)
        if self.kind == "texts":
            is_text = self.codes >= 0
            found[is_text] = np.array(self.texts, dtype=object)[self.codes[is_text]] if self.texts else np.nan
            others = np.flatnonzero(~is_text & ~self.gaps)
        else:
            others = np.flatnonzero(~self.gaps)
        known: dict[tuple[type, Any], str] = {}
        cells = np.asarray(self.cells, dtype=object)
        for k in others:
            cell = cells[k]
            key = type(cell), cell
            if key not in known:
                known[key] = cell_text(cell)
            found[k] = known[key]
        return found


def cell_text(cell: Any) -> str:
    """Return a cell as text."""
    if isinstance(cell, bool | np.bool_):
        return str(bool(cell))
    return number_text(cell) if isinstance(cell, _NUMBERS) else str(cell)


def values_of(column: pd.Series, name: str) -> Values:
    """Return the values of a column; DataError names a type that cannot be used."""
    dtype = column.dtype
    if isinstance(dtype, pd.SparseDtype):
        column = pd.Series(np.asarray(column), column.index)
        dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _of_categories(column, name)
    if getattr(dtype, "kind", "") == "c":
        raise DataError(
            f"column {name!r} has complex numbers ({dtype}); make two columns of their real and imaginary parts, or leave it out"
        )
    if is_timedelta64_dtype(dtype):
        return _all(column, "durations", np.asarray(column.dt.total_seconds(), dtype=float))
    if is_numeric_dtype(dtype):
        numbers = column.astype("Float64") if pd.api.types.is_extension_array_dtype(dtype) else column
        return _all(column, "numbers", np.asarray(numbers.to_numpy(dtype=float, na_value=np.nan)))
    if is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return _of_dates(stamps(column), isinstance(dtype, pd.DatetimeTZDtype))
    return _of_objects(column.to_numpy(dtype=object), name, str(dtype))


def _all(column: Any, kind: Literal["numbers", "durations"], numbers: Floats) -> Values:
    return Values(kind, np.isnan(numbers), numbers, cells=column)


def _of_dates(dates: pd.Series, zoned: bool) -> Values:
    gaps = dates.isna().to_numpy()
    return Values("dates", gaps, np.full(len(gaps), np.nan), dates.reset_index(drop=True), zoned=zoned, cells=dates)


def _of_categories(column: pd.Series, name: str) -> Values:
    """Return the values of a column of categories, each of which is read once."""
    codes = column.cat.codes.to_numpy()
    each = values_of(pd.Series(column.cat.categories), name)
    at = np.where(codes >= 0, codes, len(each.gaps))  # the last is that of gaps
    numbers, gaps = np.append(each.numbers, np.nan)[at], np.append(each.gaps, True)[at]
    cells = np.append(np.asarray(each.cells, dtype=object), [None])[at]
    if each.dates is not None:
        return _of_dates(pd.concat([each.dates, pd.Series([pd.NaT])], ignore_index=True).iloc[at], each.zoned)
    texts = np.append(each.codes, -1)[at] if each.kind == "texts" else each.codes
    return Values(each.kind, gaps, numbers, texts=each.texts, codes=texts, cells=cells)


def _of_objects(cells: NDArray[np.object_], name: str, dtype: str) -> Values:
    gaps = np.asarray(pd.isna(cells))
    what = infer_dtype(cells, skipna=True)
    if what in _ALL_NUMBERS:
        numbers = pd.to_numeric(pd.Series(cells), errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        return Values("numbers", gaps, numbers, cells=cells)
    if what in _ALL_DATES:
        return _of_dates(stamps(cells), any(getattr(cell, "tzinfo", None) is not None for cell in cells))
    if what in _ALL_DURATIONS:
        return Values("durations", gaps, np.array([_seconds(cell) for cell in cells]), cells=cells)
    numbers = np.full(len(cells), np.nan)
    if what not in ("string", "empty"):
        cells = cells.copy()
        for k in np.flatnonzero(~gaps).tolist():
            cell = cells[k]
            if isinstance(cell, _NUMBERS):
                numbers[k] = float(cell)
            elif not isinstance(cell, str):
                cells[k] = _text_of(cell, k, name, dtype)
    is_text = ~gaps & np.isnan(numbers)
    codes = np.full(len(cells), -1, dtype=np.intp)
    codes[is_text], texts = pd.factorize(cells[is_text])
    if what != "string" and not is_text.any() and not gaps.all():
        return Values("numbers", gaps, numbers, cells=cells)
    return Values("texts", gaps, numbers, texts=list(map(str, texts)), codes=codes, cells=cells)


def _text_of(cell: Any, row: int, name: str, dtype: str) -> str:
    if isinstance(cell, bytes):
        try:
            return cell.decode()
        except UnicodeDecodeError:
            return cell.decode("latin-1")
    has_parts = isinstance(
        cell, complex | np.complexfloating | Mapping | Set | list | tuple | np.ndarray | pd.Series | pd.DataFrame
    )
    has_no_text = callable(cell) or str(cell) == object.__repr__(cell)
    if has_parts or has_no_text:
        raise DataError(
            f"column {name!r} ({dtype}) has {shown_value(cell, 40)} in row {row} (counted from 0), a cell of type "
            f"{type(cell).__name__}; a cell is a number, a text or a date, so make columns of its parts, or leave the column out"
        )
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell)


def _seconds(cell: Any) -> float:
    if isinstance(cell, datetime.time):
        return 3600.0 * cell.hour + 60.0 * cell.minute + cell.second + cell.microsecond / 1e6
    return np.nan if pd.isna(cell) else pd.Timedelta(cell).total_seconds()

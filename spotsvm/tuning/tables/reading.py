"""Read the file of a table as it is, and say where in the file each row is."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_integer_dtype

from spotsvm.common.csv_files import read_csv
from spotsvm.common.text import did_you_mean
from spotsvm.errors import DataError, SpotSVMError
from spotsvm.tuning.tables.layout import BLANKS, MISSING, Layout, find_layout, last_line, line_of, other_encodings, uneven_rows


@dataclass(frozen=True)
class TableFile:
    """A table as it was read, with its rows numbered from 0, and what was left out of it."""

    path: str | Path
    frame: pd.DataFrame
    layout: Layout
    notes: tuple[str, ...] = ()

    def where(self, row: Any) -> str:
        """Return where in the file a row is."""
        return f"line {line_of(self.path, self.layout, int(row))}"

    def without_blank_rows(self) -> TableFile:
        """Return the table without rows in which every field is empty."""
        blank = self.frame.isna().all(axis=1)
        if not blank.any() or blank.all():
            return self
        note = f"rows without any value are left out: {int(blank.sum())}, the first in {self.where(blank.idxmax())}"
        return replace(self, frame=self.frame[~blank], notes=(*self.notes, note))


def read_file(path: str | Path, target: str, **how: Any) -> TableFile:
    """Read a file that has a target column; see `read_table`, and `find_layout` for what can be said about the file.

    Without a header row the columns are named by their numbers from 1. DataError is raised if the file cannot be read.
    """
    layout, frame = _read(path, target, **how)
    if target not in frame.columns:
        none = "" if layout.header else ", numbered as there is no header row"
        raise DataError(
            f"--target {target!r} is not a column of {path}, which has {listed(frame.columns)}{none}{_hint(layout)}"
            f"{did_you_mean(target, frame.columns)}"
        )
    notes = []
    if _numbers_the_rows(frame, target):
        frame = frame.iloc[:, 1:]
        notes.append("the first column has no name and only numbers the rows; it is ignored")
    spare = [name for name, empty in frame.isna().all().items() if empty and name != target] if len(frame) else []
    if spare and len(spare) < frame.shape[1] - 1:
        frame = frame.drop(columns=spare)
        what = "1 column is empty" if len(spare) == 1 else f"{len(spare)} columns are empty"
        notes.append(f"{what} and left out: {listed(pd.Index(spare))}")
    if len(frame) and frame.iloc[:, -1].isna().any() and (short := uneven_rows(path, layout, longer=False)):
        n, first = short
        what = "1 row has" if n == 1 else f"{n} rows have"
        notes.append(
            f"{what} fewer fields than the first one; what lacks is taken as missing ({'' if n == 1 else 'first '}line {first})"
        )
    return TableFile(path, frame, layout, tuple(notes))


def read_rows(path: str | Path, column: str, **how: Any) -> TableFile:
    """Read a file of further rows, all columns and rows with a value; `column` is in its header, `how` as in `read_file`."""
    layout, frame = _read(path, column, **how)
    return TableFile(path, frame, layout).without_blank_rows()


def _read(path: str | Path, target: str, encoding: str | None = None, **more: Any) -> tuple[Layout, pd.DataFrame]:
    """Return the layout, and all cells."""
    layout = Layout()
    try:
        layout = find_layout(path, target, encoding=encoding, **more)
        try:
            frame = _parsed(path, layout)
        except UnicodeDecodeError:
            others = [] if encoding else other_encodings(layout)
            if not others:
                raise
            layout, frame = _first_that_reads(path, others)
    except SpotSVMError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot read the file: {error.strerror or error}; {_instead(error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not {encoding} text: {error.reason}; use the right --encoding, or none") from error
    except pd.errors.ParserWarning as error:
        raise DataError(_too_long(path, layout)) from error
    except Exception as error:  # pandas and the decompressors raise many types
        if isinstance(error, pd.errors.ParserError) and uneven_rows(path, layout, longer=True):
            raise DataError(_too_long(path, layout)) from error
        why = _why(error, path, layout)
        raise DataError(f"{path} is not a CSV file with a header row: {why}; {_remedy(why)}{_hint(layout)}") from error
    if not layout.header:
        frame.columns = pd.Index([str(k + 1) for k in range(frame.shape[1])])
        return layout, frame
    names = layout.rows[0] if layout.rows else ()
    # pandas names a second "a" "a.1", but a file may well have both
    twice = next((name for name in names if name and names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise DataError(f"{path}: {names.count(twice)} columns are named {twice!r}; rename or remove all but one")
    return layout, frame


def _too_long(path: str | Path, layout: Layout) -> str:
    """Return where rows have more fields than the header, and what to do."""
    n, first = uneven_rows(path, layout, longer=True) or (1, layout.skip + 2)
    what = f"line {first} has" if n == 1 else f"{n} rows, the first in line {first}, have"
    return (
        f"{path}: {what} more fields than the header ({layout}); correct {'it' if n == 1 else 'them'}, name the separator by "
        "--sep, or leave out lines above the header by --skip-rows N"
    )


def _first_that_reads(path: str | Path, layouts: list[Layout]) -> tuple[Layout, pd.DataFrame]:
    *first, last = layouts
    for layout in first:
        try:
            return layout, _parsed(path, layout)
        except UnicodeDecodeError:
            continue
    return last, _parsed(path, last)


def _parsed(path: str | Path, layout: Layout) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # without an index column, rows longer than the header cause an error; else they would be shifted
        frame = read_csv(
            path,
            sep=r"\s+" if layout.separator == BLANKS else layout.separator,
            skiprows=layout.skip,
            decimal=layout.decimal,
            thousands=layout.thousands,
            encoding=layout.encoding,
            header=0 if layout.header else None,
            index_col=False,
            low_memory=False,
            skipinitialspace=True,
            na_values=list(MISSING),
        )
    return frame.copy()  # the columns of a type together: pandas would else go through thousands of columns one by one


def _numbers_the_rows(frame: pd.DataFrame, target: str) -> bool:
    """Return whether the first column is an index as pandas and R write it: unnamed, different integers."""
    first = frame.iloc[:, 0]
    spare = first.name == "Unnamed: 0" and target != "Unnamed: 0" and frame.shape[1] > 2
    return bool(spare and is_integer_dtype(first) and first.is_unique)


def _why(error: Exception, path: str | Path, layout: Layout) -> str:
    """Return what is wrong in one line, with the line of a quote that is not closed, where pandas counts rows."""
    why = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ") or type(error).__name__
    return f"EOF inside string starting in line {last_line(path, layout)}" if why.startswith("EOF inside string") else why


#: what to do about an error, by words of it
_REMEDIES = {
    "No columns": "the file has no rows, so name another one",
    "Expected": "correct that line, or put quotes around fields that contain separators",
    "EOF inside string": "a quote is opened and not closed, so close or remove it",
}


def _remedy(why: str) -> str:
    return next((remedy for words, remedy in _REMEDIES.items() if words in why), "save the table as CSV in UTF-8")


def _instead(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "name a file in it"
    if isinstance(error, PermissionError):
        return "change its permissions, or copy it"
    if isinstance(error, FileNotFoundError):
        return "check the path"
    return "if it is not compressed, name it otherwise"


def _hint(layout: Layout) -> str:
    """Return what to do where the fields are perhaps not separated as was decided."""
    only = len(layout.rows[0]) == 1 if layout.rows else False
    return "; if the fields are not separated by commas, use --sep" if only else ""


def listed(names: pd.Index) -> str:
    """Return the first names of columns, and how many more there are."""
    first = ", ".join(repr(str(name)) for name in names[:8])
    return first if len(names) <= 8 else f"{first} and {len(names) - 8} more"

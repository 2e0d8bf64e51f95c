"""Read and check a table of training data, and decide between classification and regression."""

from __future__ import annotations

import logging
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype, is_numeric_dtype

from spotsvm.common.csv_files import read_csv
from spotsvm.common.errors import DataError, SpotSVMError
from spotsvm.common.text import printable_line

MANY_CLASSES = 100
FEW_INTEGERS = 20
HUGE = 1e100  # squares of larger numbers, and their sums, overflow

Task = Literal["classification", "regression"]

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Table:
    """Numeric features without missing values, and the target; for a series `history` has the features of all its rows."""

    X: pd.DataFrame
    y: pd.Series
    task: Task
    history: pd.DataFrame | None = None


def read_table(path: str | Path, target: str, task: Task | Literal["auto"] = "auto") -> Table:
    """Read a CSV file and check that an SVM can be trained on it.

    The file has a header row, and may be compressed; a first column without a name that only numbers the rows is ignored, with a
    logged warning. All columns but the target are features. The task "auto" is classification for a target of text, of booleans,
    or of at most 20 different integers. DataError is raised if the file cannot be read, or a column is missing or unusable.
    """
    frame = read_frame(path, target)
    try:
        return make_table(frame.drop(columns=target), frame[target], task)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def read_frame(path: str | Path, target: str) -> pd.DataFrame:
    """Read a CSV file that has a target column, without a first column that only numbers the rows; see `read_table`."""
    frame = _read(path)
    if target not in frame.columns:
        hint = _separator_hint(frame.columns)
        raise DataError(f"--target {target!r} is not a column of {path}, which has {_listed(frame.columns)}{hint}")
    if _numbers_the_rows(frame, target):
        frame = frame.iloc[:, 1:]
        _LOG.warning("%s: the first column has no name and only numbers the rows; it is ignored", printable_line(str(path)))
    return frame


def _read(path: str | Path) -> pd.DataFrame:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            # without an index column, rows longer than the header cause an error; else they would be shifted
            frame = read_csv(path, index_col=False, low_memory=False)
    except SpotSVMError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot read the file: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not UTF-8 text; save it as CSV in UTF-8") from error
    except pd.errors.ParserWarning as error:
        hint = _separator_hint(_header(path))
        raise DataError(f"{path}: some rows have more fields than the header{hint}") from error
    except Exception as error:  # pandas and the decompressors raise many types
        why = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path} is not a CSV file with a header row: {why}{_separator_hint(_header(path))}") from error
    if any(re.fullmatch(r".*\.\d+", name) and name.rpartition(".")[0] in frame.columns for name in frame.columns):
        # pandas names a second "a" "a.1", but a file may well have both
        names = _header(path)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise DataError(f"{path}: {names.count(twice)} columns are named {twice!r}; rename or remove all but one")
    return frame


def _header(path: str | Path) -> list[str]:
    """Return the first row unchanged; empty if it cannot be read."""
    try:
        first = read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False)
    except Exception:  # only a hint is lost, and the file's own error has been caught before
        return []
    return [str(name) for name in first.iloc[0]]


def _separator_hint(names: Any) -> str:
    """Return a hint if the fields are not separated by commas."""
    found = next((repr(mark) for mark in ";\t|" if len(names) == 1 and mark in names[0]), None)
    if found is None:
        return ""
    return f"; the fields seem to be separated by {found}: save the file with commas between fields, and with decimal points"


def _numbers_the_rows(frame: pd.DataFrame, target: str) -> bool:
    """Return whether the first column is an index as pandas and R write it: unnamed, different integers."""
    first = frame.iloc[:, 0]
    spare = first.name == "Unnamed: 0" and target != "Unnamed: 0" and frame.shape[1] > 2
    return bool(spare and is_integer_dtype(first) and first.is_unique)


def make_table(X: pd.DataFrame, y: pd.Series, task: Task | Literal["auto"] = "auto") -> Table:
    """Check features and target, and determine the task; see `read_table`."""
    if X.shape[1] == 0:
        raise DataError(f"there are no features: the target {y.name!r} is the only column")
    if len(X) == 0:
        raise DataError("the table has no rows")
    for name in X.columns:
        check_feature(X[name])
    if y.isna().any():
        raise DataError(
            f"the target {y.name!r} has {int(y.isna().sum())} missing values (empty, or a word such as NA or None); "
            "remove those rows"
        )
    found: Task = _task_of(y) if task == "auto" else task
    if found == "regression":
        if not is_numeric_dtype(y) or is_bool_dtype(y):
            raise DataError(f"the target {y.name!r} is not numeric (it contains {shown(y.iloc[0])}), as regression requires")
        _check_size(f"the target {y.name!r}", y)
    else:
        _check_classes(y)
    return Table(X.astype(float), y, found)


def check_folds(table: Table, cv: int, rows: str = "rows", in_time: bool = False) -> None:
    """Raise DataError if the table is too small for so many folds; folds in order of time need one row more."""
    if len(table.y) < cv + in_time:
        raise DataError(f"--cv {cv} needs at least {cv + in_time} {rows}, but there are {len(table.y)}; use fewer folds")
    if table.task == "classification":
        counts = table.y.value_counts()
        if counts.iloc[-1] < cv:
            instead = ", or use --task regression" if is_numeric_dtype(table.y) and not is_bool_dtype(table.y) else ""
            raise DataError(
                f"class {shown(counts.index[-1])} has only {int(counts.iloc[-1])} of the {rows}, fewer than --cv {cv}; "
                f"use fewer folds, or merge rare classes{instead}"
            )


def check_feature(column: pd.Series) -> None:
    """Raise DataError if a column cannot be a feature."""
    odd = None
    if not is_numeric_dtype(column):
        present = column[column.notna()]
        odd = next((v for v in present if isinstance(v, str)), None)
        if odd is None and len(present) == len(column):
            odd = column.iloc[0]
    if odd is not None:
        raise DataError(f"column {column.name!r} is not numeric (it contains {shown(odd)}); encode it as numbers or remove it")
    if column.isna().any():
        raise DataError(f"column {column.name!r} has {int(column.isna().sum())} missing values; fill or remove them")
    _check_size(f"column {column.name!r}", column)


def _check_size(name: str, column: pd.Series) -> None:
    size = np.abs(column.to_numpy(dtype=float))
    if not np.isfinite(size).all():
        raise DataError(f"{name} has infinite values; remove those rows")
    if size.max() > HUGE:
        raise DataError(f"{name} has absolute values above {HUGE:g}, too large to scale; use another unit")


def _task_of(y: pd.Series) -> Task:
    if is_float_dtype(y) and not bool((y == np.rint(y)).all()):
        return "regression"
    if is_integer_dtype(y) or is_float_dtype(y):
        return "classification" if y.nunique() <= FEW_INTEGERS else "regression"
    return "classification"


def _check_classes(y: pd.Series) -> None:
    n = int(y.nunique())
    if n < 2:
        raise DataError(f"the target {y.name!r} has only one class ({shown(y.iloc[0])}); classification needs two or more")
    if n > MANY_CLASSES:
        raise DataError(
            f"the target {y.name!r} has {n} classes, but at most {MANY_CLASSES} are supported; "
            "use --task regression if it is a quantity"
        )


def _listed(names: pd.Index) -> str:
    first = ", ".join(repr(str(name)) for name in names[:8])
    return first if len(names) <= 8 else f"{first} and {len(names) - 8} more"


def shown(value: Any) -> str:
    """Return the repr of a value, shortened to 40 characters."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:37]}..."

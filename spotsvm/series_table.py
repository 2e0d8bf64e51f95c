"""A time series as training data: read, checked, with the past that its rows look back to."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from spotsvm.errors import ArgumentError, DataError
from spotsvm.printable import printable_line
from spotsvm.tabular import Table, Task, check_feature, make_table, read_frame, shown

_LOG = logging.getLogger(__name__)

#: as many as each set of the paper has; training time grows with their square
DEFAULT_ROWS = 5000

#: how far back rows may look in the widest region of the stormwater pipeline
LONGEST_WINDOW = 500


def read_series(
    path: str | Path,
    target: str,
    time: str | None = None,
    task: Task | Literal["auto"] = "auto",
    rows: int | None = None,
) -> Table:
    """Read a CSV file of a series, and check that a machine can be trained on it.

    Parameters
    ----------
    path : path-like
        A CSV file with a header row, a row for each time; it may be compressed.
    target : str
        Name of the column to predict. Rows without it are not trained or tested on, but belong to the past of others.
    time : str, optional
        Name of the column of time stamps or whole numbers, evenly spaced; without one, rows are taken for the steps of time.
    task : {"auto", "regression"}, default="auto"
        A series is always regressed on.
    rows : int, optional
        The latest rows with a target to train and test on: 5000 by default, 0 for all of them. A warning is logged where that
        leaves some out.

    Returns
    -------
    Table
        Rows in order of time, with time stamps as their index; its `history` has the features of all rows.

    Raises
    ------
    ArgumentError, DataError
        If the file cannot be read, there is no such column, times are missing, twice or unevenly spaced, or a column cannot be
        used; both are ValueErrors.
    """
    if task == "classification":
        raise ArgumentError("--task classification: a series is regressed on; use --task regression, or --pipeline table")
    frame = read_frame(path, target)
    try:
        frame = _in_time(frame, target, time)
        features = frame.drop(columns=target)
        for name in features.columns:
            _check_reading(features[name], time)
        known = frame[target].notna()
        if not known.any():
            raise DataError(f"the target {target!r} has no value")
        table = make_table(features[known], frame.loc[known, target], "regression")
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if len(features) <= LONGEST_WINDOW:
        _LOG.warning(
            "%s has %d rows, fewer than the longest window of %d: before the first row it is taken to have been dry",
            printable_line(str(path)),
            len(features),
            LONGEST_WINDOW,
        )
    keep = DEFAULT_ROWS if rows is None else rows
    X, y = table.X, table.y
    if 0 < keep < len(y):
        _LOG.warning(
            "%s: the latest %d of %d rows are trained and tested on, the others are only their past; --rows 0 takes all",
            printable_line(str(path)),
            keep,
            len(y),
        )
        X, y = X.iloc[-keep:], y.iloc[-keep:]
    return Table(X, y, "regression", history=features.astype(float))


def _in_time(frame: pd.DataFrame, target: str, time: str | None) -> pd.DataFrame:
    """Give the rows in order of time, with their time as index."""
    if len(frame) == 0:
        raise DataError("the table has no rows")
    if time is None:
        return frame
    if time == target:
        raise DataError(f"--time {time!r} is the target; name the column of time stamps")
    if time not in frame.columns:
        raise DataError(f"--time {time!r} is not a column; there are {', '.join(map(repr, frame.columns[:8]))}")
    stamps = _stamps(frame[time])
    frame = frame.drop(columns=time).set_index(stamps)
    if not stamps.is_unique:
        twice = stamps[stamps.duplicated()]
        raise DataError(f"the time {twice[0]} is there twice, and {len(twice)} such rows in all; keep one row for each time")
    if not stamps.is_monotonic_increasing:
        frame = frame.sort_index()
        _LOG.warning("the rows are not in order of time; they are sorted by %s", printable_line(time))
    _check_spacing(frame.index)
    return frame


def _stamps(column: pd.Series) -> Any:
    """Give time stamps, or whole numbers."""
    if column.isna().any():
        raise DataError(f"the time column {column.name!r} has {int(column.isna().sum())} missing values; fill or remove them")
    if is_numeric_dtype(column):
        if not is_integer_dtype(column):
            raise DataError(f"the time column {column.name!r} has numbers that are not whole; use time stamps or whole numbers")
        return pd.Index(column.to_numpy(), name=column.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # where pandas would guess for each row anew
            return pd.DatetimeIndex(pd.to_datetime(column), name=column.name)
    except (ValueError, TypeError, OverflowError, UserWarning) as error:
        why = " ".join(str(error).split()).partition(". ")[0]
        right = "times of one time zone, such as UTC" if "timezones" in why else "2024-05-31 13:00"
        raise DataError(f"the time column {column.name!r} cannot be read as time stamps ({why}); use {right}") from error


def _check_spacing(index: Any) -> None:
    """Raise DataError if a row is missing, or rows are unevenly spaced."""
    if len(index) < 3:
        return
    apart = np.diff(index.to_numpy())
    lengths, counts = np.unique(apart, return_counts=True)
    step = lengths[np.argmax(counts)]
    uneven = np.flatnonzero(apart != step)
    if len(uneven):
        first, shown_step = int(uneven[0]), _step_text(step)
        what = "a gap in time" if apart[first] > step else "a time in between"
        raise DataError(
            f"there is {what}: after {index[first]} comes {index[first + 1]}, and rows are {shown_step} apart elsewhere; "
            f"there are {len(uneven)} such places. Put in the missing rows, the target may be empty there, or resample"
        )


def _step_text(step: Any) -> str:
    return str(pd.Timedelta(step)) if isinstance(step, np.timedelta64) else str(step)


def _check_reading(column: pd.Series, time: str | None) -> None:
    if time is None and not is_numeric_dtype(column):
        raise DataError(f"column {column.name!r} is not numeric ({shown(column.iloc[0])} is in it); name a time column by --time")
    if column.isna().any():
        first = column.index[int(np.argmax(column.isna()))]
        raise DataError(
            f"column {column.name!r} has {int(column.isna().sum())} missing values, the first at {first}; fill them in, "
            "as with 0 for no rain, or cut off the rows at that end"
        )
    check_feature(column)

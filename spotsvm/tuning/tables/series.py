"""Read and check a time series as training data, with the past of its rows."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from spotsvm.common.text import printable_line
from spotsvm.errors import ArgumentError, DataError
from spotsvm.tuning.tables.faults import check_features, listed, short_repr
from spotsvm.tuning.tables.reading import Choices, read_file
from spotsvm.tuning.tables.table import Table
from spotsvm.tuning.tables.target import AnyTask, checked_target, read_target

_LOG = logging.getLogger(__name__)

#: number of rows of each of the paper's sets; training time grows with the square of this number
DEFAULT_ROWS = 5000

#: longest window in the widest region of the stormwater pipeline
LONGEST_WINDOW = 500


def read_series(path: str | Path, target: str, time: str | None = None, task: AnyTask = "auto", rows: int | None = None) -> Table:
    """Read a CSV file of a time series and check that a regression can be trained on it.

    The file has a header row and one row for each time step; it may be compressed. Rows without a target are used neither for
    training nor for testing, but they are part of the past of later rows.

    Parameters
    ----------
    path : str or Path
        The file.
    target : str
        Name of the target column.
    time : str or None
        Column of evenly spaced time stamps or integers. By default each row is one time step.
    task : {"auto", "regression"}
        A series needs regression.
    rows : int or None
        Number of the latest rows with a target to use: 5000 by default, 0 for all. If rows are left out, a warning is logged.

    Returns
    -------
    Table
        Its rows are in order of time, with time stamps as index; `history` has the features of all rows.

    Raises
    ------
    ArgumentError
        If the task is classification.
    DataError
        If the file cannot be read, a column does not exist or cannot be used, or times are missing, repeated or unevenly spaced.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from spotsvm.tables import read_series
    >>> rain = pd.DataFrame(
    ...     {"rain": [0.0, 2.0, 1.0] * 200, "level": [1.0, 1.5, 1.4] * 200}
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rain.to_csv(f"{folder}/storm.csv", index=False)
    ...     series = read_series(f"{folder}/storm.csv", "level", rows=550)
    >>> series.X.shape, series.history.shape
    ((550, 1), (600, 1))
    """
    if task == "classification":
        raise ArgumentError("--task classification: a series needs regression; use --task regression, or --model svm")
    file = read_file(path, target, Choices())
    file.warn()
    try:
        numbers = file.frame.copy(deep=False)
        numbers[target] = read_target(numbers[target], "regression")[0]
        frame = in_time(numbers, target, time)
        features = frame.drop(columns=target)
        for name in features.columns:
            _check_reading(features[name], time)
        has_target = frame[target].notna()
        if not has_target.any():
            raise DataError(f"the target {target!r} has no values")
        if not features.shape[1]:
            raise DataError(f"there are no features: the target {target!r} is the only column")
        y, _, _ = checked_target(frame.loc[has_target, target], "regression")
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    if len(features) <= LONGEST_WINDOW:
        _LOG.warning(
            "%s has %d rows, fewer than the longest window of %d; no rain is assumed before the first row",
            printable_line(str(path)),
            len(features),
            LONGEST_WINDOW,
        )
    keep = DEFAULT_ROWS if rows is None else rows
    X = features[has_target].astype(float)
    if 0 < keep < len(y):
        _LOG.warning(
            "%s: the latest %d of %d rows are used for training and testing, the others only as their past; --rows 0 uses all",
            printable_line(str(path)),
            keep,
            len(y),
        )
        X, y = X.iloc[-keep:], y.iloc[-keep:]
    return Table(X, y, "regression", history=features.astype(float))


def in_time(frame: pd.DataFrame, target: str, time: str | None) -> pd.DataFrame:
    """Return the rows in order of time, with their time as index; DataError if times are missing, repeated or uneven."""
    if len(frame) == 0:
        raise DataError("the table has no rows")
    if time is None:
        return frame
    if time == target:
        raise DataError(f"--time {time!r} is the target; name the column of time stamps")
    if time not in frame.columns:
        raise DataError(f"--time {time!r} is not a column; the columns are {listed(frame.columns)}")
    stamps = _stamps(frame[time])
    frame = frame.drop(columns=time).set_index(stamps)
    if not stamps.is_unique:
        twice = stamps[stamps.duplicated()]
        raise DataError(f"the time {twice[0]} occurs more than once ({len(twice)} repeated rows in total); keep one row per time")
    if not stamps.is_monotonic_increasing:
        frame = frame.sort_index()
        _LOG.warning("the rows are not in order of time and have been sorted by %s", printable_line(time))
    _check_spacing(frame.index)
    return frame


def _stamps(column: pd.Series) -> Any:
    """Return the time stamps, or the integers."""
    if column.isna().any():
        raise DataError(f"the time column {column.name!r} has {int(column.isna().sum())} missing values; fill or remove them")
    if is_numeric_dtype(column):
        if not is_integer_dtype(column):
            raise DataError(f"the time column {column.name!r} has non-integer numbers; use time stamps or integers")
        return pd.Index(column.to_numpy(), name=column.name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)  # raised where pandas would guess the format of each row
            warnings.simplefilter("error", FutureWarning)  # raised by pandas 2 for several time zones
            return pd.DatetimeIndex(pd.to_datetime(column), name=column.name)
    except (ValueError, TypeError, OverflowError, UserWarning, FutureWarning) as error:
        why, right = " ".join(str(error).split()).partition(". ")[0], "the format 2024-05-31 13:00"
        if _has_several_zones(column):
            why, right = "Mixed timezones detected", "a single time zone, such as UTC"
        raise DataError(f"the time column {column.name!r} cannot be read as time stamps ({why}); use {right}") from error


def _has_several_zones(column: pd.Series) -> bool:
    """Return whether all cells are time stamps, but with different offsets from UTC, or some without one."""
    try:
        return len({pd.Timestamp(cell).utcoffset() for cell in column.unique()}) > 1
    except (ValueError, TypeError, OverflowError):
        return False


def _check_spacing(index: Any) -> None:
    """Raise DataError if the rows are unevenly spaced."""
    if len(index) < 3:
        return
    apart = np.diff(index.to_numpy())
    lengths, counts = np.unique(apart, return_counts=True)
    step = lengths[np.argmax(counts)]
    uneven = np.flatnonzero(apart != step)
    if len(uneven):
        first = int(uneven[0])
        shown_step = str(pd.Timedelta(step)) if isinstance(step, np.timedelta64) else str(step)
        what = "a gap" if apart[first] > step else "an extra time"
        raise DataError(
            f"the rows are unevenly spaced, with {what}: {index[first + 1]} follows {index[first]}, but the usual step is "
            f"{shown_step} ({len(uneven)} uneven steps); insert missing rows, with an empty target if necessary, or resample"
        )


def _check_reading(column: pd.Series, time: str | None) -> None:
    if time is None and not is_numeric_dtype(column):
        raise DataError(
            f"column {column.name!r} is not numeric (it contains {short_repr(column.iloc[0])}); if it is the time, use --time"
        )
    if column.isna().any():
        first = column.index[int(np.argmax(column.isna()))]
        raise DataError(
            f"column {column.name!r} has {int(column.isna().sum())} missing values, the first at {first}; fill them, "
            "for example with 0 for no rain, or remove the rows at that end"
        )
    check_features(column.to_frame())

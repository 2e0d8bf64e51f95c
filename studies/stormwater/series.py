"""Rain and level as series in time, of the simulated tank or of a CSV file, and the four sets that a series is cut into."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.csv_files import read_csv
from spotsvm.errors import DataError
from spotsvm.studies.common.data import Floats
from spotsvm.studies.stormwater.tank import simulate_tank

N_SETS = 4
MIN_RECORDS = 800  # so that the longest windows of Table 4 fit into a set
MIN_LEVELS = 20  # in a set

_RAIN, _LEVEL, _TIME = ("rain", "precip"), ("level", "y", "flow", "stage", "head"), ("time", "date")


@dataclass(frozen=True)
class RainSeries:
    """A series of rain and of the level it causes, in any units, in order of time.

    `level` is nan where it was not measured; `times` are evenly spaced, or None; `unit` is the level's unit, for figures.
    """

    name: str
    rain: Floats
    level: Floats
    times: pd.DatetimeIndex | None = None
    unit: str = ""

    @property
    def set_length(self) -> int:
        """Records in each of the four sets; up to three at the end belong to none."""
        return len(self.rain) // N_SETS

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the places of the records of set 1, 2, 3 or 4 at which a level was measured."""
        places = np.arange((number - 1) * self.set_length, number * self.set_length)
        return places[np.isfinite(self.level[places])]

    def __str__(self) -> str:
        return self.described()

    def described(self) -> str:
        """Return in words what it is, and how it is cut."""
        known = int(np.isfinite(self.level).sum())
        missing = "" if known == len(self.level) else f", {known} of them with a level"
        left = len(self.rain) - N_SETS * self.set_length
        rest = f"; the last {left} are left out" if left else ""
        return f"{self.name}: {len(self.rain)} records{missing}, cut into four consecutive sets of {self.set_length}{rest}"


def simulated_series(seed: int = 0, n_records: int = 20_000) -> RainSeries:
    """Return the series of the simulated tank: rain in mm per 10 minutes, and the level in % of the full tank."""
    series = simulate_tank(n_records, seed)
    times = pd.DatetimeIndex(series.frame()["time"])
    return RainSeries(f"simulated tank (seed {seed})", series.rain, series.level, times, "%")


def read_series(
    path: str | Path, *, rain: str | None = None, level: str | None = None, time: str | None = None, unit: str = ""
) -> RainSeries:
    """Read a series from a CSV file with a header row, gzipped or not.

    Rows without a level are kept for their rain. Those at either end without rain are left out.

    Parameters
    ----------
    path : path-like
        The file.
    rain, level, time : str, optional
        Names of columns. By default the only one whose name begins with "rain" or "precip"; one whose name is "y" or begins with
        "level", "flow", "stage" or "head"; and one whose name begins with "time" or "date", if there is any: without one the rows
        are taken to be in order of time.
    unit : str, default=""
        Of the level.

    Raises
    ------
    DataError
        If the file cannot be read, or a column is missing or could be either of two; if values are not numbers, rain is
        negative or missing between its first and last value; if time stamps are missing, twice there, not in order or unevenly
        spaced; or if there are too few records to be cut into four sets.
    """
    file = Path(path)
    try:
        table = read_csv(file)
    except DataError:
        raise
    except (OSError, ValueError, UnicodeError) as error:  # pandas' parser errors are ValueErrors
        raise DataError(f"{file}: cannot be read as CSV: {error}") from error
    columns = {
        "rain": _column(file, table, "rain", rain, _RAIN),
        "level": _column(file, table, "level", level, _LEVEL),
    }
    values = {what: _numbers(file, table[column], column) for what, column in columns.items()}
    times = _times(file, table, time)
    kept = _where_it_rains(file, values["rain"], columns["rain"])
    series = RainSeries(
        file.name.partition(".")[0],
        values["rain"][kept],
        values["level"][kept],
        None if times is None else times[kept],
        unit,
    )
    _check_sets(file, series)
    return series


def _column(file: Path, table: pd.DataFrame, what: str, named: str | None, beginnings: Sequence[str]) -> str:
    """Find a column by its name, or by how its name begins."""
    names = [str(name) for name in table.columns]
    if named is not None:
        if named not in names:
            raise DataError(f"{file}: {what}={named!r} is no column of it; it has {', '.join(names)}")
        return named
    found = [name for name in names if name.lower().startswith(tuple(b for b in beginnings if b != "y"))]
    if "y" in beginnings:
        found = [name for name in names if name.lower() == "y"] or found
    if len(found) != 1:
        wrong = f"columns {' and '.join(found)} could each be the {what}" if found else f"no column looks like the {what}"
        raise DataError(f"{file}: {wrong}; it has {', '.join(names)}; name the one by {what}=")
    return found[0]


def _numbers(file: Path, column: pd.Series, name: str) -> Floats:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(numbers) & column.notna().to_numpy()
    if wrong.any():
        raise DataError(f"{file}: {name}={column.iloc[int(np.argmax(wrong))]!r} in line {_line(wrong)} is not a number")
    return numbers


def _line(wrong: NDArray[np.bool_]) -> int:
    """Return the line of a file of the first row that is wrong; the header is line 1."""
    return int(np.argmax(wrong)) + 2


def _times(file: Path, table: pd.DataFrame, named: str | None) -> pd.DatetimeIndex | None:
    if named is None and not any(str(name).lower().startswith(_TIME) for name in table.columns):
        return None
    column = _column(file, table, "time", named, _TIME)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # where pandas guesses for each row anew; what is no time is told of below
        stamps = pd.to_datetime(table[column], errors="coerce", utc=True)
    if (wrong := stamps.isna().to_numpy()).any():
        raise DataError(f"{file}: {column}={table[column][wrong].iloc[0]!r} in line {_line(wrong)} is not a time stamp")
    times = pd.DatetimeIndex(stamps)
    if (twice := times.duplicated()).any():
        raise DataError(
            f"{file}: {column}={times[twice][0]} is there twice, again in line {_line(twice)}; keep one row of each time"
        )
    steps = np.diff(times.as_unit("s").asi8)
    if (back := np.append(False, steps < 0)).any():
        raise DataError(
            f"{file}: {column}={times[back][0]} in line {_line(back)} is before the row above it; sort the rows by time"
        )
    step = int(np.median(steps)) if len(steps) else 0
    if (apart := np.append(False, steps != step)).any():
        row = int(np.argmax(apart))
        raise DataError(
            f"{file}: {pd.Timedelta(seconds=int(steps[row - 1]))} lie between {times[row - 1]} and {times[row]} (line {row + 2}) "
            f"and {pd.Timedelta(seconds=step)} between most rows; fill the gap with rows, whose level may be empty"
        )
    return times


def _where_it_rains(file: Path, rain: Floats, name: str) -> slice:
    """Return the rows from the first to the last with a value of rain."""
    known = np.flatnonzero(np.isfinite(rain))
    if not len(known):
        raise DataError(f"{file}: column {name} holds no value")
    kept = slice(int(known[0]), int(known[-1]) + 1)
    if len(known) != kept.stop - kept.start:
        unknown = np.isnan(rain)
        unknown[: kept.start] = False
        raise DataError(
            f"{file}: {name} is empty in line {_line(unknown)}, and is needed in every row; fill it, with 0 if it was dry"
        )
    if (negative := rain < 0).any():
        raise DataError(f"{file}: {name}={rain[negative][0]:g} in line {_line(negative)} is negative")
    return kept


def _check_sets(file: Path, series: RainSeries) -> None:
    if len(series.rain) < MIN_RECORDS:
        raise DataError(
            f"{file}: {len(series.rain)} records are too few for four sets with windows of 120 steps; use {MIN_RECORDS} or more"
        )
    for number in range(1, N_SETS + 1):
        rows = series.rows(number)
        if len(rows) < MIN_LEVELS or np.ptp(series.level[rows]) == 0:
            raise DataError(
                f"{file}: set {number} has {len(rows)} records with a level, which must be {MIN_LEVELS} or more that differ"
            )

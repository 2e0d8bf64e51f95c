"""Series of rain and level, from the simulated tank or from a CSV file, cut into four sets."""

from __future__ import annotations

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
from spotsvm.tuning.tables.series import in_time

N_SETS = 4
MIN_RECORDS = 800  # the longest windows of Table 4 must fit into a set
MIN_LEVELS = 20  # in a set

_RAIN, _LEVEL, _TIME = ("rain", "precip"), ("level", "y", "flow", "stage", "head"), ("time", "date")


@dataclass(frozen=True)
class RainSeries:
    """A series of rain and of the resulting level, in any units, in order of time.

    `level` is nan where it was not measured. `times` are evenly spaced, or None. `unit` is the unit of the level, for figures.
    """

    name: str
    rain: Floats
    level: Floats
    times: pd.DatetimeIndex | None = None
    unit: str = ""

    @property
    def set_length(self) -> int:
        """Number of records in each of the four sets; up to three records at the end are in no set."""
        return len(self.rain) // N_SETS

    def rows(self, number: int) -> NDArray[np.intp]:
        """Return the indices of the records with a level in set 1, 2, 3 or 4."""
        records = np.arange((number - 1) * self.set_length, number * self.set_length)
        return records[np.isfinite(self.level[records])]

    def __str__(self) -> str:
        measured = int(np.isfinite(self.level).sum())
        missing = "" if measured == len(self.level) else f", {measured} of them with a level"
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

    Rows without a level are kept for their rain. Rows without rain at either end are left out.

    Parameters
    ----------
    path : path-like
        The file.
    rain, level, time : str, optional
        Names of columns. By default the only column whose name starts with "rain" or "precip"; that with the name "y", or whose
        name starts with "level", "flow", "stage" or "head"; and that whose name starts with "time" or "date". Without a time
        column the rows must be in order of time.
    unit : str, default=""
        Unit of the level.

    Raises
    ------
    DataError
        If the file cannot be read, a column is missing or ambiguous, values are not numbers, rain is negative or missing between
        its first and last value, time stamps are missing, repeated, not in order or unevenly spaced, or there are too few records
        for four sets.
    """
    file = Path(path)
    try:
        table = read_csv(file)
    except DataError:
        raise
    except (OSError, ValueError, UnicodeError) as error:  # pandas' parser errors are ValueErrors
        raise DataError(f"{file}: cannot be read as CSV: {error}") from error
    columns = {"rain": _column(file, table, "rain", rain, _RAIN), "level": _column(file, table, "level", level, _LEVEL)}
    for name in columns.values():
        table[name] = _numbers(file, table[name], name)
    if time is not None or any(str(name).lower().startswith(_TIME) for name in table.columns):
        try:
            table = in_time(table, columns["level"], _column(file, table, "time", time, _TIME))
        except DataError as error:
            raise DataError(f"{file}: {error}") from error
    table = table.iloc[_where_it_rains(file, table[columns["rain"]].to_numpy(), columns["rain"])]
    times = table.index if isinstance(table.index, pd.DatetimeIndex) else None
    name = file.name.partition(".")[0]
    series = RainSeries(name, table[columns["rain"]].to_numpy(), table[columns["level"]].to_numpy(), times, unit)
    _check_sets(file, series)
    return series


def _column(file: Path, table: pd.DataFrame, what: str, named: str | None, beginnings: Sequence[str]) -> str:
    """Find a column by its name or by the beginning of its name."""
    names = [str(name) for name in table.columns]
    if named is not None:
        if named not in names:
            raise DataError(f"{file}: {what}={named!r} is not a column; the columns are {', '.join(names)}")
        return named
    found = [name for name in names if name.lower().startswith(tuple(b for b in beginnings if b != "y"))]
    if "y" in beginnings:
        found = [name for name in names if name.lower() == "y"] or found
    if len(found) != 1:
        wrong = f"columns {' and '.join(found)} could each be the {what}" if found else f"no column looks like the {what}"
        raise DataError(f"{file}: {wrong}; the columns are {', '.join(names)}; choose one by {what}=")
    return found[0]


def _numbers(file: Path, column: pd.Series, name: str) -> Floats:
    numbers = pd.to_numeric(column, errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(numbers) & column.notna().to_numpy()
    if wrong.any():
        raise DataError(f"{file}: {name}={column.iloc[int(np.argmax(wrong))]!r} in line {_line(wrong)} is not a number")
    return numbers


def _line(wrong: NDArray[np.bool_]) -> int:
    """Return the line of the first wrong row in the file; the header is line 1."""
    return int(np.argmax(wrong)) + 2


def _where_it_rains(file: Path, rain: Floats, name: str) -> slice:
    """Return the rows from the first to the last value of rain."""
    present = np.flatnonzero(np.isfinite(rain))
    if not len(present):
        raise DataError(f"{file}: column {name} has no values")
    kept = slice(int(present[0]), int(present[-1]) + 1)
    if len(present) != kept.stop - kept.start:
        missing = np.isnan(rain)
        missing[: kept.start] = False
        raise DataError(
            f"{file}: {name} is empty in line {_line(missing)}, and is needed in every row; fill it, with 0 if it was dry"
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

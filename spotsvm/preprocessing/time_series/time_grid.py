"""Time stamps of rows: conversion of a pandas index to whole numbers of steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError, DataError

Ints = NDArray[np.int64]
#: integers of steps; a range if they are consecutive
Places = Ints | range

_WHOLE_STEPS = ("integers", "periods")
_UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_NO_TIME = np.iinfo(np.int64).min  # pandas' value of NaT
_PIECE = 1 << 15


@dataclass(frozen=True)
class TimeStamps:
    """The distinct time stamps of the rows of a frame, which is called `name` in messages.

    Stamps of two kinds cannot be compared. The unit is the number of ticks in that of `numbers`, which is the index's own; a tick
    is a nanosecond, a period, or 1 of integers.
    """

    name: str
    kind: str
    numbers: Ints
    unit: int
    index: Any

    @cached_property
    def ticks(self) -> Ints:
        """The stamps in ticks."""
        return self.numbers if self.unit == 1 else np.asarray(self.index.as_unit("ns").asi8)

    @property
    def first(self) -> int:
        """The first stamp, in ticks."""
        return int(self.numbers[0]) * self.unit

    @cached_property
    def spacing(self) -> tuple[int, int]:
        """The shortest and the longest time from a stamp to the next, in ticks; 0 where there is one stamp."""
        # in pieces, whose differences stay in the processor's cache
        shortest, longest = [], []
        for k in range(0, len(self.numbers) - 1, _PIECE):
            apart = np.diff(self.numbers[k : k + _PIECE + 1])
            shortest.append(int(apart.min()))
            longest.append(int(apart.max()))
        return min(shortest, default=0) * self.unit, max(longest, default=0) * self.unit


def read_time_stamps(frame: Any, name: str) -> TimeStamps | None:
    """Return the time stamps of a pandas frame; None for data without an index.

    DataError if the index is not of time stamps, durations, periods or integers, has an empty one, or one twice.
    """
    if not isinstance(frame, pd.DataFrame):
        return None
    index: Any = frame.index
    unit = 1
    if isinstance(index, pd.DatetimeIndex):
        kind, unit = "time stamps" + (" with a time zone" if index.tz is not None else ""), _UNITS[index.unit]
    elif isinstance(index, pd.TimedeltaIndex):
        kind, unit = "durations", _UNITS[index.unit]
    elif isinstance(index, pd.PeriodIndex):
        kind = f"periods of {index.freqstr}"
    elif pd.api.types.is_integer_dtype(index.dtype) and not isinstance(index, pd.MultiIndex):
        kind = "integers"
    else:
        raise DataError(
            f"{name} has an index of {index.dtype}, which does not say when its rows were read; use time stamps "
            "(pandas.to_datetime), periods or integers, or pass an array whose rows are in order of time"
        )
    of_time = kind != "integers"
    if not of_time and index.hasnans:
        raise _without_time(name, index)
    numbers = np.asarray(index.asi8 if of_time else index.to_numpy(), dtype=np.int64)
    if of_time and numbers.min(initial=0) == _NO_TIME:
        raise _without_time(name, index)
    stamps = TimeStamps(name, kind, numbers, unit, index)
    if stamps.spacing[0] <= 0 and not index.is_unique:
        twice = index[index.duplicated()]
        raise DataError(f"{name} has the time stamp {twice[0]} twice, and {len(twice)} such rows in all; keep one row for each")
    return stamps


def _without_time(name: str, index: Any) -> DataError:
    row = int(np.argmax(index.isna()))
    return DataError(f"{name} has a row without a time stamp: row {row} has {index[row]} as its index")


@dataclass(frozen=True)
class TimeGrid:
    """Evenly spaced points in time: a point and the distance between points, in ticks of one kind of time stamps."""

    kind: str
    origin: int
    step: int

    @classmethod
    def through(cls, stamps: Sequence[TimeStamps], step: Any = None) -> TimeGrid:
        """Return the grid that fits all of these time stamps of one kind, or raise ArgumentError or DataError.

        Without a step it is the most common distance of two stamps; 1 for periods and integers.
        """
        return cls(stamps[0].kind, stamps[0].first, _step_in_ticks(step, stamps))

    def positions(self, stamps: TimeStamps) -> Places:
        """Return for each time stamp the number of steps after the origin, or raise DataError if it is between two points."""
        if stamps.kind != self.kind:
            raise DataError(f"{stamps.name} has an index of {stamps.kind}, and rows known before have {self.kind}; use one kind")
        first, rest_of_first = divmod(stamps.first - self.origin, self.step)
        if rest_of_first == 0 and (stamps.spacing == (self.step, self.step) or len(stamps.numbers) == 1):
            return range(first, first + len(stamps.numbers))
        steps, rest = np.divmod(stamps.ticks - self.origin, self.step)
        if rest.any():
            row = int(np.argmax(rest != 0))
            raise DataError(
                f"{stamps.name} is not evenly spaced in time: {stamps.index[row]} (row {row}) is not a whole number of steps of "
                f"{self._shown_step()} from {self.label(0)}; resample the rows, or give step="
            )
        return steps

    def label(self, position: int) -> str:
        """Return the time stamp of a point as text."""
        tick = self.origin + int(position) * self.step
        if self.kind.startswith("time stamps"):
            return str(pd.Timestamp(tick)) + (" UTC" if "zone" in self.kind else "")
        if self.kind.startswith("periods"):
            return str(pd.Period(ordinal=tick, freq=self.kind.removeprefix("periods of ")))
        return str(pd.Timedelta(tick)) if self.kind == "durations" else str(tick)

    def _shown_step(self) -> str:
        return str(self.step) if self.kind.startswith(_WHOLE_STEPS) else str(pd.Timedelta(self.step))


def _step_in_ticks(step: Any, stamps: Sequence[TimeStamps]) -> int:
    whole = stamps[0].kind.startswith(_WHOLE_STEPS)
    if step is not None:
        try:
            ticks = int(step) if whole else pd.Timedelta(step).as_unit("ns").value
        except (TypeError, ValueError):
            ticks = 0
        if ticks <= 0 or (whole and ticks != step):
            right = "a whole number, 1 or more" if whole else "a positive duration such as '1h' or pandas.Timedelta(minutes=5)"
            raise ArgumentError(f"step={step!r} is not a step of {stamps[0].kind}; use {right}")
        return int(ticks)
    if whole:
        return 1
    if len(stamps) == 1 and 0 < stamps[0].spacing[0] == stamps[0].spacing[1]:
        return stamps[0].spacing[0]
    apart = np.diff(np.unique(np.concatenate([each.ticks for each in stamps])))
    if not len(apart):
        raise DataError(f"{stamps[0].name} has one row (n_samples=1), which does not say how far apart rows are; give step=")
    lengths, counts = np.unique(apart, return_counts=True)
    return int(lengths[np.argmax(counts)])

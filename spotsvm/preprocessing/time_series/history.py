"""The past of a series' rows: looked up by time stamp, never later than the row itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.preprocessing.time_series.time_grid import Places, TimeGrid

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class KnownRows:
    """Rows with their positions on a grid in time, in ascending order."""

    grid: TimeGrid
    positions: Places
    values: Floats

    @classmethod
    def merged(cls, grid: TimeGrid, parts: Sequence[tuple[Places, Floats]]) -> KnownRows:
        """Join parts; a later part overrides an earlier part at the same time."""
        if len(parts) == 1 and isinstance(parts[0][0], range):
            return cls(grid, parts[0][0], parts[0][1].copy())
        positions, values = np.concatenate([_array(p) for p, _ in parts]), np.concatenate([v for _, v in parts])
        if not _rising(positions):
            order = np.argsort(positions, kind="stable")
            order = order[np.append(np.diff(positions[order]) != 0, True)]
            positions, values = positions[order], values[order]
        return cls(grid, positions, values)

    def between(self, first: int, last: int) -> tuple[Ints, Floats]:
        """Return the positions and readings of rows from one position to another, both included."""
        places = self.positions
        if isinstance(places, range):
            start, stop = (min(max(place - places.start, 0), len(places)) for place in (first, last + 1))
        else:
            start, stop = np.searchsorted(places, [first, last + 1])
        return _array(places[start:stop]), self.values[start:stop]


@dataclass(frozen=True)
class Tape:
    """Rows and the steps before them, laid out one after the other, in stretches that are far apart in time."""

    #: the readings, (m, d), NaN where there is none; the steps that a row reaches back to are right before it
    values: Floats
    #: the indices of the rows of the data
    rows: slice | Ints
    #: mask of the steps of which there is no row, (m,): before the first known row, and in gaps
    absent: Flags
    #: number of steps before the first known row
    unseen: int
    #: the index at which each stretch starts, and the position in time of its first step
    starts: Ints
    firsts: Ints
    #: all other known rows
    known: KnownRows

    @property
    def n_rows(self) -> int:
        """Number of rows of the data."""
        return self.rows.stop - self.rows.start if isinstance(self.rows, slice) else len(self.rows)

    @cached_property
    def unknown(self) -> Flags:
        """Mask of the unknown readings, of shape (m, d)."""
        return np.isnan(self.values)

    @cached_property
    def any_unknown(self) -> bool:
        """Whether a reading is unknown."""
        return bool(self.unknown.any())

    @property
    def before(self) -> Flags:
        """Mask of the steps before the first known row, of shape (m,)."""
        flags = np.zeros(len(self.values), dtype=bool)
        flags[: self.unseen] = True
        return flags

    def places(self) -> Ints:
        """Return the position in time of each step."""
        steps = np.arange(len(self.values))
        stretch = np.searchsorted(self.starts, steps, side="right") - 1
        return np.asarray(self.firsts[stretch] + steps - self.starts[stretch])

    def carried_forward(self) -> Floats:
        """Return for each step the latest known reading, of shape (m, d)."""
        places = self.places()
        own = (places[self.rows], self.values[self.rows])
        rows = KnownRows.merged(self.known.grid, [(self.known.positions, self.known.values), own])
        # before the first row stands NaN
        last = np.searchsorted(rows.positions, places, side="right")
        carried = pd.DataFrame(rows.values).ffill().to_numpy()
        return np.asarray(np.concatenate([np.full((1, carried.shape[1]), np.nan), carried])[last])

    def label(self, step: int) -> str:
        """Return the time of a step as text."""
        label = self.known.grid.label(int(self.places()[step]))
        return f"row {label}" if self.known.grid.kind == "integers" else label


def tape_in_time(positions: Places, values: Floats, known: KnownRows, reach: int, needs_start: bool = True) -> Tape:
    """Lay out rows with the known readings of the `reach` steps before each; rows further apart are on separate stretches.

    Where both have a position, `values` win over `known`. With `needs_start` the steps before the first row are laid out even if
    all are unknown.
    """
    n, d = values.shape
    first = positions[0] if isinstance(positions, range) else int(positions.min())
    earliest = min(first, int(known.positions[0])) if len(known.positions) else first
    unseen = max(earliest - (first - reach), 0)
    if isinstance(positions, range):
        if not needs_start and unseen == reach:
            return Tape(values, slice(0, n), np.zeros(n, dtype=bool), 0, np.array([0]), np.array([first]), known)
        tape = np.empty((reach + n, d))
        tape[:reach] = np.nan
        tape[reach:] = values
        absent = np.zeros(reach + n, dtype=bool)
        absent[:reach] = True
        places, readings = known.between(first - reach, first - 1)
        tape[places - (first - reach)] = readings
        absent[places - (first - reach)] = False
        return Tape(tape, slice(reach, reach + n), absent, unseen, np.array([0]), np.array([first - reach]), known)
    ordered = np.sort(positions)
    cuts = np.flatnonzero(np.diff(ordered) > reach + 1)
    firsts, lasts = ordered[np.append(0, cuts + 1)] - reach, ordered[np.append(cuts, n - 1)]
    ends = np.cumsum(lasts - firsts + 1)
    starts = np.append(0, ends[:-1])

    tape = np.full((int(ends[-1]), d), np.nan)
    absent = np.ones(len(tape), dtype=bool)
    places, readings = known.between(int(firsts[0]), int(lasts[-1]))
    stretch = np.searchsorted(firsts, places, side="right") - 1
    inside = places <= lasts[stretch]
    steps = (starts[stretch] + places - firsts[stretch])[inside]
    tape[steps] = readings[inside]
    absent[steps] = False
    stretch = np.searchsorted(firsts, positions, side="right") - 1
    rows = starts[stretch] + positions - firsts[stretch]
    tape[rows] = values
    absent[rows] = False
    return Tape(tape, rows, absent, unseen, starts, firsts, known)


def _array(places: Places) -> Ints:
    return np.arange(places.start, places.stop) if isinstance(places, range) else places


def _rising(positions: Ints) -> bool:
    return bool((positions[1:] > positions[:-1]).all())

"""Delay embedding: a row of past values for each time; the newest value is a horizon old."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal

import numpy as np

from spotsvm.common.checks import check_count
from spotsvm.errors import DataError
from spotsvm.preprocessing.time_series.causal_transformer import CausalTransformer
from spotsvm.preprocessing.time_series.history import Flags, Floats, Ints, Tape


@dataclass(eq=False, repr=False)
class DelayEmbedding(CausalTransformer):
    """Return for each time the values of each column at several times before.

    Row t of the output is x(t - p), x(t - p - tau), ..., x(t - p - (D - 1) tau): the values known p steps before, from which the
    target at t is predicted. No row is dropped and y does not change, so that any splitter and scorer can be used.

    Parameters
    ----------
    dimensions : int, default=2
        D, the number of values, 1 or more.
    delay : int, default=1
        tau, the steps between these values, 1 or more.
    horizon : int, default=0
        p, the age of the newest value in steps: how far ahead the target is predicted. 0 or more, and less than the rows of
        `fit`.
    missing : {"raise", "zero", "last", "nan"}, default="raise"
        What to put for a reading that is NaN. An error; 0; the last one that is known at that time; or NaN. Unless it is
        "raise", a time between known rows that has no row is treated alike.
    start : {"known", "nan", "zero", "raise"}, default="known"
        What to put where there is no row: before the first known row and, with missing="raise", in a gap between rows. "known"
        repeats the first reading after it, and warns of how many rows are so. NaN, which `CompleteRowsRegressor` leaves out. 0,
        before the first row alone, so that a gap is an error. Or an error.
    step : Timedelta, str, int or None, default=None
        Time between two rows. None for the most common one in `fit`; 1 where the index is of integers or periods.

    Attributes
    ----------
    reach : int
        How many steps back a row looks: p + (D - 1) tau.
    known_ : KnownRows
        The rows of `fit`.
    n_features_in_, feature_names_in_
        Of the data seen in `fit`.

    Raises
    ------
    ArgumentError, DataError
        In `fit`, if a parameter is not as above, or the horizon is past the end of the rows, with start="nan" also the oldest
        value; in `fit` and `transform`, if a reading is missing that must not be, or the index has no time stamps, one twice, or
        one off the even spacing; both are ValueErrors.

    Warns
    -----
    DataWarning
        In `fit` and `transform`, how many rows lack a part of their values, if start="known".

    See Also
    --------
    LeakyRain : Features of past rain.
    HistoryPipeline : A pipeline that uses earlier rows.

    Notes
    -----
    Rows of a frame look back by time stamp into those seen in `fit`, so that test rows that follow training rows have their
    past. An array's rows are in order of time, and arrays of later calls are taken to follow that of `fit`, unless they begin
    with all of its rows. To predict beyond the end, pass a frame with the time stamps to come, and NaN for readings that are not
    used.

    The reading that start="known" repeats is no younger than the horizon. Where there is none after the gap, it is the last one
    before; only in the first rows of all, for which nothing is known so early, it is their first reading.

    By its nature it fails two of scikit-learn's checks of estimators: that the order of the rows does not matter, and that a row
    is transformed in the same way without the rows before it.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 2.1.1.

    Examples
    --------
    >>> import pandas as pd
    >>> level = pd.DataFrame({"level": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
    >>> embedding = DelayEmbedding(dimensions=2, delay=2, horizon=1, start="nan")
    >>> embedding.fit(level[:4]).transform(level[4:])
       level_lag1  level_lag3
    4         4.0         2.0
    5         5.0         3.0
    """

    _missing_rules = ("raise", "zero", "last", "nan")
    _start_rules = ("known", "nan", "zero", "raise")

    dimensions: int = 2
    delay: int = 1
    horizon: int = 0
    _: KW_ONLY
    missing: Literal["raise", "zero", "last", "nan"] = "raise"
    start: Literal["known", "nan", "zero", "raise"] = "known"
    step: Any = None

    @property
    def reach(self) -> int:
        """How many steps back a row looks: p + (D - 1) tau.

        See Also
        --------
        HistoryPipeline : Adds this number of earlier rows.
        """
        return int(self._lags()[-1])

    def _lags(self) -> Ints:
        dimensions, delay = check_count("dimensions", self.dimensions), check_count("delay", self.delay)
        return check_count("horizon", self.horizon, 0) + delay * np.arange(dimensions, dtype=np.int64)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._lags()

    def _check_length(self, n_known: int) -> None:
        if self.horizon >= n_known:
            raise DataError(f"horizon={self.horizon} is past the end: X has n_samples={n_known}; use a smaller one")
        if self.start == "nan" and self.reach >= n_known:
            raise DataError(
                f"dimensions={self.dimensions} with delay={self.delay} and horizon={self.horizon} reach {self.reach} steps back, "
                f"and X has n_samples={n_known}: no row has a whole past; use fewer dimensions, or start='known'"
            )

    def _reached(self, tape: Tape) -> Flags:
        flags = np.zeros(len(tape.values), dtype=bool)
        rows = np.arange(len(flags))[tape.rows]
        for lag in self._lags():
            flags[rows - lag] = True
        return flags

    def _touching(self, tape: Tape, steps: Flags) -> Flags:
        rows = np.arange(len(steps))[tape.rows]
        return np.asarray(np.any([steps[rows - lag] for lag in self._lags()], axis=0))

    @property
    def _from_the_rest(self) -> str:
        return "the first reading after stands for those"

    def _output_names(self, names: Sequence[str]) -> list[str]:
        return [f"{name}_lag{lag}" for name in names for lag in self._lags()]

    def _transformed(self, tape: Tape) -> Floats:
        lags = self._lags()
        rows = np.arange(len(tape.values))[tape.rows]
        values, fill = tape.values, None
        if tape.any_unknown:
            absent = np.broadcast_to(self._open(tape)[:, None], values.shape)
            if self.missing == "last":
                values = tape.carried_forward()
            elif self.missing == "zero":
                values = np.where(tape.unknown, 0.0, values)
            values = np.where(absent, 0.0 if self.start == "zero" else np.nan, values)
            if self.start == "known":
                fill = absent | np.isnan(values) if self.missing == "last" else absent
        found = np.empty((values.shape[1], len(lags), len(rows)))
        for j, column in enumerate(values.T):
            contiguous = np.ascontiguousarray(column)
            for k, lag in enumerate(lags):
                found[j, k] = contiguous[rows - lag]
            if fill is not None:
                self._repeat(found[j], tape, j, contiguous, fill[:, j])
        return found.reshape(-1, len(rows)).T

    def _repeat(self, found: Floats, tape: Tape, j: int, column: Floats, fill: Flags) -> None:
        """Fill lags of a column, (D, n), with the first reading after them no younger than the horizon, else the last before.

        Only where there is neither, it is the first reading of all.
        """
        lags, steps = self._lags(), np.arange(len(fill))
        rows = steps[tape.rows]
        following = np.minimum.accumulate(np.where(fill, len(fill), steps)[::-1])[::-1]
        for k, lag in enumerate(lags):
            lacking = np.flatnonzero(fill[rows - lag])
            first, now = following[rows[lacking] - lag], rows[lacking]
            found[k, lacking] = np.where(first <= now, column[np.minimum(first, now)], np.nan)
            late = first > now - lags[0]
            if late.any():
                before = tape.carried_forward()[now[late] - lags[0], j]
                found[k, lacking[late]] = np.where(np.isnan(before), found[k, lacking[late]], before)

"""Base class of time series transformers: fitting, past values, column names, pandas input and output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from spotsvm.common.checks import check_choice
from spotsvm.common.notices import tell
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.time_series.history import Flags, Floats, KnownRows, Tape, tape_in_time
from spotsvm.preprocessing.time_series.short_history import ShortHistory, remember_told, told_rows
from spotsvm.preprocessing.time_series.time_grid import Places, TimeGrid, TimeStamps, read_time_stamps


class CausalTransformer(TransformerMixin, BaseEstimator, ABC):
    """A transformer whose row at a time is computed from readings of that time and before.

    Rows before the first are looked up among those seen in `fit`: by the index of a pandas frame. An array has no index: its rows
    are in order of time, and those of later calls follow those of `fit`.
    """

    missing: str
    start: str
    step: Any

    #: the allowed values of `missing` and `start`
    _missing_rules: tuple[str, ...]
    _start_rules: tuple[str, ...]

    @property
    @abstractmethod
    def reach(self) -> int:
        """How many steps back a row looks.

        See Also
        --------
        HistoryPipeline : Adds this number of earlier rows.
        """

    @property
    def _needs_start(self) -> bool:
        """Whether the tape needs the unknown steps before the first known row."""
        return True

    @abstractmethod
    def _transformed(self, tape: Tape) -> Floats:
        """Return the rows of the output, of shape (n, n_features_out)."""

    @abstractmethod
    def _output_names(self, names: Sequence[str]) -> list[str]:
        """Return the names of the output's columns."""

    @abstractmethod
    def _reached(self, tape: Tape) -> Flags:
        """Return which steps the rows look at, an array of shape (m,)."""

    @abstractmethod
    def _touching(self, tape: Tape, steps: Flags) -> Flags:
        """Return which rows look at one of some steps, an array of shape (n,)."""

    @property
    @abstractmethod
    def _from_the_rest(self) -> str:
        """How a row without a part of its history is computed."""

    def _check_length(self, n_known: int) -> None:
        """Raise if there are too few rows."""

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Remember the rows, as the past of later rows.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            The series, a row a step of time.
        y : None
            Ignored.

        Returns
        -------
        self

        See Also
        --------
        transform : Computes rows from the remembered rows.
        """
        tape = self._learn(X)
        self._check_known(tape)
        self._tell(X, tape, fitting=True)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """Fit and transform, like `fit(X).transform(X)`, but with a single check of X.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            The series, a row a step of time.
        y : None
            Ignored.

        Returns
        -------
        DataFrame or ndarray of shape (n, n_features_out)

        See Also
        --------
        fit : Only remembers the rows.
        transform : Computes later rows.
        """
        return self._output(X, self._learn(X), fitting=True)

    def transform(self, X: ArrayLike) -> Any:
        """Compute each row from the readings of its time and earlier.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            The series, a row a step of time; a frame's rows in any order.

        Returns
        -------
        DataFrame or ndarray of shape (n, n_features_out)
            The rows of the output, with X's index if it has one.

        See Also
        --------
        get_feature_names_out : The names of the columns.
        """
        check_is_fitted(self)
        self._check_parameters()
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        positions = self._positions(read_time_stamps(X, "X"), values)
        return self._output(X, self._tape(positions, values), fitting=False)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output's columns.

        Parameters
        ----------
        input_features : sequence of str or None, default=None
            Names of X's columns; None for those seen in `fit`, else x0, x1, ...

        Returns
        -------
        ndarray of str

        Raises
        ------
        ArgumentError
            If the names are not those of the columns seen in `fit`.

        See Also
        --------
        transform : Computes the columns.
        """
        check_is_fitted(self)
        seen = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = [f"x{j}" for j in range(self.n_features_in_)] if seen is None else list(seen)
        else:
            names = list(input_features)
            if len(names) != self.n_features_in_:
                raise ArgumentError(f"input_features should have length equal to number of features ({self.n_features_in_})")
            if seen is not None and names != list(seen):
                raise ArgumentError("input_features is not equal to feature_names_in_")
        return np.asarray(self._output_names(names), dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "raise"
        return tags

    def _check_parameters(self) -> None:
        """Raise ArgumentError if a parameter is invalid."""
        for name, rules in (("missing", self._missing_rules), ("start", self._start_rules)):
            check_choice(name, getattr(self, name), rules)

    def _open(self, tape: Tape) -> Flags:
        """Return the steps without a row that `start` decides about; others are missing readings.

        start="zero" says what was before the first row, and nothing about a gap.
        """
        return tape.absent if self.missing == "raise" and self.start != "zero" else tape.before

    def _learn(self, X: Any) -> Tape:
        self._check_parameters()
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=True)
        stamps = read_time_stamps(X, "X")
        grid = TimeGrid("integers", 0, 1) if stamps is None else TimeGrid.through([stamps], self.step)
        positions: Places = range(len(values)) if stamps is None else grid.positions(stamps)
        self.known_ = KnownRows.merged(grid, [(positions, values)])
        self._check_length(len(self.known_.positions))
        return self._tape(positions, values)

    def _tape(self, positions: Places, values: Floats) -> Tape:
        return tape_in_time(positions, values, self.known_, self.reach, self._needs_start)

    def _positions(self, stamps: TimeStamps | None, values: Floats) -> Places:
        """Return the positions of rows in time; rows without an index are those of the fit, or follow them."""
        known = self.known_
        if stamps is not None:
            return known.grid.positions(stamps)
        n = len(known.values)
        first = int(known.positions[-1]) + 1
        if len(values) < n or not np.array_equal(values[:n], known.values, equal_nan=True):
            return range(first, first + len(values))
        if isinstance(known.positions, range):
            return range(known.positions[0], first + len(values) - n)
        return np.append(known.positions, np.arange(first, first + len(values) - n))

    def _check_known(self, tape: Tape) -> None:
        """Raise DataError if a required reading is unknown."""
        absent = self._open(tape)
        if self.missing == "raise" and tape.any_unknown:
            unknown = tape.unknown & (self._reached(tape) & ~absent)[:, None]
            if unknown.any():
                step, column = (int(k) for k in np.argwhere(unknown)[0])
                names = getattr(self, "feature_names_in_", None)
                which = f"x{column}" if names is None else repr(names[column])
                others = ", ".join(map(repr, self._missing_rules[1:]))
                gap = "give the rows as HistoryPipeline(..., history=), use start='known'"
                raise DataError(
                    f"{int(unknown.sum())} readings are missing (NaN, or a gap in time), the first that of {which} at "
                    f"{tape.label(step)}; {gap if tape.absent[step] else 'fill them'}, or use missing={others}"
                )
        if self.start == "raise" and absent.any():
            early = absent & self._reached(tape)
            if early.any():
                raise DataError(
                    f"start='raise', and there is no row for {int(early.sum())} steps before rows, the last at "
                    f"{tape.label(int(np.flatnonzero(early)[-1]))}; give them as HistoryPipeline(..., history=)"
                )

    def _tell(self, X: Any, tape: Tape, fitting: bool) -> Flags:
        """Tell of the rows that lack a part of their history, unless a step before told of them; return all of them."""
        told = told_rows(X)
        rows = np.zeros(tape.n_rows, dtype=bool) if told is None else told
        absent = self._open(tape)
        if self.start != "known" or not absent.any():
            return rows
        short = self._touching(tape, absent)
        if not (short & ~rows).any():
            return rows
        rows = rows | short
        rest = f"({type(self).__name__} looks {self.reach} back): {self._from_the_rest}"
        if fitting and not isinstance(X, pd.DataFrame):
            rest += "; X has no index, so rows of later calls count as following these"
        tell([ShortHistory.of(rows, rest)], stacklevel=4)
        return rows

    def _output(self, X: Any, tape: Tape, fitting: bool) -> Any:
        self._check_known(tape)
        found: Any = self._transformed(tape)
        if isinstance(X, pd.DataFrame):
            found = pd.DataFrame(found, index=X.index, columns=self.get_feature_names_out(), copy=False)
        rows = self._tell(X, tape, fitting)
        if rows.any():
            remember_told(found, rows)
        return found

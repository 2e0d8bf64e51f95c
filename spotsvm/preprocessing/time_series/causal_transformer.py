"""Base class of time series transformers: fitting, past values, column names, pandas input and output."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from spotsvm.common.checks import check_choice
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.time_series.history import Flags, Floats, KnownRows, Tape, tape_in_time, tape_without_time
from spotsvm.preprocessing.time_series.time_grid import TimeGrid, TimeStamps, read_time_stamps


class CausalTransformer(TransformerMixin, BaseEstimator, ABC):
    """A transformer whose row at a time is computed from readings of that time and before.

    Rows of a pandas frame are identified by their index: rows before the first are looked up, by time stamp, among the rows seen
    in `fit` and those of `history`. An array has no index: its rows are in order of time, and earlier rows are unknown.
    """

    missing: str
    start: str
    history: Any
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
    def _check_length(self, n_known: int) -> None:
        """Warn or raise if there are too few rows."""

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
        self._check_known(self._learn(X))
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
        return self._output(X, self._learn(X))

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
        return self._output(X, self._tape(read_time_stamps(X, "X"), values))

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

    def _learn(self, X: Any) -> Tape:
        self._check_parameters()
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=True)
        stamps = read_time_stamps(X, "X")
        self.known_: KnownRows | None = None
        if stamps is None:
            if self.history is not None:
                raise DataError("history is given, but X has no index by which to look rows up in it; pass a pandas DataFrame")
            self._check_length(len(values))
            return tape_without_time(values, self.reach if self._needs_start else 0)
        past = self._history_stamps()
        grid = TimeGrid.through([stamps] if past is None else [stamps, past], self.step)
        positions = grid.positions(stamps)
        parts = [] if past is None else [(grid.positions(past), self._history_values())]
        self.known_ = KnownRows.merged(grid, [*parts, (positions, values)])
        self._check_length(len(self.known_.positions))
        return tape_in_time(positions, values, self.known_, self.reach, self._needs_start)

    def _history_stamps(self) -> TimeStamps | None:
        if self.history is None:
            return None
        past = read_time_stamps(self.history, "history")
        if past is None:
            raise ArgumentError(f"history is a {type(self.history).__name__}; use a pandas DataFrame with an index as X's")
        return past

    def _history_values(self) -> Floats:
        names = getattr(self, "feature_names_in_", None)
        history = self.history
        if names is not None:
            absent = [name for name in names if name not in history.columns]
            if absent:
                raise ArgumentError(f"history has no column {absent[0]!r}, which X has; it has {list(history.columns)}")
            history = history[list(names)]
        elif history.shape[1] != self.n_features_in_:
            raise ArgumentError(f"history has {history.shape[1]} columns and X has {self.n_features_in_}; use the same")
        found = check_array(history, dtype=np.float64, ensure_all_finite="allow-nan", input_name="history")
        return np.asarray(found)

    def _tape(self, stamps: TimeStamps | None, values: Floats) -> Tape:
        if stamps is None:
            return tape_without_time(values, self.reach if self._needs_start else 0)
        known = self.known_
        if known is None:
            known = KnownRows(TimeGrid.through([stamps], self.step), range(0), values[:0])
        return tape_in_time(known.grid.positions(stamps), values, known, self.reach, self._needs_start)

    def _check_known(self, tape: Tape) -> None:
        """Raise DataError if a required reading is unknown."""
        if self.missing == "raise" and tape.any_gap:
            unknown = tape.unknown & (self._reached(tape) & ~tape.before)[:, None]
            if unknown.any():
                step, column = (int(k) for k in np.argwhere(unknown)[0])
                names = getattr(self, "feature_names_in_", None)
                which = f"x{column}" if names is None else repr(names[column])
                others = ", ".join(map(repr, self._missing_rules[1:]))
                raise DataError(
                    f"{int(unknown.sum())} readings are missing (NaN, or a gap in time), the first that of {which} at "
                    f"{tape.label(step)}; give the rows as history=, or use missing={others}"
                )
        if self.start == "raise" and tape.unseen:
            early = tape.before & self._reached(tape)
            if early.any():
                raise DataError(
                    f"start='raise', and {int(early.sum())} steps before the first row are not known, the last at "
                    f"{tape.label(int(np.flatnonzero(early)[-1]))}; give them as history="
                )

    def _output(self, X: Any, tape: Tape) -> Any:
        self._check_known(tape)
        found = self._transformed(tape)
        if not isinstance(X, pd.DataFrame):
            return found
        return pd.DataFrame(found, index=X.index, columns=self.get_feature_names_out(), copy=False)

"""A pipeline of time series transformers that takes past values from rows outside the data."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from spotsvm.common.notices import Notice, gathered, once, tell
from spotsvm.errors import ArgumentError, DataError
from spotsvm.preprocessing.time_series.short_history import ShortHistory
from spotsvm.preprocessing.time_series.time_grid import read_time_stamps


def _ends_in_a_transformer(pipeline: HistoryPipeline) -> bool:
    last = pipeline.steps[-1][1]
    return last is None or last == "passthrough" or hasattr(last, "transform")


class HistoryPipeline(Pipeline):
    """A chain of transformers, such as LeakyRain and DelayEmbedding, each of which needs the past of its rows.

    The steps of any pipeline look back to the rows that they were fitted to. This one also takes rows that are not in the data:
    before the first step, the rows of `history` that precede a row of X are added to X, by time stamp; the output has only X's
    rows. Every step thus sees its own past, as if the whole series had been transformed and cut afterwards. Without `history` it
    is a Pipeline.

    Parameters
    ----------
    steps : list of (str, transformer)
        The transformers. With a history they get no target; put the chain before a regressor in a Pipeline.
    history : DataFrame or None, default=None
        Rows by time stamp, with X's columns: such as the whole series, if training and test rows do not follow each other, or if
        rows without a target were left out of X. At a time stamp of both, X's row is used.
    transform_input, memory, verbose
        As Pipeline's.

    Raises
    ------
    ArgumentError, DataError
        In `fit` and `transform`, if the history is not a frame, lacks a column, has a time stamp twice or stamps of another kind
        than X, or the last step is not a transformer while there is a history; both are ValueErrors.

    See Also
    --------
    LeakyRain : A step that needs earlier rows.
    DelayEmbedding : A step that needs earlier rows.
    BlockSplit : Folds of a time series.

    Notes
    -----
    It passes the checks of scikit-learn's estimators that a Pipeline of its steps passes.

    Examples
    --------
    >>> from spotsvm import DelayEmbedding, LeakyRain
    >>> rain = pd.DataFrame({"rain": [8.0, 0.0, 0.0, 0.0, 4.0, 2.0]})
    >>> steps = [
    ...     ("leaky", LeakyRain(decays=0.5, windows=2, start="zero")),
    ...     ("embed", DelayEmbedding(dimensions=2)),
    ... ]
    >>> HistoryPipeline(steps, history=rain).fit(rain[1:3]).transform(rain[5:])
       rain_decay0.5_window2_lag0  rain_decay0.5_window2_lag1
    5                         4.0                         4.0
    """

    def __init__(
        self, steps: Any, *, history: Any = None, transform_input: Any = None, memory: Any = None, verbose: bool = False
    ):
        super().__init__(steps, transform_input=transform_input, memory=memory, verbose=verbose)
        self.history = history

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the transformers to X and the rows before it.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n, d)
            The series; a frame if there is a history.
        y : array-like or None
            Passed on if there is no history.
        **params
            As Pipeline's.

        Returns
        -------
        self

        See Also
        --------
        transform : Transforms later rows.
        predict : Predicts for them, where the last step is a predictor.
        """
        if self.history is None:
            super().fit(X, y, **params)
        else:
            rows, own = self._with_past(X)
            with gathered() as told:
                super().fit(rows, **params)
            _tell_of(told, own)
        return self

    @available_if(_ends_in_a_transformer)
    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:
        """Fit the transformers, and transform X.

        Returns
        -------
        array-like of shape (n_rows, n_features)
            The transformed rows.

        See Also
        --------
        fit : Fits the last step as well.
        transform : Transforms later rows.
        """
        if self.history is None:
            return super().fit_transform(X, y, **params)
        rows, own = self._with_past(X)
        with gathered() as told:
            found = super().fit_transform(rows, **params)
        _tell_of(told, own)
        return _taken(found, own)

    @available_if(_ends_in_a_transformer)
    def transform(self, X: Any, **params: Any) -> Any:
        """Transform rows.

        Returns
        -------
        array-like of shape (n_rows, n_features)
            The transformed rows.

        See Also
        --------
        fit_transform : The same for the rows of the fit.
        """
        if self.history is None:
            return super().transform(X, **params)
        rows, own = self._with_past(X)
        with gathered() as told:
            found = super().transform(rows, **params)
        _tell_of(told, own)
        return _taken(found, own)

    def __getitem__(self, ind: Any) -> Any:
        found = super().__getitem__(ind)
        if isinstance(found, HistoryPipeline):
            found.history = self.history
        return found

    def _with_past(self, X: Any) -> tuple[pd.DataFrame, Any]:
        """Return X with the history before its last row, in order of time, and the indices of X's own rows."""
        if not _ends_in_a_transformer(self):
            raise ArgumentError(
                f"the last step, {self.steps[-1][0]!r}, is not a transformer; with a history, put the HistoryPipeline of the "
                "transformers before it in a Pipeline"
            )
        stamps, known = read_time_stamps(X, "X"), read_time_stamps(self.history, "history")
        if known is None:
            raise ArgumentError(f"history is a {type(self.history).__name__}; use a pandas DataFrame with an index as X's")
        if stamps is None:
            raise DataError("history is given, but X has no index by which to look rows up in it; pass a pandas DataFrame")
        if not len(X):
            raise DataError("X has no rows (n_samples=0)")
        if stamps.kind != known.kind:
            raise DataError(f"X has an index of {stamps.kind}, and history one of {known.kind}; use one kind")
        absent = [name for name in X.columns if name not in self.history.columns]
        if absent:
            raise ArgumentError(f"history has no column {absent[0]!r}, which X has; it has {list(self.history.columns)}")
        past = np.flatnonzero((known.ticks < stamps.ticks.max()) & ~np.isin(known.ticks, stamps.ticks))
        ticks = np.concatenate([known.ticks[past], stamps.ticks])
        order = np.argsort(ticks, kind="stable")
        before = self.history[list(X.columns)].iloc[past]
        zone = getattr(X.index, "tz", None)
        if zone is not None:
            before = before.tz_convert(zone)
        rows = pd.concat([before, X]).iloc[order]
        return rows, np.searchsorted(ticks[order], stamps.ticks)


def _tell_of(told: list[Notice], own: Any) -> None:
    """Tell of X's own rows, not of the rows before them."""
    kept = [one.of_rows(own) if isinstance(one, ShortHistory) else one for one in told]
    tell(once(one for one in kept if one is not None), stacklevel=4)


def _taken(data: Any, rows: Any) -> Any:
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]

"""Tables of any maker as frames of pandas: polars, pyarrow, and others that can be exchanged."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.errors import DataError


def as_frame(X: Any) -> Any:
    """Return a table of any maker as a frame of pandas, and anything else unchanged, with NaN in place of masked numbers."""
    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, np.ma.MaskedArray):
        return np.ma.filled(X.astype(object if X.dtype.kind in "OUS" else float), np.nan)
    if isinstance(X, list | tuple):
        return _with_types(X)
    maker = type(X).__module__.partition(".")[0]
    if maker == "polars":
        return _of_polars(X)
    for name in ("to_pandas", "_to_pandas"):
        if callable(getattr(X, name, None)) and hasattr(X, "shape"):
            frame = getattr(X, name)()
            return frame if isinstance(frame, pd.DataFrame) else X
    return _exchanged(X) if hasattr(X, "__dataframe__") else X


def _exchanged(X: Any) -> Any:
    """Return a frame by the protocol for the exchange of frames, which pandas will not have for ever."""
    try:
        from pandas.api.interchange import from_dataframe
    except ImportError:
        return X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return from_dataframe(X)


def _with_types(X: Any) -> Any:
    """Return rows in lists as an array of objects if numpy would make their numbers texts."""
    try:
        array = np.asarray(X)
    except ValueError:  # rows of different lengths, which scikit-learn reports
        return X
    return np.asarray(X, dtype=object) if array.dtype.kind in "US" and array.ndim == 2 else X


def _of_polars(X: Any) -> Any:
    """Return a frame of polars column by column, as polars needs pyarrow for the whole frame."""
    if hasattr(X, "collect"):
        raise DataError("X is a LazyFrame, which has no rows yet; pass X.collect()")
    if not hasattr(X, "get_columns"):  # a series
        return X
    columns = {k: _column(column) for k, column in enumerate(X.get_columns())}
    return pd.DataFrame(columns, index=range(X.height)).set_axis(list(X.columns), axis=1)


def _column(column: Any) -> Any:
    """Return a column of polars as an array, or as a series of Python's objects."""
    kind = str(column.dtype.base_type())
    if kind == "Datetime":
        if column.dtype.time_zone is not None:
            column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column.to_numpy()
    if kind == "Date":
        return column.to_numpy().astype("datetime64[s]")
    if kind in ("Categorical", "Enum"):
        return pd.Categorical(column.to_list())
    if kind == "Decimal" or kind.endswith("128"):
        column = column.cast(float)
    if column.dtype.is_numeric() or kind == "Duration":
        return column.to_numpy()
    return pd.Series(column.to_list(), dtype=object)

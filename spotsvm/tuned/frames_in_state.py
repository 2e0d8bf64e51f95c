"""Estimators with frames and series: their state holds the columns as lists and arrays, which skops can write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

_TABLES = "_tables"


class FramesInState(BaseEstimator):
    """A base of estimators with attributes that are frames, numbered by row, or series, with texts and numbers."""

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the columns of each frame, and the index and values of each series, in its place."""
        state = dict(super().__getstate__())
        tables = {name: value for name, value in state.items() if isinstance(value, pd.DataFrame | pd.Series)}
        for name in tables:
            del state[name]
        return {**state, _TABLES: {name: _plain(table) for name, table in tables.items()}} if tables else state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the frames and series as well."""
        tables = {name: _restored(plain) for name, plain in state.get(_TABLES, {}).items()}
        super().__setstate__({name: value for name, value in state.items() if name != _TABLES} | tables)


def _plain(table: pd.DataFrame | pd.Series) -> dict[str, Any]:
    if isinstance(table, pd.Series):
        return {"index": table.index.to_list(), "values": _cells(table), "name": table.name}
    return {"columns": {str(name): _cells(column) for name, column in table.items()}}


def _restored(plain: Mapping[str, Any]) -> pd.DataFrame | pd.Series:
    if "columns" in plain:
        return pd.DataFrame(plain["columns"])
    return pd.Series(plain["values"], index=plain["index"], name=plain["name"])


def _cells(column: pd.Series) -> Any:
    return column.to_numpy() if column.dtype.kind in "biuf" else column.to_list()

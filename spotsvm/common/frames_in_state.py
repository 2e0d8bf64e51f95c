"""Objects with frames and series: their state holds the columns as lists and arrays, which skops can write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import pandas as pd

_TABLES = "_tables"


class FramesInState:
    """A base of objects with attributes that are frames, numbered by row, or series, with texts and numbers."""

    #: names of attributes that are computed from the others when they are asked for
    _computed: ClassVar[tuple[str, ...]] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with the columns of each frame, and the index and values of each series, in its place."""
        whole: Mapping[str, Any] = super().__getstate__()  # type: ignore[assignment]
        state = {name: value for name, value in whole.items() if name not in self._computed}
        tables = {name: value for name, value in state.items() if isinstance(value, pd.DataFrame | pd.Series)}
        for name in tables:
            del state[name]
        return {**state, _TABLES: {name: _plain(table) for name, table in tables.items()}} if tables else state

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore the frames and series as well."""
        tables = {name: _restored(plain) for name, plain in state.get(_TABLES, {}).items()}
        whole = {name: value for name, value in state.items() if name != _TABLES} | tables
        inherited: Any = super()
        if hasattr(inherited, "__setstate__"):  # an estimator's checks the version of scikit-learn
            inherited.__setstate__(whole)
        else:
            self.__dict__.update(whole)


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

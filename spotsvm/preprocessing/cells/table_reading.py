"""How the cells of all columns of a table are read."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

import pandas as pd
from pandas.api.types import is_numeric_dtype, is_timedelta64_dtype

from spotsvm.preprocessing.cells.column_reading import ColumnReading, Given, Holds, Read
from spotsvm.preprocessing.cells.deciding import decided
from spotsvm.preprocessing.cells.findings import Finding
from spotsvm.preprocessing.cells.numbers import Notation


class TableReading:
    """How the columns of a table are read; `columns` by position, the others have plain numbers."""

    def __init__(self, names: Sequence[str], given: Given, columns: Mapping[int, ColumnReading] | None = None):
        self.names, self.given, self.columns = list(names), given, dict(columns or {})

    def fit(self, table: pd.DataFrame, forced: Collection[int]) -> tuple[dict[int, Read], dict[int, list[Finding]]]:
        """Decide how to read the columns; return the values of those whose cells are not just numbers, and what was found.

        The columns in `forced` hold texts, whatever their cells are.
        """
        read: dict[int, Read] = {}
        findings: dict[int, list[Finding]] = {}
        for k, dtype in enumerate(table.dtypes):
            if k in forced or self.given.missing or not is_plain(dtype):
                self.columns[k], read[k], findings[k] = decided(table.iloc[:, k], self.names[k], self.given, k in forced)
        return read, findings

    @property
    def takes_plain(self) -> bool:
        """Whether an array of numbers needs no reading."""
        return all(reading.takes_plain for reading in self.columns.values())

    def of(self, k: int) -> ColumnReading:
        """Return the reading of a column."""
        return self.columns.get(k) or ColumnReading(self.names[k], "numbers")

    def read(self, table: pd.DataFrame) -> tuple[dict[int, Read], list[Finding]]:
        """Return the values of the columns of later rows whose cells are not just numbers, and what was found in all columns."""
        read: dict[int, Read] = {}
        findings: list[Finding] = []
        if not self.columns and all(map(is_plain, set(table.dtypes))):
            return read, findings
        for k, dtype in enumerate(table.dtypes):
            reading = self.of(k)
            if not (reading.takes_plain and is_plain(dtype) and not self.given.missing):
                read[k], found = reading.read(table.iloc[:, k], self.given)
                findings += found
        return read, findings

    def with_decimal(self, decimal: str | None) -> TableReading:
        """Return the readings for a file with another decimal mark; None if it is unknown."""
        return TableReading(self.names, self.given._replace(decimal=decimal), self.columns)

    def to_json(self) -> dict[str, Any]:
        """Return the readings as JSON types."""
        columns = {str(k): asdict(one) for k, one in self.columns.items()}
        return {"names": self.names, "columns": columns, "missing": list(self.given.missing), "decimal": self.given.decimal}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> TableReading:
        """Return the readings that `to_json` has returned; ValueError if it cannot have returned this."""
        names, missing = _texts(found.get("names")), _texts(found.get("missing"))
        decimal, columns = found.get("decimal"), found.get("columns")
        if (
            decimal not in (None, ".", ",")
            or not isinstance(columns, dict)
            or not columns.keys() <= set(map(str, range(len(names))))
        ):
            raise ValueError("the description of the cells is not as it was written")
        return cls(names, Given(tuple(missing), decimal), {int(key): _column(one) for key, one in columns.items()})


def _column(found: Any) -> ColumnReading:
    usual = asdict(ColumnReading("", "texts"))
    _check_types(found, usual)
    _check_types(found["notation"], usual["notation"])
    if found["holds"] not in get_args(Holds) or not all(isinstance(one, str) for one in found["levels"]):
        raise ValueError(f"a column has holds={found['holds']!r} and levels={found['levels']!r}")
    notation = Notation(**found["notation"])
    if notation.decimal not in (".", ",") or len(notation.thousands) > 1:
        raise ValueError(f"a column has numbers written as {notation}")
    return ColumnReading(**{**found, "notation": notation, "levels": tuple(found["levels"])})


def _check_types(found: Any, usual: Mapping[str, Any]) -> None:
    """Raise ValueError unless a dictionary has the names of another one, and values of the same types; lists are tuples."""
    if not isinstance(found, dict) or found.keys() != usual.keys():
        raise ValueError(f"the description of a column has other parts than {', '.join(usual)}")
    for name, value in usual.items():
        if not isinstance(found[name], list if isinstance(value, tuple) else type(value)):
            raise ValueError(f"the description of a column has {name}={found[name]!r}")


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{value!r} is no list of texts")
    return value


def is_plain(dtype: Any) -> bool:
    """Return whether the cells of a column of this type are numbers that need no reading."""
    if isinstance(dtype, pd.SparseDtype) or is_timedelta64_dtype(dtype) or getattr(dtype, "kind", "") == "c":
        return False
    return bool(is_numeric_dtype(dtype))

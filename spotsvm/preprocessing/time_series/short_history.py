"""Rows that look back past the rows there are: what is told of them, once for the steps of a chain."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spotsvm.common.notices import Notice
from spotsvm.preprocessing.time_series.history import Flags

#: rows of tables, by the id of the table, that were told when it was computed
_TOLD: dict[int, tuple[weakref.ref[Any], Flags]] = {}


@dataclass(frozen=True)
class ShortHistory(Notice):
    """A notice of the rows, a mask, that lack a part of their history; `rest` is the end of its sentence."""

    rows: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool), compare=False, repr=False)
    rest: str = ""

    @classmethod
    def of(cls, rows: Flags, rest: str) -> ShortHistory:
        """Return the notice of a mask with at least one row."""
        n, whole = int(rows.sum()), len(rows)
        look = "looks" if n == 1 else "look"
        return cls(
            "history", f"{n} of {whole} rows {look} back to steps of which there is no row {rest}", None, n / whole, rows, rest
        )

    def joined(self, earlier: Notice) -> Notice:
        """Return the notice of the rows of both, with the words of the one that has more."""
        if not isinstance(earlier, ShortHistory) or len(earlier.rows) != len(self.rows):
            return self
        more = max(self, earlier, key=lambda one: int(one.rows.sum()))
        return self.of(self.rows | earlier.rows, more.rest)

    def of_rows(self, own: Any) -> ShortHistory | None:
        """Return the notice of some of the rows alone; None if it is about none of them."""
        rows = self.rows[own]
        return self.of(rows, self.rest) if rows.any() else None


def told_rows(X: Any) -> Flags | None:
    """Return the rows of a table that were told to lack history when an earlier step computed it."""
    table, rows = _TOLD.get(id(X), (None, None))
    return rows if table is not None and table() is X else None


def remember_told(X: Any, rows: Flags) -> None:
    """Keep the rows that were told, as long as the table exists."""
    key = id(X)
    _TOLD[key] = weakref.ref(X, lambda gone: _TOLD.pop(key, None) if _TOLD.get(key, (None,))[0] is gone else None), rows

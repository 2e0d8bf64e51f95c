"""Limits for opening a record: no foreign tables, triggers or views, bounded time and bounded memory."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spotsvm.common.errors import StorageError
from spotsvm.common.text import printable_line
from spotsvm.study.record.salvage import damaged
from spotsvm.study.record.schema import SCHEMA_VERSION, STATE_CHECK, columns_of, known_columns

#: seconds after which reading or writing is ended
MOST_SECONDS = 8.0
#: bytes of a single text, and of a statement
_MOST_BYTES = 100_000_000
_STEPS = 50_000  # of SQLite's machine between two looks at the clock, some milliseconds
_MOST_OBJECTS = 32


class RecordGuard:
    """Limits of a connection to a record, set before its first query: no code from its schema is run, and each query ends."""

    def __init__(self, connection: sqlite3.Connection, path: Path):
        self._connection, self._path = connection, path
        self._ends = 0.0
        self.begin()
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(self._is_late, _STEPS)
        # functions in views and triggers of the file are not to be trusted; a page that lies about its cells is refused
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}")
        if hasattr(connection, "setconfig"):  # since Python 3.12
            connection.setconfig(getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE"), True)  # noqa: B009

    def begin(self) -> None:
        """Restart the clock for the next query."""
        self._ends = time.monotonic() + MOST_SECONDS

    def _is_late(self) -> int:
        return int(time.monotonic() > self._ends)

    def rows(self, cursor: Iterable[Any]) -> list[Any]:
        """Return all rows of a query; raise StorageError if they are larger than the file allows, or take too long."""
        left = 4 * self._size() + 1_000_000
        found = []
        for row in cursor:
            left -= 16 + sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if left < 0:
                raise StorageError(f"{self._path} is damaged: its tables return more data than the file can hold")
            if self._is_late():
                raise StorageError(f"{self._path} is damaged: reading it takes more than {MOST_SECONDS:g} s")
            found.append(row)
        return found

    def _size(self) -> int:
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.is_file())

    def check_about(self) -> None:
        """Raise StorageError unless the table that says what the record is can be read without harm."""
        known = [known_columns(version)["about"] for version in range(1, SCHEMA_VERSION + 1)]
        if ("table", "about") not in self._objects() or columns_of(self._connection, "about") not in known:
            raise StorageError(
                f"{self._path} is not a record of spotsvm, or was changed: spotsvm did not create its table 'about'"
            )

    def check_tables(self, version: int) -> None:
        """Raise StorageError unless the file has the tables of a record of this version, and nothing beside them."""
        known = known_columns(version)
        for kind, name in self._objects():
            if kind != "table" or name not in known:
                what = printable_line(f"{kind} {name!r}", 80)
                raise damaged(self._path, f"spotsvm did not create its {what}; remove it, or use an unchanged copy")
        for name, columns in known.items():
            if columns_of(self._connection, name) != columns:
                raise damaged(self._path, f"its table {name!r} differs from the one that spotsvm creates; use an unchanged copy")

    def _objects(self) -> list[tuple[str, str]]:
        """Return kind and name of what the file holds; without the indexes and statistics of SQLite itself."""
        found = self._connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4') "
            "AND NOT (type = 'index' AND sql IS NULL) LIMIT ?",
            (_MOST_OBJECTS,),
        )
        return [(kind if kind != "table" or _is_plain(str(sql)) else "table with code", name) for kind, name, sql in found]


def _is_plain(sql: str) -> bool:
    """Return whether what made a table neither names a module of SQLite nor checks rows by expressions that are not spotsvm's."""
    return sql.startswith("CREATE TABLE ") and not re.search(r"\bCHECK\b", sql.replace(STATE_CHECK, ""), re.IGNORECASE)

"""What a record must not do when it is opened: bring tables, triggers or views of its own, take no end, or fill the memory."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from spotsvm.errors import StorageError
from spotsvm.printable import printable_line
from spotsvm.record_schema import SCHEMA_VERSION, creation_of, upgrade_step
from spotsvm.salvage import damaged

#: seconds after which reading or writing is ended
MOST_SECONDS = 8.0
#: bytes of a single text, and of a statement
_MOST_BYTES = 100_000_000
_STEPS = 50_000  # of SQLite's machine between two looks at the clock, some milliseconds
_MOST_OBJECTS = 32

Shape = frozenset[tuple[str, str, str, str]]
_OF_SQLITE = {"sqlite_stat1", "sqlite_stat4"}  # what ANALYZE leaves behind, which steers nothing but speed


class RecordGuard:
    """Bounds of a connection to a record: no code from its schema, and an end to each piece of work.

    Parameters
    ----------
    connection : sqlite3.Connection
        The connection, of which nothing has been asked yet.
    path : Path
        The record.
    """

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
        """Start the clock anew, for the next piece of work."""
        self._ends = time.monotonic() + MOST_SECONDS

    def _is_late(self) -> int:
        return int(time.monotonic() > self._ends)

    def rows(self, cursor: Iterable[Any]) -> list[Any]:
        """Give all rows of a query, or raise StorageError if they hold more than there is in the file, or take too long."""
        left = 4 * self._size() + 1_000_000
        found = []
        for row in cursor:
            left -= 16 + sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if left < 0:
                raise StorageError(f"{self._path} is damaged: its tables give more than the file can hold")
            if self._is_late():
                raise StorageError(f"{self._path} is damaged: reading it takes more than {MOST_SECONDS:g} s")
            found.append(row)
        return found

    def _size(self) -> int:
        files = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(file.stat().st_size for file in files if file.is_file())

    def check_about(self) -> None:
        """Raise StorageError unless the table that says what the record is can be read without harm; a view could be one."""
        self._check(lambda found: any(_about(found) == _about(known) for shapes in _known_shapes().values() for known in shapes))

    def check_shape(self, version: int) -> None:
        """Raise StorageError unless the file has the tables of a record of this version, and nothing beside them.

        Parameters
        ----------
        version : int
            Version of the schema, as the record says it.
        """
        self._check(lambda found: found in _known_shapes()[version])

    def _check(self, is_known: Callable[[Shape], bool]) -> None:
        cursor = self._connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT ?", (_MOST_OBJECTS,))
        found = _shape(row for row in cursor if str(row[1]) not in _OF_SQLITE)
        if is_known(found):
            return
        ours = frozenset[tuple[str, str, str, str]]().union(*(known for shapes in _known_shapes().values() for known in shapes))
        odd = sorted(found - ours)
        what = printable_line(f"{odd[0][0]} {odd[0][1]!r}", 80) if odd else "list of tables"
        if "about" in what or not any(name == "about" for _, name, *_ in found):
            raise StorageError(f"{self._path} is not a record of spotsvm, or was changed: its {what} is none of a record")
        raise damaged(self._path, f"its {what} is not as spotsvm makes it; take out what was added, or use an unchanged copy")


def _about(shape: Shape) -> Shape:
    """Give what a schema holds of the table `about`."""
    return frozenset(one for one in shape if "about" in one[1:3])


@cache
def _known_shapes() -> dict[int, list[Shape]]:
    """Give the tables of each version: made as such, or by upgrades from each version before."""
    known: dict[int, list[Shape]] = {version: [] for version in range(1, SCHEMA_VERSION + 1)}
    for first in known:
        connection = sqlite3.connect(":memory:")
        try:
            for statement in creation_of(first):
                connection.execute(statement)
            for version in range(first, SCHEMA_VERSION + 1):
                known[version].append(_shape(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")))
                if version < SCHEMA_VERSION:
                    for statement in upgrade_step(version):
                        connection.execute(statement)
        finally:
            connection.close()
    return known


def _shape(rows: Iterable[tuple[Any, ...]]) -> Shape:
    """Give what a schema holds; white space does not matter, which earlier versions wrote otherwise."""
    return frozenset((str(kind), str(name), str(table), " ".join(str(sql or "").split())) for kind, name, table, sql in rows)

"""The table of a record: a row for each event, with a checksum."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from spotsvm.common.json_values import read_json
from spotsvm.common.text import printable_line
from spotsvm.errors import StorageError
from spotsvm.study.record.codec import UNLIKE, RowError, brief_repr, checksum, decoded, encoded
from spotsvm.trials.events import Described, Event

FORMAT = "spotsvm study"
SCHEMA_VERSION = 7
TABLE = """CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    number INTEGER,
    content TEXT NOT NULL,
    arrays BLOB,
    checksum INTEGER NOT NULL
)"""
#: the rows of the table, as `event_of` takes them
ROWS = "SELECT position, kind, number, content, arrays, checksum FROM events"
#: entries of the first event
_FIRST = {"format": FORMAT, "schema_version": SCHEMA_VERSION}


def create(connection: sqlite3.Connection) -> None:
    """Make an empty file a record; to be called in a transaction."""
    connection.execute(TABLE)
    insert(connection, 0, Described(_FIRST))


def insert(connection: sqlite3.Connection, position: int, event: Event) -> None:
    """Insert the row of an event; sqlite3.IntegrityError if its position is taken."""
    kind, content, arrays = encoded(event)
    cells = (position, kind, getattr(event, "number", None), content, arrays)
    connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?)", (*cells, checksum(*cells)))


def event_of(row: Sequence[Any]) -> Event:
    """Return the event of a row; RowError if the row was changed, or spotsvm did not write it."""
    *cells, known = row
    if known != checksum(*cells):
        raise RowError(UNLIKE)
    _, kind, _, content, arrays = cells
    return decoded(kind, content, arrays)


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[tuple[Any, ...], ...]:
    """Return SQLite's description of each column of a table: name, type, not null, default, index in the key, whether hidden."""
    return tuple(tuple(row[1:]) for row in connection.execute(f"PRAGMA table_xinfo({table})"))


@cache
def known_columns() -> tuple[tuple[Any, ...], ...]:
    """Return the result of `columns_of` for the table of a record."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(TABLE)
        return columns_of(connection, "events")


def of_other_version(path: Path, version: Any, writer: Any = None) -> StorageError:
    """Return the error for a record of another schema version, which names the spotsvm that wrote it, if that is known."""
    by = f"spotsvm {printable_line(writer, 20)}" if isinstance(writer, str) else "the version of spotsvm that wrote it"
    return StorageError(
        f"{path} has schema version {brief_repr(version)}; this spotsvm reads version {SCHEMA_VERSION}. Use {by}: its "
        "command `spotsvm export` writes the trials as a table, of which Study.from_frame makes a study here"
    )


def written_by_0_2_0(connection: sqlite3.Connection, path: Path) -> StorageError | None:
    """Return the error for a record of spotsvm 0.2.0, which had a table for each kind of event; None if the file is none."""
    try:
        if connection.execute("SELECT type FROM sqlite_master WHERE name = 'about'").fetchone() != ("table",):
            return None
        about = {str(key): read_json(value) for key, value in connection.execute("SELECT key, value FROM about LIMIT 1000")}
    except (sqlite3.Error, TypeError, ValueError):
        return None
    if about.get("format") != FORMAT:
        return None
    writers = about.get("versions")
    return of_other_version(path, about.get("schema_version"), writers.get("spotsvm") if isinstance(writers, dict) else None)

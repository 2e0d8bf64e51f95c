"""The table of a record: a row for each event, with a checksum."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from functools import cache
from typing import Any

from spotsvm.study.record.codec import UNLIKE, RowError, checksum, decoded, encoded
from spotsvm.trials.events import Described, Event

FORMAT = "spotsvm study"
SCHEMA_VERSION = 2
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

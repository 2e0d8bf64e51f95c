"""The tables of a record."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from spotsvm.errors import StorageError
from spotsvm.study.record.rows import checksum

FORMAT = "spotsvm study"
SCHEMA_VERSION = 1

#: the only expression in a table
STATE_CHECK = "CHECK (state IN ('running', 'ok', 'stopped', 'failed', 'timeout'))"

_TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID",
    f"""CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    asked INTEGER UNIQUE,
    told INTEGER UNIQUE,
    state TEXT NOT NULL {STATE_CHECK},
    point BLOB NOT NULL,
    params TEXT NOT NULL,
    value REAL,
    extra TEXT NOT NULL DEFAULT '{{}}',
    reason TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    seed INTEGER NOT NULL,
    ask_seconds REAL,
    seconds REAL,
    objectives TEXT,
    fit_seconds REAL,
    acquisition_seconds REAL,
    lost TEXT NOT NULL DEFAULT '[]',
    asked_at REAL,
    told_at REAL,
    asked_checksum INTEGER,
    told_checksum INTEGER,
    sweep INTEGER,
    traceback TEXT,
    attributes TEXT,
    steps TEXT
)""",
    "CREATE TABLE outcomes (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL, checksum INTEGER)",
)


def table_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables of a database."""
    return {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def check_version(about: Mapping[str, Any], path: Path) -> None:
    """Raise StorageError if a file is not a record, or one of another schema version."""
    if about.get("format") != FORMAT:
        raise StorageError(f"{path} is not a record of spotsvm; name another file")
    version = about.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise StorageError(
            f"{path} has schema version {version!r}; this spotsvm reads version {SCHEMA_VERSION}. "
            "Use the version of spotsvm that wrote it"
        )


def create(connection: sqlite3.Connection) -> None:
    """Make an empty file a record; to be called in a transaction."""
    for statement in _TABLES:
        connection.execute(statement)
    for statement, values in about_rows({"format": FORMAT, "schema_version": SCHEMA_VERSION}):
        connection.execute(statement, values)


def about_rows(about: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the statements that write entries of the description of the study."""
    for key, value in about.items():
        text = json.dumps(value)
        yield "INSERT OR REPLACE INTO about VALUES (?, ?, ?)", (key, text, checksum(key, text))


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[tuple[Any, ...], ...]:
    """Return what SQLite knows of the columns of a table: name, type, not null, default, place in the key, whether hidden."""
    return tuple(tuple(row[1:]) for row in connection.execute(f"PRAGMA table_xinfo({table})"))


@cache
def known_columns() -> dict[str, tuple[tuple[Any, ...], ...]]:
    """Return what `columns_of` gives for each table."""
    with closing(sqlite3.connect(":memory:")) as connection:
        create(connection)
        return {table: columns_of(connection, table) for table in sorted(table_names(connection))}


def trial_columns() -> tuple[str, ...]:
    """Return the columns of `trials`."""
    return tuple(name for name, *_ in known_columns()["trials"])

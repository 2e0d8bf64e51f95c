"""The tables of a record, and the upgrade of records of earlier versions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from spotsvm.common.errors import StorageError
from spotsvm.study.record.rows import ASKED, TOLD, add_checksum, checksum

FORMAT = "spotsvm study"
#: version 2 has the column `objectives`, version 3 the times of the search, lost workers, and outcomes that wait to be told,
#: version 4 checksums, version 5 the suggestion whose path a trial is on, version 6
#: tracebacks and attributes
SCHEMA_VERSION = 6

#: the only expression in a table
STATE_CHECK = "CHECK (state IN ('running', 'ok', 'failed', 'timeout'))"

_TABLES = (
    "CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID",
    f"""CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    asked INTEGER NOT NULL UNIQUE,
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
    suggestion INTEGER,
    traceback TEXT,
    attributes TEXT
)""",
    "CREATE TABLE outcomes (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL, checksum INTEGER)",
)

#: the columns that a version added to those of the one before it, at the end of its tables
_ADDED: dict[int, dict[str, tuple[str, ...]]] = {
    2: {"trials": ("objectives",)},
    3: {"trials": ("fit_seconds", "acquisition_seconds", "lost", "asked_at", "told_at")},
    4: {"about": ("checksum",), "trials": ("asked_checksum", "told_checksum"), "outcomes": ("checksum",)},
    5: {"trials": ("suggestion",)},
    6: {"trials": ("traceback", "attributes")},
}


def table_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the tables of a database."""
    return {str(name) for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def checked_version(about: Mapping[str, Any], path: Path) -> int:
    """Return the schema version of a record; raise StorageError if it is not a record, or its version is unknown."""
    if about.get("format") != FORMAT:
        raise StorageError(f"{path} is not a record of spotsvm; name another file")
    version = about.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or not 1 <= version <= SCHEMA_VERSION:
        raise StorageError(
            f"{path} has schema version {version!r}; this spotsvm reads up to version {SCHEMA_VERSION}. "
            "Use the version of spotsvm that wrote it"
        )
    return version


def creation() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the statements, with their values, that make an empty file a record; to be run in one transaction."""
    for statement in _TABLES:
        yield statement, ()
    yield from about_rows({"format": FORMAT, "schema_version": SCHEMA_VERSION})


def upgrade(version: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the statements that upgrade a record to this version; to be run in one transaction.

    The connection needs the function `checksum`; see `add_checksum`.
    """
    definitions = {"checksum": "checksum INTEGER"}
    definitions |= {line.split()[0]: line.strip().rstrip(",") for line in _TABLES[1].splitlines()}
    if version < 3:
        yield "CREATE TABLE outcomes (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL)", ()
    for later in range(version + 1, SCHEMA_VERSION + 1):
        for table, names in _ADDED[later].items():
            for name in names:
                yield f"ALTER TABLE {table} ADD COLUMN {definitions[name]}", ()
    yield from signing()
    yield from about_rows({"schema_version": SCHEMA_VERSION})


def signing() -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the statements that write the checksums of all rows as they are; the connection needs the function `checksum`."""
    yield "UPDATE about SET checksum = checksum(key, value)", ()
    yield f"UPDATE trials SET asked_checksum = checksum({', '.join(ASKED)}), told_checksum = checksum({', '.join(TOLD)})", ()
    yield "UPDATE outcomes SET checksum = checksum(number, outcome)", ()


def sign(connection: sqlite3.Connection) -> None:
    """Write the checksums of all rows as they are: of a record that something else than `Record` has changed."""
    add_checksum(connection)
    for statement, _ in signing():
        connection.execute(statement)


def about_rows(about: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Return the statements that write entries of the description of the study."""
    for key, value in about.items():
        text = json.dumps(value)
        yield "INSERT OR REPLACE INTO about VALUES (?, ?, ?)", (key, text, checksum(key, text))


def columns_of(connection: sqlite3.Connection, table: str) -> tuple[tuple[Any, ...], ...]:
    """Return what SQLite knows of the columns of a table: name, type, not null, default, place in the key, whether hidden."""
    found = (tuple(row[1:]) for row in connection.execute(f"PRAGMA table_xinfo({table})"))
    # versions 1 and 2 had points as text
    return tuple((name, "BLOB" if name == "point" and kind == "TEXT" else kind, *rest) for name, kind, *rest in found)


@cache
def known_columns(version: int) -> dict[str, tuple[tuple[Any, ...], ...]]:
    """Return what `columns_of` gives for each table of a version."""
    late = newer_columns(version)
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in _TABLES if version > 2 else _TABLES[:2]:
            connection.execute(statement)
        tables = sorted(table_names(connection))
        return {table: tuple(one for one in columns_of(connection, table) if one[0] not in late) for table in tables}


def stored_columns() -> tuple[str, ...]:
    """Return the columns of `trials` in the order of the file; those of an earlier version are the first of them."""
    return tuple(name for name, *_ in known_columns(SCHEMA_VERSION)["trials"])


def column(name: str, version: int) -> str:
    """Return a column as SQL for a record of a version: itself, or what stands for it where it is missing."""
    if name not in newer_columns(version):
        return name
    return "'[]'" if name == "lost" else "NULL"


def newer_columns(version: int) -> set[str]:
    """Return the columns that a version does not have yet."""
    return {name for later in range(version + 1, SCHEMA_VERSION + 1) for names in _ADDED[later].values() for name in names}

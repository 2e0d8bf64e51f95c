"""The cells of a record, except times and checksums of them, to tell whether two runs are the same."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

Cells = dict[str, list[tuple[object, ...]]]


@contextmanager
def copied(path: str | Path) -> Iterator[Path]:
    """Give a copy of a record with its journal: to read it after a kill is to recover it, which the next run is to do itself."""
    with tempfile.TemporaryDirectory() as folder:
        for file in (Path(path), Path(f"{path}-wal")):
            if file.exists():
                shutil.copy(file, folder)
        yield Path(folder) / Path(path).name


def record_cells(path: str | Path) -> Cells:
    """Give the rows of each table of a record, without the columns of times and of checksums.

    The record is read as it is, by SQLite alone, so that nothing of the library's own reading is taken for granted.

    Parameters
    ----------
    path : path-like
        The record.
    """
    with copied(path) as copy, closing(sqlite3.connect(copy)) as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: _rows(connection, name) for name in names}


def _rows(connection: sqlite3.Connection, table: str) -> list[tuple[object, ...]]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    kept = ", ".join(f'"{name}"' for name in columns if not name.endswith(("seconds", "_at", "checksum")))
    return connection.execute(f'SELECT {kept} FROM "{table}" ORDER BY 1').fetchall()


def first_difference(cells: Cells, others: Cells) -> str:
    """Say where two records differ first; nothing where they do not.

    Examples
    --------
    >>> first_difference({"trials": [(0, "ok")]}, {"trials": [(0, "failed")]})
    "trials, row 0: (0, 'ok') instead of (0, 'failed')"
    """
    if cells.keys() != others.keys():
        return f"tables {', '.join(cells)} instead of {', '.join(others)}"
    for table, rows in cells.items():
        expected = others[table]
        for k, (row, other) in enumerate(zip(rows, expected, strict=False)):
            if row != other:
                return f"{table}, row {k}: {row} instead of {other}"
        if len(rows) != len(expected):
            return f"{table}: {len(rows)} rows instead of {len(expected)}"
    return ""


def is_sound(path: str | Path) -> bool:
    """Tell whether SQLite finds nothing wrong with a file."""
    with copied(path) as copy, closing(sqlite3.connect(copy)) as connection:
        try:
            return bool(connection.execute("PRAGMA integrity_check").fetchone() == ("ok",))
        except sqlite3.DatabaseError:
            return False

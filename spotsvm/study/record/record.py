"""The record of a study: one SQLite file with a row for each event of the study, each with a checksum."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any

from spotsvm.common.text import checked_path, printable_line
from spotsvm.errors import StorageError
from spotsvm.study.record.codec import RowError
from spotsvm.study.record.opening import (
    WriterLock,
    check_kind,
    check_single,
    connect_to_read,
    connect_to_write,
    is_cut,
    lacks_log,
    limit,
    log_of,
    never_close_in_forks,
    prepare_to_write,
    storage_failures,
    why_empty,
    why_lone,
)
from spotsvm.study.record.salvage import damaged, readable
from spotsvm.study.record.table import (
    FORMAT,
    ROWS,
    SCHEMA_VERSION,
    columns_of,
    create,
    event_of,
    insert,
    known_columns,
    of_other_version,
    written_by_0_2_0,
)
from spotsvm.trials.events import Described, Event, EventError, Noted
from spotsvm.trials.ledger import Ledger


class Record:
    """The SQLite file of one study: its events in order, from which a ledger follows; one writer, any number of readers.

    Nothing in it is pickled or executed, and each row has a checksum. Several threads may use it, of which one writes at a time,
    but no process forked after opening. For a damaged record the error says how many trials can be read, and how.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False):
        # the program may change its working directory later
        self.path = checked_path(path) if read_only else checked_path(path).absolute()
        self._closed = False
        self._n_events = 0
        self._pid, self._turn = os.getpid(), threading.RLock()
        self._lock: WriterLock | None = None
        self._file: tuple[int, int] | None = None
        self._afterwards: Callable[[], None] = lambda: None
        self._guard: RecordGuard | None = None
        with self._failures("open"):
            there = check_kind(self.path)
            lone = False
            if read_only:
                if not there:
                    raise StorageError(f"{self.path}: there is no such record")
                self._connection, self._afterwards = connect_to_read(self.path)
            else:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._lock = WriterLock(self.path)
                try:
                    lone = there and lacks_log(self.path)  # which the connection makes
                    self._connection = connect_to_write(self.path)
                except BaseException:
                    self._lock.release()
                    raise
        try:
            with self._failures("open"):
                self._guard = RecordGuard(self._connection, self.path)
            self._prepare(lone)
            self._file = _device_and_number(self.path) if self._lock is not None else None
        except BaseException:
            self.close()
            raise
        never_close_in_forks(self)

    def _prepare(self, lone: bool) -> None:
        """Create or check the table; `lone` is whether the write-ahead log was missing when the file was opened."""
        assert self._guard is not None
        with self._failures("read"):
            objects = self._guard.objects()
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
        empty = not self.path.stat().st_size or pages > 0  # else the file is so short that SQLite treats it as empty
        if not objects and empty and self._lock is not None:
            if lone:
                warnings.warn(f"{why_lone(self.path)}. The study starts from the beginning", stacklevel=5)
            with self._failures("write"):
                prepare_to_write(self._connection)
            with self._transaction():
                create(self._connection)
            self._n_events = 1
            return
        if not objects and self._lock is None:
            raise StorageError(why_empty(self.path))
        with self._failures("read"):
            self._check_version(objects)
            if is_cut(self._connection, self.path):
                raise damaged(self.path, "its end is missing")
            # rows that a page has lost have no checksum that could fail
            wrong = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if wrong != "ok":
                raise damaged(self.path, " ".join(str(wrong).split())[:200])
            self._n_events = self._connection.execute("SELECT count(*) FROM events").fetchone()[0]
        if self._lock is not None:
            with self._failures("write"):
                check_single(self.path)
                prepare_to_write(self._connection)

    def _check_version(self, objects: Sequence[tuple[str, str]]) -> None:
        """Raise StorageError unless the file has the table of a record alone, and its first event is of this version."""
        if ("table", "events") not in objects:
            with self._failures("read"):
                raise written_by_0_2_0(self._connection, self.path) or self._no_record()
        if columns_of(self._connection, "events") != known_columns():
            raise damaged(self.path, "its table 'events' differs from the one that spotsvm creates; use an unchanged copy")
        for kind, name in objects:
            if (kind, name) != ("table", "events"):
                what = printable_line(f"{kind} {name!r}", 80)
                raise damaged(self.path, f"spotsvm did not create its {what}; remove it, or use an unchanged copy")
        first = self._rows(f"{ROWS} WHERE position = 0")
        event = self._event(0, first[0]) if first else None
        entries = event.entries if isinstance(event, Described) else {}
        if entries.get("format") != FORMAT:
            raise self._no_record()
        version = entries.get("schema_version")
        if version != SCHEMA_VERSION or isinstance(version, bool):
            raise of_other_version(self.path, version)

    def _no_record(self) -> StorageError:
        return StorageError(f"{self.path} is not a record of spotsvm; name another file")

    def _rows(self, query: str) -> list[Any]:
        with self._failures("read"):
            assert self._guard is not None
            return self._guard.rows(self._connection.execute(query))

    def _failures(self, doing: str) -> AbstractContextManager[None]:
        if self._guard is not None:
            self._guard.begin()
        return storage_failures(self.path, doing, readable)

    def _check_writable(self) -> None:
        """Raise StorageError if the record is closed, was opened by another process, or its file was replaced."""
        if self._closed:
            raise StorageError(f"{self.path}: the record is closed; create the study again with the same arguments to resume it")
        if self._lock is not None:
            self._lock.check()
        if self._file is not None and (now := _device_and_number(self.path)) != self._file:
            what = "is not there any more" if now is None else "was replaced by another file"
            raise StorageError(
                f"{self.path}: the record {what}; the trials are still in memory: save them with to_csv, or put the file back"
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write everything in the block to disk when the block ends, or nothing if it fails."""
        self._check_writable()
        with self._turn, self._failures("write"):
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # a closed connection cannot be queried
                if not self._closed and self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def append(self, events: Sequence[Event]) -> None:
        """Write events to disk, all or none; a finding also to a record that was closed."""
        if self._closed and all(isinstance(event, Noted) for event in events):
            if not self.path.is_file():
                raise StorageError(f"{self.path}: the record is not there any more")
            with closing(Record(self.path)) as again:
                again.append(events)
            return
        with self._turn:
            with self._transaction():
                for position, event in enumerate(events, self._n_events):
                    insert(self._connection, position, event)
            self._n_events += len(events)

    def events(self) -> list[Event]:
        """Return all events in order; StorageError if one is missing or was changed."""
        rows = self._rows(f"{ROWS} ORDER BY position")
        return [self._event(position, row) for position, row in enumerate(rows)]

    def _event(self, position: int, row: tuple[Any, ...]) -> Event:
        if row[0] != position:
            raise damaged(self.path, f"its event {position} is missing")
        try:
            return event_of(row)
        except RowError as error:
            of_trial = f" (trial {row[2]})" if isinstance(row[2], int) else ""
            raise damaged(self.path, f"its event {position}{of_trial}: {error}") from error

    def ledger(self) -> Ledger:
        """Return the ledger that follows from the events, in memory; StorageError if it does not."""
        try:
            ledger = Ledger(self.events())
        except EventError as error:
            raise damaged(self.path, f"the order of its events is lost: {error}") from error
        ledger.path = self.path
        return ledger

    def close(self) -> None:
        """Close the file, and let others write to it."""
        if self._closed:
            return
        self._closed = True
        if self._pid != os.getpid():
            return  # the connection is the parent's
        try:
            self._connection.close()
            self._afterwards()
        finally:
            if self._lock is not None:
                self._lock.release()


def read_ledger(path: str | Path) -> Ledger:
    """Return the ledger of a record, which is only read."""
    with closing(Record(path, read_only=True)) as record:
        return record.ledger()


def _device_and_number(path: Path) -> tuple[int, int] | None:
    """Return device and inode number, which identify a file under any name; None if there is no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


#: seconds after which reading or writing is ended
MOST_SECONDS = 8.0
_MOST_OBJECTS = 32


class RecordGuard:
    """Limits of a connection to a record, set before its first query: no code from its schema is run, and each query ends."""

    def __init__(self, connection: sqlite3.Connection, path: Path):
        self._connection, self._path = connection, path
        self.begin()
        limit(connection, self._is_late)

    def begin(self) -> None:
        """Restart the clock for the next query."""
        self._ends = time.monotonic() + MOST_SECONDS

    def _is_late(self) -> bool:
        return time.monotonic() > self._ends

    def rows(self, cursor: Iterable[Any]) -> list[Any]:
        """Return all rows of a query; raise StorageError if they are larger than the file allows, or take too long."""
        files = (self._path, log_of(self._path))
        left = 4 * sum(file.stat().st_size for file in files if file.is_file()) + 1_000_000
        found = []
        for row in cursor:
            left -= 16 + sum(len(cell) for cell in row if isinstance(cell, str | bytes))
            if left < 0:
                raise StorageError(f"{self._path} is damaged: its tables return more data than the file can hold")
            if self._is_late():
                raise StorageError(f"{self._path} is damaged: reading it takes more than {MOST_SECONDS:g} s")
            found.append(row)
        return found

    def objects(self) -> list[tuple[str, str]]:
        """Return kind and name of what the file holds; without the indexes and statistics of SQLite itself."""
        found = self._connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4') "
            "AND NOT (type = 'index' AND sql IS NULL) LIMIT ?",
            (_MOST_OBJECTS,),
        )
        return [(kind if kind != "table" or _is_plain(str(sql)) else "table with code", name) for kind, name, sql in found]


def _is_plain(sql: str) -> bool:
    """Return whether a table's SQL names no module of SQLite, and no CHECK."""
    return sql.startswith("CREATE TABLE ") and not re.search(r"\bCHECK\b", sql, re.IGNORECASE)

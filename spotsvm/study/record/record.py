"""The record of a study: one SQLite file, in which each trial asked for and each value told is a transaction."""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from spotsvm.common.text import checked_path, printable_line
from spotsvm.errors import StorageError
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
from spotsvm.study.record.rows import (
    COLUMNS,
    STATE_CHECK,
    UNLIKE,
    RowError,
    about_rows,
    asked_row,
    brief_repr,
    check_row,
    check_version,
    checksum,
    columns_of,
    create,
    from_json,
    known_columns,
    outcome_json,
    outcome_of_json,
    table_names,
    told_row,
    trial_of,
)
from spotsvm.study.record.salvage import damaged, readable
from spotsvm.trials.ledger import Event, Ledger
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import Trial

Read = TypeVar("Read")
_FINDING = "finding: "


class Record:
    """The SQLite file of one study.

    `asked` and `told` number the events of a study in one sequence, so that a search can be told the same things in the
    same order again. Nothing in the file is pickled or executed: numbers, names and JSON only. Each row has a checksum, so that
    changes on disk are reported rather than read.

    One process writes, and one object in it (`WriterLock`); any number read, and neither side waits for the other. A record that
    is only read needs nothing written beside it. It may be used by several threads, of which one writes at a time, but not by a
    process forked from the one that opened it.

    The file is created, with its folder, unless `read_only`. ArgumentError is raised if `path` is not a path, StorageError if the
    file cannot be opened, is not a record, or has another schema version; or if another process, which it names, is writing to
    it. For a damaged record the error says how many trials can be read, and how.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False):
        # the program may change its working directory later
        self.path = checked_path(path) if read_only else checked_path(path).absolute()
        self._closed = False
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
        """Create or check the tables; `lone` is whether the write-ahead log was missing when the file was opened."""
        with self._failures("read"):
            tables = table_names(self._connection)
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
        empty = not self.path.stat().st_size or pages > 0  # else the file is so short that SQLite treats it as empty
        if not tables and empty and self._lock is not None:
            if lone:
                warnings.warn(f"{why_lone(self.path)}. The study starts from the beginning", stacklevel=5)
            with self._failures("write"):
                prepare_to_write(self._connection)
            with self.transaction():
                create(self._connection)
            return
        if not tables and self._lock is None:
            raise StorageError(why_empty(self.path))
        if not {"about", "trials"} <= tables:
            raise StorageError(f"{self.path} is not a record of spotsvm; name another file")
        assert self._guard is not None
        with self._failures("read"):
            self._guard.check_about()
        check_version(self.about(), self.path)
        with self._failures("read"):
            if is_cut(self._connection, self.path):
                raise damaged(self.path, "its end is missing")
            self._guard.check_tables()
            # rows that a page has lost have no checksum that could fail
            wrong = self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if wrong != "ok":
            raise damaged(self.path, " ".join(str(wrong).split())[:200])
        if self._lock is not None:
            with self._failures("write"):
                check_single(self.path)
                prepare_to_write(self._connection)

    def _rows(self, query: str) -> list[Any]:
        with self._failures("read"):
            assert self._guard is not None
            return self._guard.rows(self._connection.execute(query))

    def _execute(self, statements: Iterable[tuple[str, Sequence[Any]]]) -> None:
        for statement, values in statements:
            self._connection.execute(statement, values)

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
    def transaction(self) -> Iterator[None]:
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

    @contextmanager
    def moment(self) -> Iterator[None]:
        """Read one consistent state inside the block, whatever is written meanwhile."""
        with self._failures("read"):
            self._connection.execute("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def about(self) -> dict[str, Any]:
        """Return the description of the study; empty for a new record."""
        rows = self._rows("SELECT * FROM about")
        for key, value, known in rows:
            if known != checksum(key, value):
                raise damaged(self.path, f"its entry {brief_repr(key)}: {UNLIKE}")
        try:
            return {str(key): from_json(value) for key, value, *_ in rows}
        except RowError as error:
            raise damaged(self.path, str(error)) from error

    def describe(self, about: Mapping[str, Any]) -> None:
        """Write entries of the description of the study."""
        with self.transaction():
            self._execute(about_rows(about))

    def move(self, about: Mapping[str, Any], trials: Sequence[Trial], outcomes: Mapping[int, Outcome]) -> None:
        """Write entries of the description, and the points of all trials and outcomes in a wider space."""
        asked = dict(self._rows("SELECT number, asked FROM trials"))
        stored = {t.number: t for t in self.trials()}  # their parameters are as they were written
        with self.transaction():
            self._execute(about_rows(about))
            for trial in trials:
                row = asked_row(replace(stored[trial.number], point=trial.point), asked[trial.number])
                self._connection.execute(
                    "UPDATE trials SET point = ?, params = ?, asked_checksum = ? WHERE number = ?",
                    (row["point"], row["params"], row["asked_checksum"], trial.number),
                )
            for number, outcome in outcomes.items():
                self._insert_outcome(number, outcome)

    def findings(self) -> dict[str, dict[str, Any]]:
        """Return the findings of the study by name."""
        found = {key.removeprefix(_FINDING): value for key, value in self.about().items() if key.startswith(_FINDING)}
        for name, value in found.items():
            if not isinstance(value, dict):
                raise damaged(self.path, f"the finding {name!r} is not a JSON object")
        return found

    def write_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Write a finding, in place of an earlier one of that name; a record that was closed is opened for it."""
        if self._closed:
            if not self.path.is_file():
                raise StorageError(f"{self.path}: the record is not there any more")
            with closing(Record(self.path)) as again:
                again.write_finding(name, finding)
            return
        with self.transaction():
            self._execute(about_rows({f"{_FINDING}{name}": finding}))

    def write_asked(self, trial: Trial, sequence: int, search_state: Mapping[str, Any]) -> None:
        """Write a trial that was just asked for, and the state of the search after it."""
        with self.transaction():
            self._insert(asked_row(trial, sequence))
            if search_state:
                self._execute(about_rows({"search_state": search_state}))

    def write_told(self, trial: Trial, sequence: int, sweep: Sequence[Trial] = ()) -> None:
        """Write the end of a running trial with the further values in its sweep; delete its outcome that waited to be told."""
        with self.transaction():
            row = told_row(trial, sequence)
            if trial.sweep is not None:  # its parameters have the best value in the sweep only now
                (asked,) = self._connection.execute("SELECT asked FROM trials WHERE number = ?", (trial.number,)).fetchone()
                row = asked_row(trial, asked) | row
            self._update_running(trial.number, row)
            for further in sweep:
                self._insert(asked_row(further, None) | told_row(further, None))
            self._connection.execute("DELETE FROM outcomes WHERE number = ?", (trial.number,))

    def write_added(self, trial: Trial, sequence: int, search_state: Mapping[str, Any], sweep: Sequence[Trial] = ()) -> None:
        """Write a trial that was evaluated elsewhere, as asked for and told at once, with the further values in its sweep."""
        with self.transaction():
            self._insert(asked_row(trial, sequence) | told_row(trial, sequence + 1))
            for further in sweep:
                self._insert(asked_row(further, None) | told_row(further, None))
            if search_state:
                self._execute(about_rows({"search_state": search_state}))

    def write_lost(self, trial: Trial) -> None:
        """Write the reasons of all attempts at a running trial whose worker died, in place of those written before."""
        with self.transaction():
            self._update_running(trial.number, told_row(trial, None))

    def write_outcome(self, number: int, outcome: Outcome) -> None:
        """Write the outcome of a running trial that cannot be told yet, because an earlier one is still running."""
        with self.transaction():
            self._insert_outcome(number, outcome)

    def _insert_outcome(self, number: int, outcome: Outcome) -> None:
        text = outcome_json(outcome)
        self._connection.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", (number, text, checksum(number, text)))

    def outcomes(self) -> dict[int, Outcome]:
        """Return the outcomes that wait to be told, by trial number; of an error only the `reason`."""
        rows = self._rows("SELECT number, outcome, checksum, state FROM outcomes LEFT JOIN trials USING (number) ORDER BY number")
        for number, text, known, _ in rows:
            if known != checksum(number, text):
                raise damaged(self.path, f"the outcome of trial {number}: {UNLIKE}")
        return {
            number: self._read(outcome_of_json, text, f"the outcome of trial {number}")
            for number, text, _, state in rows
            if state == "running"
        }

    def _insert(self, row: Mapping[str, Any]) -> None:
        self._connection.execute(
            f"INSERT INTO trials ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values())
        )

    def _update_running(self, number: int, row: Mapping[str, Any]) -> None:
        changed = self._connection.execute(
            f"UPDATE trials SET {', '.join(f'{name} = ?' for name in row)} WHERE number = ? AND state = 'running'",
            (*row.values(), number),
        ).rowcount
        if changed != 1:
            raise StorageError(f"{self.path}: trial {number} is not running in the record; is another process writing to it?")

    def events(self) -> list[tuple[int, str, int]]:
        """Return the events in order: (sequence, "asked" or "told", number of the trial), without further values in sweeps."""
        rows = self._rows("SELECT number, asked, told FROM trials")
        out = [(asked, "asked", number) for number, asked, _ in rows if asked is not None]
        out += [(told, "told", number) for number, _, told in rows if told is not None]
        if not all(isinstance(sequence, int) for sequence, _, _ in out):
            raise damaged(self.path, "the order of its trials is lost")
        return sorted(out)

    def has_trials(self) -> bool:
        """Return whether the record describes a study, and has a trial of it."""
        return bool(self._rows("SELECT 1 FROM trials LIMIT 1")) and "space" in self.about()

    def trials(self) -> list[Trial]:
        """Return all trials by number."""
        names = [*COLUMNS, "asked", "told", "asked_checksum", "told_checksum"]
        rows = self._rows(f"SELECT {', '.join(names)} FROM trials ORDER BY number")
        for row in rows:
            self._read(check_row, dict(zip(names, row, strict=True)), f"trial {row[0]} cannot be read")
        trials = [self._read(trial_of, row[: len(COLUMNS)], f"trial {row[0]} cannot be read") for row in rows]
        if [t.number for t in trials] != list(range(len(trials))):
            raise damaged(self.path, "trials are missing from it")
        return trials

    def _read(self, reading: Callable[[Any], Read], stored: Any, what: str) -> Read:
        try:
            return reading(stored)
        except RowError as error:
            raise damaged(self.path, f"{what}: {error}") from error

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


class LedgerInRecord(Ledger):
    """A ledger whose changes are written to a record before they take effect; see `Ledger`."""

    def __init__(
        self,
        record: Record,
        about: Mapping[str, Any],
        trials: Iterable[Trial] = (),
        events: Iterable[Event] = (),
        findings: Mapping[str, Mapping[str, Any]] | None = None,
        outcomes: Mapping[int, Outcome] | None = None,
    ):
        super().__init__(about, trials, events, findings, outcomes)
        self.record, self.path = record, record.path

    def describe(self, entries: Mapping[str, Any]) -> None:
        """Add entries to the description of the study."""
        self.record.describe(entries)
        super().describe(entries)

    def add_finding(self, name: str, finding: Mapping[str, Any]) -> None:
        """Add a finding, in place of an earlier one of that name."""
        self.record.write_finding(name, finding)
        super().add_finding(name, finding)

    def add_asked(self, trial: Trial, search_state: Mapping[str, Any]) -> None:
        """Add a trial that was asked for, and the state of the search after it."""
        self.record.write_asked(trial, len(self.events), search_state)
        super().add_asked(trial, search_state)

    def add_told(self, trial: Trial, further: Sequence[Trial] = ()) -> None:
        """Replace a running trial by the finished one, and add trials for the further values in its sweep."""
        self.record.write_told(trial, len(self.events), further)
        super().add_told(trial, further)

    def add_given(self, trial: Trial, search_state: Mapping[str, Any], further: Sequence[Trial] = ()) -> None:
        """Add a trial that was evaluated elsewhere, asked for and told at once."""
        self.record.write_added(trial, len(self.events), search_state, further)
        super().add_given(trial, search_state, further)

    def add_lost(self, trial: Trial) -> None:
        """Replace a running trial by one with a further reason in `lost`."""
        self.record.write_lost(trial)
        super().add_lost(trial)

    def hold(self, number: int, outcome: Outcome) -> None:
        """Keep the outcome of a running trial until it can be told."""
        self.record.write_outcome(number, outcome)
        super().hold(number, outcome)

    def close(self) -> None:
        """Close the record, and let others write to it."""
        self.record.close()


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

    def check_about(self) -> None:
        """Raise StorageError unless the table that says what the record is can be read without harm."""
        if ("table", "about") not in self._objects() or columns_of(self._connection, "about") != known_columns()["about"]:
            raise StorageError(
                f"{self._path} is not a record of spotsvm, or was changed: spotsvm did not create its table 'about'"
            )

    def check_tables(self) -> None:
        """Raise StorageError unless the file has the tables of a record, and nothing beside them."""
        known = known_columns()
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
    """Return whether a table's SQL names no module of SQLite, and no CHECK but that of spotsvm."""
    return sql.startswith("CREATE TABLE ") and not re.search(r"\bCHECK\b", sql.replace(STATE_CHECK, ""), re.IGNORECASE)

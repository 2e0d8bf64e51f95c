"""The record of a study: one SQLite file, to which every asked and every told trial is a transaction of its own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from spotsvm.errors import StorageError
from spotsvm.trial import State, Trial

FORMAT = "spotsvm study"
#: version 2 has the column `objectives`: the values of a trial with several objectives, as JSON
SCHEMA_VERSION = 2

_SCHEMA = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    asked INTEGER NOT NULL UNIQUE,
    told INTEGER UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('running', 'ok', 'failed', 'timeout')),
    point TEXT NOT NULL,
    params TEXT NOT NULL,
    value REAL,
    extra TEXT NOT NULL DEFAULT '{}',
    reason TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    seed INTEGER NOT NULL,
    ask_seconds REAL,
    seconds REAL,
    objectives TEXT
);
"""

_FINDING = "finding: "

#: what makes a record of a version one of the next
_UPGRADES = {1: "ALTER TABLE trials ADD COLUMN objectives TEXT"}


class Record:
    """The SQLite file of one study.

    `asked` and `told` number the events of a study in one sequence, so that a search can be told the same things in the
    same order again. Nothing in the file is pickled or executed: numbers, names and JSON only. A record of an earlier version
    is read as it is, and made one of this version, in one transaction, when it is opened for writing.

    Parameters
    ----------
    path : path-like
        The file; made, with its folder, if it is not there.
    read_only : bool, default=False
        Whether nothing is to be written.

    Raises
    ------
    StorageError
        If the file cannot be opened, or is no record, or one of a later version.
    """

    def __init__(self, path: str | Path, *, read_only: bool = False):
        self.path = Path(path)
        self._read_only = read_only
        self._closed = False
        if read_only and not self.path.is_file():
            raise StorageError(f"{self.path}: there is no such record")
        with self._failures("open"):
            if not read_only:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            address = f"{self.path.resolve().as_uri()}?mode={'ro' if read_only else 'rwc'}"
            self._connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=5.0)
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with self._failures("read"):
            tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables and not self._read_only:
            self._create()
            return
        if not {"about", "trials"} <= tables:
            raise StorageError(f"{self.path} is not a record of spotsvm; name another file")
        about = self.about()
        if about.get("format") != FORMAT:
            raise StorageError(f"{self.path} is not a record of spotsvm; name another file")
        self._version = self._checked_version(about)
        if not self._read_only:
            self._set_pragmas()
            if self._version < SCHEMA_VERSION:
                self._upgrade()

    def _checked_version(self, about: Mapping[str, Any]) -> int:
        version = about.get("schema_version")
        if not isinstance(version, int) or not 1 <= version <= SCHEMA_VERSION:
            raise StorageError(
                f"{self.path} has schema version {version!r}; this spotsvm reads up to version {SCHEMA_VERSION}. "
                "Use the version of spotsvm that wrote it"
            )
        return version

    def _upgrade(self) -> None:
        """Make a record of an earlier version one of this version: all of it, or none if the process dies meanwhile."""
        with self.transaction():
            # only now no other process can be at it
            for version in range(self._checked_version(self.about()), SCHEMA_VERSION):
                self._connection.execute(_UPGRADES[version])
            self._write_about({"schema_version": SCHEMA_VERSION})
        self._version = SCHEMA_VERSION

    def _create(self) -> None:
        self._version = SCHEMA_VERSION
        self._set_pragmas()
        with self.transaction():
            for statement in _SCHEMA.split(";"):
                if statement.strip():
                    self._connection.execute(statement)
            self._write_about({"format": FORMAT, "schema_version": SCHEMA_VERSION})

    def _set_pragmas(self) -> None:
        with self._failures("write"):
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")

    @contextmanager
    def _failures(self, doing: str) -> Iterator[None]:
        """Turn what the file system and SQLite raise into one clear line."""
        try:
            yield
        except (sqlite3.OperationalError, sqlite3.ProgrammingError) as error:
            raise StorageError(f"{self.path}: cannot {doing} the record: {_line(error)}") from error
        except sqlite3.IntegrityError as error:
            raise StorageError(
                f"{self.path}: another process has written to the record meanwhile ({_line(error)}); open the study again"
            ) from error
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:  # also the text of a sqlite3 error may be garbage
            raise StorageError(f"{self.path} is damaged, or not a record of spotsvm: {_line(error)}") from error
        except OSError as error:
            raise StorageError(f"{self.path}: cannot {doing} the record: {error.strerror or error}") from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing: what is written inside is on disk when the block is left, or not written at all."""
        with self._failures("write"):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def about(self) -> dict[str, Any]:
        """Give what the record says of its study; empty entries for a new one."""
        with self._failures("read"):
            rows = self._connection.execute("SELECT key, value FROM about").fetchall()
        return {str(key): _from_json(value, self.path) for key, value in rows}

    def describe(self, about: Mapping[str, Any]) -> None:
        """Write what identifies the study, once."""
        with self.transaction():
            self._write_about(about)

    def findings(self) -> dict[str, dict[str, Any]]:
        """Give what was found out about the study, by name."""
        found = {key.removeprefix(_FINDING): value for key, value in self.about().items() if key.startswith(_FINDING)}
        for name, value in found.items():
            if not isinstance(value, dict):
                raise StorageError(f"{self.path} is damaged: the finding {name!r} is no JSON object")
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
            self._write_about({f"{_FINDING}{name}": finding})

    def _write_about(self, about: Mapping[str, Any]) -> None:
        rows = [(key, json.dumps(value)) for key, value in about.items()]
        self._connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", rows)

    def write_asked(self, trial: Trial, sequence: int, search_state: Mapping[str, Any]) -> None:
        """Write a trial that was just asked for, and what the search then remembers."""
        row = (trial.number, sequence, trial.state, json.dumps(trial.point), _params_json(trial.params), trial.origin)
        with self.transaction():
            self._connection.execute(
                "INSERT INTO trials (number, asked, state, point, params, origin, note, seed, ask_seconds)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, trial.note, trial.seed, trial.ask_seconds),
            )
            if search_state:
                self._write_about({"search_state": search_state})

    def write_told(self, trial: Trial, sequence: int) -> None:
        """Write how a running trial ended."""
        several = None if trial.values is None or trial.value is not None else json.dumps(trial.values)
        row = (sequence, trial.state, trial.value, json.dumps(dict(trial.extra)), trial.reason, trial.seconds, several)
        with self.transaction():
            changed = self._connection.execute(
                "UPDATE trials SET told = ?, state = ?, value = ?, extra = ?, reason = ?, seconds = ?, objectives = ?"
                " WHERE number = ? AND state = 'running'",
                (*row, trial.number),
            ).rowcount
        if changed != 1:
            raise StorageError(
                f"{self.path}: trial {trial.number} is not running in the record; is another process writing to it?"
            )

    def events(self) -> list[tuple[int, str, int]]:
        """Give what happened, in order: (sequence, "asked" or "told", number of the trial)."""
        with self._failures("read"):
            rows = self._connection.execute("SELECT number, asked, told FROM trials").fetchall()
        out = [(asked, "asked", number) for number, asked, _ in rows]
        out += [(told, "told", number) for number, _, told in rows if told is not None]
        if not all(isinstance(sequence, int) for sequence, _, _ in out):
            raise StorageError(f"{self.path} is damaged: the order of its trials is lost")
        return sorted(out)

    def trials(self) -> list[Trial]:
        """Give all trials by number."""
        several = "objectives" if self._version >= 2 else "NULL"
        with self._failures("read"):
            rows = self._connection.execute(
                f"SELECT number, params, point, state, value, extra, reason, origin, note, seed, ask_seconds, seconds, {several}"
                " FROM trials ORDER BY number"
            ).fetchall()
        trials = [self._trial_of(row) for row in rows]
        if [t.number for t in trials] != list(range(len(trials))):
            raise StorageError(f"{self.path} is damaged: trials are missing from it")
        return trials

    def _trial_of(self, row: tuple[Any, ...]) -> Trial:
        number, params, point, state, value, extra, reason, origin, note, seed, ask_seconds, seconds, several = row
        try:
            return Trial(
                number,
                dict(_from_json(params, self.path)),
                tuple(float(u) for u in _from_json(point, self.path)),
                cast("State", state),
                None if value is None else float(value),
                {str(name): float(x) for name, x in dict(_from_json(extra, self.path)).items()},
                reason,
                origin,
                note,
                seed,
                ask_seconds,
                seconds,
                None if several is None else tuple(float(x) for x in _from_json(several, self.path)),
            )
        except StorageError:
            raise
        except (TypeError, ValueError) as error:
            raise StorageError(f"{self.path} is damaged: trial {number} cannot be read: {_line(error)}") from error

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self._connection.close()


def _params_json(params: Mapping[str, Any]) -> str:
    """Write parameters for people and programs that read the file; what JSON lacks, such as an estimator, as its text."""
    return json.dumps({name: value if _is_json(value) else repr(value) for name, value in params.items()})


def _is_json(value: Any) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def _from_json(text: str, path: Path) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError) as error:
        shown = repr(text) if len(repr(text)) <= 80 else repr(text)[:77] + "..."
        raise StorageError(f"{path} is damaged: it holds {shown} where JSON is due") from error


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]

"""The tables of a record, and trials and outcomes as their rows: numbers, names and JSON, nothing that is pickled or executed."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from spotsvm.common.json_values import read_json
from spotsvm.errors import StorageError
from spotsvm.trials.outcome import Fault, Outcome, as_float
from spotsvm.trials.trial import FINISHED, State, Trial

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
    steps TEXT,
    error_type TEXT NOT NULL DEFAULT ''
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
    """Return SQLite's description of each column of a table: name, type, not null, default, index in the key, whether hidden."""
    return tuple(tuple(row[1:]) for row in connection.execute(f"PRAGMA table_xinfo({table})"))


@cache
def known_columns() -> dict[str, tuple[tuple[Any, ...], ...]]:
    """Return the result of `columns_of` for each table of a record."""
    with closing(sqlite3.connect(":memory:")) as connection:
        create(connection)
        return {table: columns_of(connection, table) for table in sorted(table_names(connection))}


def trial_columns() -> tuple[str, ...]:
    """Return the columns of `trials`."""
    return tuple(name for name, *_ in known_columns()["trials"])


T = TypeVar("T")

#: the columns of `trials` written when a trial is asked for, and when it is told; each group has a checksum
ASKED = (
    "number", "asked", "point", "params", "origin", "note", "seed", "ask_seconds", "fit_seconds", "acquisition_seconds",
    "asked_at",
)  # fmt: skip

TOLD = (
    "number", "told", "state", "value", "extra", "reason", "seconds", "objectives", "lost", "told_at", "sweep", "traceback",
    "attributes", "steps", "error_type",
)  # fmt: skip

#: the error of a row that was changed after it was written
UNLIKE = "its checksum does not match its content"


class RowError(ValueError):
    """A row has content that spotsvm did not write."""


def asked_row(trial: Trial, sequence: int | None) -> dict[str, Any]:
    """Return the cells of a trial that was asked for, by column; with None as `sequence` for a further value in a sweep."""
    row = {
        "number": trial.number, "asked": sequence,
        # eight bytes a number: as text it would take twenty, and the same numbers are in `params` for people
        "point": np.asarray(trial.point, dtype="<f8").tobytes(),
        "params": _compact({name: value if _is_json(value) else _text_of(value) for name, value in trial.params.items()}),
        "origin": trial.origin, "note": trial.note, "seed": trial.seed, "ask_seconds": _real(trial.ask_seconds),
        "fit_seconds": _real(trial.fit_seconds), "acquisition_seconds": _real(trial.acquisition_seconds),
        "asked_at": _real(trial.asked_at),
    }  # fmt: skip
    return row | {"asked_checksum": _checksum(row, ASKED)} | told_row(trial, None)


def told_row(trial: Trial, sequence: int | None) -> dict[str, Any]:
    """Return the cells written when a trial ends, by column; `sequence` is None for a running trial and a further value."""
    several = None if trial.values is None or trial.value is not None else json.dumps(trial.values)
    row = {
        "told": sequence, "state": trial.state, "value": _real(trial.value), "extra": _compact(dict(trial.extra)),
        "reason": trial.reason, "seconds": _real(trial.seconds), "objectives": several, "lost": json.dumps(trial.lost),
        "told_at": _real(trial.told_at), "sweep": trial.sweep, "traceback": trial.traceback or None,
        "attributes": _compact(dict(trial.attributes)) if trial.attributes else None,
        "steps": _compact(trial.steps) if trial.steps else None, "error_type": trial.error_type,
    }  # fmt: skip
    # without the number itself, which SQLite would take for another one that the row is to have
    return row | {"told_checksum": _checksum({"number": trial.number, **row}, TOLD)}


def check_row(row: Mapping[str, Any]) -> None:
    """Raise RowError if a checksum of a row of `trials` does not match its cells."""
    for name, columns in (("asked_checksum", ASKED), ("told_checksum", TOLD)):
        if row[name] != _checksum(row, columns):
            raise RowError(UNLIKE)


def _checksum(row: Mapping[str, Any], columns: Sequence[str]) -> int:
    return checksum(*(row[name] for name in columns))


def outcome_json(outcome: Outcome) -> str:
    """Return an outcome as JSON; of its error only the `reason`."""
    sweep = [[value, _outcome_cells(one)] for value, one in outcome.sweep]
    return json.dumps(_outcome_cells(outcome) | ({"sweep": sweep} if sweep else {}))


def _outcome_cells(outcome: Outcome) -> dict[str, Any]:
    cells = {
        "state": outcome.state, "value": outcome.value, "extra": dict(outcome.extra), "reason": outcome.reason,
        "seconds": outcome.seconds, "values": outcome.values,
        "lost": outcome.lost,
    }  # fmt: skip
    late = {
        "traceback": outcome.traceback,
        "attributes": dict(outcome.attributes),
        "named": dict(outcome.named),
        "fault": outcome.fault,
        "steps": outcome.steps,
        "error_type": outcome.error_type,
    }
    return cells | {name: cell for name, cell in late.items() if cell}


def outcome_of_json(text: Any) -> Outcome:
    """Return the outcome that `outcome_json` wrote, or raise RowError."""
    read = _of(dict, from_json(text), "outcome")
    sweep = []
    for pair in _of(list, read.get("sweep", []), "sweep"):
        if len(_of(list, pair, "sweep")) != 2:
            raise RowError(f"its sweep is {brief_repr(pair)}")
        value, one = pair
        number = value if isinstance(value, int) else _required(value, "sweep")
        sweep.append((number, _outcome_of_cells(_of(dict, one, "sweep"))))
    return replace(_outcome_of_cells(read), sweep=tuple(sweep))


def _outcome_of_cells(read: dict[str, Any]) -> Outcome:
    if read.get("state") not in FINISHED:
        raise RowError(f"its state is {brief_repr(read.get('state'))}")
    values = read.get("values")
    return Outcome(
        read["state"], _number(read.get("value"), "value"), _numbers(read.get("extra", {}), "extra"),
        _text(read.get("reason", ""), "reason"), _number(read.get("seconds"), "seconds"),
        None if values is None else _row_of_numbers(values, "values"), _text(read.get("traceback", ""), "traceback"),
        _of(dict, read.get("attributes", {}), "attributes"), _steps(read.get("steps", []), "steps"),
        _text(read.get("error_type", ""), "error_type"), lost=read.get("lost") is True,
        named=_numbers(read.get("named", {}), "named"), fault=cast("Fault", _text(read.get("fault", ""), "fault")),
    )  # fmt: skip


def from_json(text: Any) -> Any:
    """Return the content of a cell with JSON text; raise RowError if `read_json` refuses it."""
    try:
        return read_json(text)
    except (TypeError, ValueError):
        raise RowError(f"it holds {brief_repr(text)}, which is not JSON") from None


def brief_repr(value: Any) -> str:
    """Return the text of a value for an error message, in at most 80 characters."""
    if isinstance(value, dict | list):  # of which the whole text may be long
        return f"a {'mapping' if isinstance(value, dict) else 'list'} of {len(value)}"
    text = repr(value[:80]) if isinstance(value, str | bytes) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _text_of(value: Any) -> str:
    """Return a value without a JSON type, such as an estimator, as text for people and programs that read the file."""
    from spotsvm.common.fingerprint import as_text  # on use: most values are numbers and texts

    return as_text(value)


def _real(value: float | None) -> float | None:
    """Return a number for SQLite, which has no nan and stores a numpy number as bytes."""
    return None if value is None or math.isnan(value) else float(value)


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _is_json(value: Any) -> bool:
    if isinstance(value, float | str | None):
        return True
    try:
        read_json(json.dumps(value))
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _of(kind: type[T], value: Any, what: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise RowError(f"its {what} is {brief_repr(value)}")
    return value


def _whole(value: Any, what: str) -> int:
    return _of(int, value, what)


def _text(value: Any, what: str) -> str:
    return _of(str, value, what)


def _number(value: Any, what: str) -> float | None:
    return value if value is None or isinstance(value, float) else as_float(_of(int, value, what))


def _required(value: Any, what: str) -> float:
    if (number := _number(value, what)) is None:
        raise RowError(f"its {what} is not a number")
    return number


def _row_of_numbers(read: Any, what: str) -> tuple[float, ...]:
    return tuple(_required(number, what) for number in _of(list, read, what))


def _steps(read: Any, what: str) -> tuple[tuple[float, float], ...]:
    """Return reported steps with their values; raise RowError unless they are finite numbers, and each step above the last."""
    rows = [_row_of_numbers(row, what) for row in _of(list, read, what)]
    steps = tuple((row[0], row[1]) for row in rows if len(row) == 2 and all(map(math.isfinite, row)))
    if len(steps) < len(rows) or any(later <= step for (step, _), (later, _) in zip(steps, steps[1:], strict=False)):
        raise RowError(f"its {what} are not finite numbers with a value each, in ascending order")
    return steps


def _numbers(read: Any, what: str) -> dict[str, float]:
    return {name: _required(number, what) for name, number in _of(dict, read, what).items()}


def _point(stored: Any, what: str) -> tuple[float, ...]:
    if not isinstance(stored, bytes):
        raise RowError(f"its {what} is {brief_repr(stored)}")
    if len(stored) % 8:
        raise RowError(f"its point has {len(stored)} bytes, not eight a number")
    return tuple(np.frombuffer(stored, dtype="<f8").tolist())


def _state(value: Any, what: str) -> State:
    if value != "running" and value not in FINISHED:
        raise RowError(f"its state is {brief_repr(value)}")
    return cast("State", value)


#: the reader of each cell of a Trial, by column, in the order of its fields
_READERS: dict[str, Callable[[Any, str], Any]] = {
    "number": _whole,
    "params": lambda text, what: _of(dict, from_json(text), what),
    "point": _point,
    "state": _state,
    "value": _number,
    "extra": lambda text, what: _numbers(from_json(text), what),
    "reason": _text,
    "origin": _text,
    "note": _text,
    "seed": _whole,
    "ask_seconds": _number,
    "seconds": _number,
    "objectives": lambda text, what: None if text is None else _row_of_numbers(from_json(text), what),
    "fit_seconds": _number,
    "acquisition_seconds": _number,
    "lost": lambda text, what: tuple(_text(one, what) for one in _of(list, from_json(text), what)),
    "asked_at": _number,
    "told_at": _number,
    "sweep": lambda cell, what: None if cell is None else _whole(cell, what),
    "traceback": lambda cell, what: "" if cell is None else _text(cell, what),
    "attributes": lambda cell, what: {} if cell is None else _of(dict, from_json(cell), what),
    "steps": lambda cell, what: () if cell is None else _steps(from_json(cell), what),
    "error_type": _text,
}
COLUMNS = tuple(_READERS)


def trial_of(row: Sequence[Any]) -> Trial:
    """Return the trial of a row with `COLUMNS`; raise RowError, which names the fault, if it is not a trial."""
    cells = {name: read(cell, name) for (name, read), cell in zip(_READERS.items(), row, strict=True)}
    return Trial(**{"values" if name == "objectives" else name: cell for name, cell in cells.items()})


Cell = None | int | float | str | bytes


def checksum(*cells: Cell) -> int:
    """Return the checksum of some cells of a row: CRC-32, as an integer that takes four bytes.

    A number counts by its value, not by its type: SQLite keeps 3.0 as an integer, and 0.0 for -0.0.

    Examples
    --------
    >>> (
    ...     checksum(3, "rbf") == checksum(3.0, "rbf"),
    ...     checksum(3, "rbf") == checksum(3, "rbg"),
    ...     checksum(0.0) == checksum(-0.0),
    ... )
    (True, False, True)
    """
    plain = [float(cell) + 0.0 if isinstance(cell, int | float) else cell for cell in cells]
    # ascii, because the characters that repr escapes depend on the version of Python
    return zlib.crc32(ascii(plain).encode("ascii")) - 2**31

"""Recovery of the trials that can still be read from a damaged record."""

from __future__ import annotations

import shlex
import sqlite3
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.errors import StorageError
from spotsvm.study.record.codec import RowError
from spotsvm.study.record.opening import (
    check_kind,
    connect_to_copy,
    copy_of,
    is_written_here,
    limit,
    prepare_to_write,
    storage_failures,
)
from spotsvm.study.record.table import ROWS, create, event_of, written_by_0_2_0
from spotsvm.trials.events import Described, EventError, Widened, changed_trials
from spotsvm.trials.results import parameter_names, trial_table
from spotsvm.trials.trial import Trial

#: seconds after which reading ends
_SECONDS = 8.0
#: where the header of a file has its number of pages
_N_PAGES = 28
#: the fewest bytes that a trial takes in a file
_FEWEST_BYTES = 64


@dataclass(frozen=True)
class Salvaged:
    """The content that was read from a damaged record; `about` is the readable part of the description.

    `missing` are unreadable trials below the last readable one, and `changed` those whose rows do not match their checksums.
    `n_lost` counts unreadable rows before the last readable one: a trial that ended in one is still running here.
    """

    trials: tuple[Trial, ...]
    missing: tuple[int, ...]
    about: dict[str, Any] = field(default_factory=dict)
    changed: tuple[int, ...] = ()
    n_lost: int = 0

    def frame(self) -> pd.DataFrame:
        """Return the trials as a frame, a row a trial, with the columns of `trial_table`."""
        space = self.about.get("space")
        branches = [branch for branch in space if isinstance(branch, dict)] if isinstance(space, list) else []
        names = parameter_names(branches, self.trials)
        return trial_table(self.trials, names, _value_columns(self.about.get("direction"), self.trials))


def salvage(path: str | Path) -> Salvaged:
    """Read every readable trial of a damaged record: a file that is cut off, or overwritten in places.

    It works on a private copy, and leaves out trials that do not fit their checksums. A lost page takes its trials, and pages
    that only it points to; the first page is the same in all records, and is replaced.
    """
    path = Path(path)
    with storage_failures(path, "read"):
        if is_written_here(path):  # reading the file by itself would release SQLite's locks on it
            raise StorageError(f"{path} is open for writing in this process; close the study first")
        return _salvaged_copy(path)


def _salvaged_copy(path: Path) -> Salvaged:
    if not check_kind(path):
        raise StorageError(f"{path}: there is no such record")
    with tempfile.TemporaryDirectory(prefix="spotsvm-") as folder:
        copy = copy_of(path, Path(folder))
        first = _first_page(Path(folder))
        _fill_page(copy, len(first))
        found = _read(copy)
        if not found.about:
            with closing(connect_to_copy(copy)) as connection:
                ends = time.monotonic() + _SECONDS
                limit(connection, lambda: time.monotonic() > ends)
                if (error := written_by_0_2_0(connection, path)) is not None:
                    raise error
        if not found.trials and copy.stat().st_size > len(first):
            n_pages = copy.stat().st_size // len(first)
            with copy.open("r+b") as file:
                file.write(first[:_N_PAGES] + n_pages.to_bytes(4, "big") + first[_N_PAGES + 4 :])
            found = _read(copy)
        return found


def _first_page(folder: Path) -> bytes:
    """Return the first page of a new record: header and schema, which all records have."""
    new = folder / "new.db"
    with closing(connect_to_copy(new)) as connection:
        prepare_to_write(connection)
        create(connection)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = int(connection.execute("PRAGMA page_size").fetchone()[0])
    return new.read_bytes()[:size]


def _fill_page(file: Path, size: int) -> None:
    """Fill the last page with zeros if it was cut: SQLite ignores part of a page."""
    if lacking := -file.stat().st_size % size:
        with file.open("ab") as end:
            end.write(bytes(lacking))


def _read(copy: Path) -> Salvaged:
    """Return the content that SQLite can read from a file."""
    trials: dict[int, Trial] = {}
    changed: set[int] = set()
    read: set[int] = set()
    about: dict[str, Any] = {}
    with suppress(sqlite3.Error), closing(connect_to_copy(copy)) as connection:
        ends = time.monotonic() + _SECONDS
        limit(connection, lambda: time.monotonic() > ends)
        connection.text_factory = lambda text: text.decode("utf-8", "replace")  # a changed text fails its checksum
        connection.execute("PRAGMA writable_schema = ON")  # without it a file that is shorter than its header says is refused
        most = copy.stat().st_size // _FEWEST_BYTES + 1
        for row in _rows(connection, most):
            read.add(row[0])
            try:
                event = event_of(row)
                trials |= {t.number: t for t in changed_trials(event, trials.get, "sweep" in about) if 0 <= t.number < most}
            except RowError:
                changed |= {row[2]} if isinstance(row[2], int) and 0 <= row[2] < most else set()
            except EventError:  # it is about a trial that is lost
                pass
            else:
                about |= event.entries if isinstance(event, Described | Widened) else {}
    for number in changed:
        trials.pop(number, None)
    usual = Counter(len(t.values) for t in trials.values() if t.values is not None).most_common(1)
    found = [t for _, t in sorted(trials.items()) if t.values is None or len(t.values) == usual[0][0]]
    last = found[-1].number if found else -1
    missing = tuple(sorted(set(range(last + 1)) - {t.number for t in found}))
    return Salvaged(tuple(found), missing, about, tuple(sorted(changed)), max(read, default=-1) + 1 - len(read))


def _rows(connection: sqlite3.Connection, most: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows that SQLite gives, each looked up by its position: a lost page hides its own rows only."""
    if connection.execute("SELECT type FROM sqlite_master WHERE name = 'events'").fetchone() != ("table",):
        return
    with suppress(sqlite3.Error, RowError, TypeError):  # the last row bounds the others unless its page is damaged
        last = connection.execute(f"{ROWS} ORDER BY position DESC LIMIT 1").fetchone()
        event_of(last)
        most = min(most, last[0] + 1)
    for position in range(most):
        try:
            row = connection.execute(f"{ROWS} WHERE position = ?", (position,)).fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:  # it takes too long
                return
            continue
        except (sqlite3.Error, OverflowError):
            continue
        if row is not None:
            yield row


def damaged(path: Path, what: str) -> StorageError:
    """Return the error for a record with invalid content; it says how many of its trials can be read, and how."""
    return StorageError(f"{path} is damaged: {what}{readable(path)}")


def readable(path: Path) -> str:
    """Return how many trials of a damaged record can be read and how, to append to an error message; it may be empty."""
    try:
        found = _salvaged_copy(path)  # of a damaged record SQLite's locks do not matter any more
    except (StorageError, OSError, MemoryError):
        return ""
    count = len(found.trials)
    if not count:
        return "" if not found.about else "; none of its trials can be read"
    trials = "1 of its trials" if count == 1 else f"{count} of its trials"
    return f"; {trials} can be read: spotsvm export --salvage {shlex.quote(str(path))}"


def _value_columns(direction: Any, trials: Sequence[Trial]) -> tuple[str, ...]:
    """Return the columns of the values: by the names of the objectives, or by numbers where the names are lost."""
    counts = {len(t.values) for t in trials if t.values is not None}
    if isinstance(direction, dict) and counts <= {len(direction)}:
        return tuple(f"value_{name}" for name in direction)
    most = max(counts, default=1)
    return ("value",) if most == 1 else tuple(f"value_{k}" for k in range(most))

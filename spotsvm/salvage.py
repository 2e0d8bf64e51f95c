"""The trials that can still be read of a damaged record."""

from __future__ import annotations

import shlex
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.errors import StorageError
from spotsvm.record_checksum import checksum
from spotsvm.record_errors import storage_failures
from spotsvm.record_opening import check_kind, copy_of, log_of
from spotsvm.record_rows import COLUMNS, RowError, check_row, from_json, trial_of
from spotsvm.record_schema import stored_columns
from spotsvm.sqlite_pages import stored_rows
from spotsvm.trial import Trial
from spotsvm.trial_table import parameter_names, trial_table
from spotsvm.writer_lock import is_written_here

#: columns of `trials` in the first version of the schema
_FEWEST = 14
_LATER = {"lost": "[]"}


@dataclass(frozen=True)
class Salvaged:
    """What was read of a damaged record.

    Attributes
    ----------
    trials : tuple of Trial
        Those that can be read, by number.
    missing : tuple of int
        The numbers between theirs whose trials cannot be read; of how many there were after the last, nothing is known.
    about : dict
        What can be read of what the record says of its study.
    changed : tuple of int
        The numbers of trials that were left out because their checksum does not fit: some of their bytes are not what was
        written. Records of versions before 4 have no checksums.
    """

    trials: tuple[Trial, ...]
    missing: tuple[int, ...]
    about: dict[str, Any] = field(default_factory=dict)
    changed: tuple[int, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Return the trials as a frame, a row a trial, with the columns of `trial_table`."""
        space = self.about.get("space")
        branches = [branch for branch in space if isinstance(branch, dict)] if isinstance(space, list) else []
        names = parameter_names(branches, self.trials)
        return trial_table(self.trials, names, _value_columns(self.about.get("direction"), self.trials))


def salvage(path: str | Path) -> Salvaged:
    """Read what can be read of a record that is damaged: cut off, or overwritten in places.

    Each page of the file, and of SQLite's write-ahead log beside it, is read by itself, so one that is lost takes with it
    only the trials it holds. A trial whose bytes make no sense, or do not fit their checksum, is left out; in a record of a
    version before 4, which has no checksums, one whose numbers were overwritten by others cannot be told from one that is whole.
    The file is only read. A record that is whole is read whole.

    Parameters
    ----------
    path : path-like
        The record.

    Raises
    ------
    StorageError
        If there is no such file, or this process is writing to it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from spotsvm import Study
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "study.db"
    ...     with Study({"x": [1, 2, 3, 4]}, "random", 0, path=path) as study:
    ...         _ = study.run(lambda p: p["x"], n_trials=4)
    ...     whole = path.read_bytes()
    ...     _ = path.write_bytes(bytes(4096) + whole[4096:])  # without its first page
    ...     len(salvage(path).trials)
    4
    """
    path = Path(path)
    with storage_failures(path, "read"):
        if is_written_here(path):  # reading the file by itself would release SQLite's locks on it
            raise StorageError(f"{path} is being written to by this very process; close the study first")
        return _salvaged_copy(path)


def _salvaged_copy(path: Path) -> Salvaged:
    if not check_kind(path):
        raise StorageError(f"{path}: there is no such record")
    with tempfile.TemporaryDirectory(prefix="spotsvm-") as folder:
        copy = copy_of(path, Path(folder))
        log = log_of(copy)
        return salvaged(copy.read_bytes(), log.read_bytes() if log.is_file() else b"")


def salvaged(file: bytes, log: bytes) -> Salvaged:
    """Return what can be read of the bytes of a record and of its write-ahead log; see `salvage`."""
    best: dict[int, tuple[tuple[bool, bool, int], Trial]] = {}
    changed: set[int] = set()
    about: dict[str, Any] = {}
    columns = stored_columns()
    for number, values in stored_rows(file, log):
        if number is None:
            if len(values) in (2, 3) and isinstance(values[0], str):
                _take_about(about, *values)
        elif _FEWEST <= len(values) <= len(columns) and values[0] is None and number >= 0:
            row = dict(zip(columns, [number, *values[1:]], strict=False))
            checked = len(values) == len(columns)
            if checked and not _fits(row):
                changed.add(number)
                continue
            trial = _trial(row)
            told = row["told"]
            newness = (checked, isinstance(told, int), told if isinstance(told, int) else 0)
            if trial is not None and (number not in best or newness >= best[number][0]):
                best[number] = newness, trial
    counts = Counter(len(t.values) for _, t in best.values() if t.values is not None)
    usual = counts.most_common(1)[0][0] if counts else 1
    best = {number: found for number, found in best.items() if len(found[1].values or range(usual)) == usual}
    trials = tuple(best[number][1] for number in sorted(best))
    last = trials[-1].number if trials else -1
    # a number that is itself overwritten may be anything
    missing = tuple(sorted(set(range(last + 1)) - set(best))) if last < 10 * len(trials) + 1000 else ()
    return Salvaged(trials, missing, about, tuple(sorted(changed - set(best))))


def damaged(path: Path, what: str) -> StorageError:
    """Return the error for a record with invalid content; it says how many of its trials can be read, and how."""
    return StorageError(f"{path} is damaged: {what}{readable(path)}")


def readable(path: Path) -> str:
    """Return what can be read of a damaged record and how, to append to what is wrong with it; empty where nothing can."""
    try:
        found = _salvaged_copy(path)  # of a damaged record SQLite's locks do not matter any more
    except (StorageError, OSError, MemoryError):
        return ""
    count = len(found.trials)
    if not count:
        return "" if not found.about else "; none of its trials can be read"
    trials = "1 of its trials" if count == 1 else f"{count} of its trials"
    return f"; {trials} can be read: spotsvm export --salvage {shlex.quote(str(path))}"


def _trial(row: dict[str, Any]) -> Trial | None:
    try:
        return trial_of([row.get(name, _LATER.get(name)) for name in COLUMNS])
    except RowError:
        return None


def _fits(row: dict[str, Any]) -> bool:
    try:
        check_row(row)
    except RowError:
        return False
    return True


def _take_about(about: dict[str, Any], key: str, text: Any, *known: Any) -> None:
    if known and known[0] != checksum(key, text):
        return
    try:
        about[key] = from_json(text)
    except RowError:
        pass


def _value_columns(direction: Any, trials: Sequence[Trial]) -> tuple[str, ...]:
    """Return the columns of the values: by the names of the objectives, or by numbers where the names are lost."""
    counts = {len(t.values) for t in trials if t.values is not None}
    if isinstance(direction, dict) and counts <= {len(direction)}:
        return tuple(f"value_{name}" for name in direction)
    most = max(counts, default=1)
    return ("value",) if most == 1 else tuple(f"value_{k}" for k in range(most))

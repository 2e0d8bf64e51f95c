"""Recovery of the trials that can still be read from a damaged record."""

from __future__ import annotations

import shlex
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from spotsvm.common.errors import StorageError
from spotsvm.study.record.lock import is_written_here
from spotsvm.study.record.opening import MAGIC, check_kind, copy_of, log_of, storage_failures
from spotsvm.study.record.rows import COLUMNS, RowError, check_row, checksum, from_json, trial_of
from spotsvm.study.record.schema import stored_columns
from spotsvm.trials.tables import parameter_names, trial_table
from spotsvm.trials.trial import Trial

#: columns of `trials` in the first version of the schema
_FEWEST = 14


@dataclass(frozen=True)
class Salvaged:
    """The content that was read from a damaged record.

    `missing` are the numbers between those of the trials whose trials cannot be read; of how many there were after the last,
    nothing is known. `about` is what can be read of what the record says of its study. `changed` are the numbers of trials left
    out because some of their bytes are not what was written; records of versions before 4 have no checksums to tell.
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
    only the trials it holds. A trial whose bytes are invalid, or do not fit their checksum, is left out; in a record of a
    version before 4, which has no checksums, one whose numbers were overwritten by others cannot be told from one that is whole.
    The file is only read. A record that is whole is read whole. StorageError is raised if there is no such file, or this process
    is writing to it.

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
            raise StorageError(f"{path} is open for writing in this process; close the study first")
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
            row = {"lost": "[]", **dict(zip(columns, [number, *values[1:]], strict=False))}
            checked, told = "told_checksum" in row, row["told"]
            newness = (checked, isinstance(told, int), told if isinstance(told, int) else 0)
            try:
                if checked:
                    check_row(row)
            except RowError:
                changed.add(number)
                continue
            with suppress(RowError):
                trial = trial_of([row.get(name) for name in COLUMNS])
                if number not in best or newness >= best[number][0]:
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


def _take_about(about: dict[str, Any], key: str, text: Any, *known: Any) -> None:
    if known and known[0] != checksum(key, text):
        return
    with suppress(RowError):
        about[key] = from_json(text)


def _value_columns(direction: Any, trials: Sequence[Trial]) -> tuple[str, ...]:
    """Return the columns of the values: by the names of the objectives, or by numbers where the names are lost."""
    counts = {len(t.values) for t in trials if t.values is not None}
    if isinstance(direction, dict) and counts <= {len(direction)}:
        return tuple(f"value_{name}" for name in direction)
    most = max(counts, default=1)
    return ("value",) if most == 1 else tuple(f"value_{k}" for k in range(most))


#: bytes of a page of the library's records, where the file itself does not say it any more
_USUAL_PAGES = (8192, 4096)
_INDEX_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 0x02, 0x0A, 0x0D
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
_MOST_COLUMNS = 64
#: how often the bytes of a file may be read, where its rows share them: more is no damage but a trap
_MOST_TIMES = 8


def stored_rows(file: bytes, log: bytes = b"") -> Iterator[tuple[int | None, list[Any]]]:
    """Iterate over the rows in the pages of a database, and then over those in its write-ahead log.

    Yields the number of each row (None in a table without) and its values. The trees of the tables are not used, so a page can
    be read that is no longer reachable from the root. A row that is cut or invalid is left out. The same row may come
    more than once, in an earlier form and a later one; of the log, only completed transactions count.

    References
    ----------
    "Database File Format", sqlite.org/fileformat2.html.

    Examples
    --------
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.executescript("CREATE TABLE t (a, b); INSERT INTO t VALUES (0.5, 'x')")
    >>> (1, [0.5, 'x']) in stored_rows(bytes(4096) + connection.serialize()[4096:])  # without what says which tables there are
    True
    """
    given = int.from_bytes(file[16:18], "big") if file.startswith(MAGIC) else int.from_bytes(log[8:12], "big")
    given = 65536 if given == 1 else given
    is_size = 512 <= given <= 65536 and given & (given - 1) == 0
    for size in (given,) if is_size else _USUAL_PAGES:
        left = [_MOST_TIMES * (len(file) + len(log)) + 1_000_000]
        pages = {k // size + 1: file[k : k + size] for k in range(0, len(file), size)}
        for number, page in pages.items():
            yield from _rows(page, pages, left, start=100 if number == 1 and page.startswith(MAGIC) else 0)
        newer = _logged_pages(log, size)
        both = pages | newer
        for number, page in newer.items():
            yield from _rows(page, both, left, start=100 if number == 1 else 0)


def _logged_pages(log: bytes, size: int) -> dict[int, bytes]:
    """Return the pages of a write-ahead log as of the last completed transaction."""
    pages: dict[int, bytes] = {}
    pending: dict[int, bytes] = {}
    salts = log[40:48]  # of the first frame, which is of the log's last use
    for k in range(32, len(log) - 24 - size + 1, 24 + size):
        number, committed = struct.unpack_from(">II", log, k)
        if log[k + 8 : k + 16] != salts:
            continue
        pending[number] = log[k + 24 : k + 24 + size]
        if committed:
            pages |= pending
            pending.clear()
    return pages


def _rows(page: bytes, pages: Mapping[int, bytes], left: list[int], start: int) -> Iterator[tuple[int | None, list[Any]]]:
    kind = page[start] if len(page) > start + 8 else 0
    if kind not in (_INDEX_INTERIOR, _INDEX_LEAF, _TABLE_LEAF):
        return
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    first = start + (12 if kind == _INDEX_INTERIOR else 8)
    for k in range(first, min(first + 2 * count, len(page) - 1), 2):
        at = int.from_bytes(page[k : k + 2], "big")
        try:
            yield _cell(page, at + (4 if kind == _INDEX_INTERIOR else 0), kind == _TABLE_LEAF, pages, left)
        except (IndexError, ValueError, KeyError, struct.error):
            continue


def _cell(page: bytes, at: int, numbered: bool, pages: Mapping[int, bytes], left: list[int]) -> tuple[int | None, list[Any]]:
    length, at = _varint(page, at)
    row: int | None = None
    if numbered:
        row, at = _varint(page, at)
    _spend(left, 16)
    here = _local(length, len(page), numbered)
    payload = page[at : at + here]
    if here < length:
        payload += _overflow(int.from_bytes(page[at + here : at + here + 4], "big"), length - here, pages, left)
    _spend(left, len(payload))
    if len(payload) != length:
        raise ValueError("the row is cut")
    return row, _record(payload)


def _local(length: int, size: int, numbered: bool) -> int:
    """Return how many bytes of a row are on its page; the rest is on overflow pages."""
    most = size - 35 if numbered else (size - 12) * 64 // 255 - 23
    if length <= most:
        return length
    least = (size - 12) * 32 // 255 - 23
    kept = least + (length - least) % (size - 4)
    return kept if kept <= most else least


def _spend(left: list[int], count: int) -> None:
    left[0] -= count
    if left[0] < 0:
        raise ValueError("the rows hold more than the file can")


def _overflow(number: int, length: int, pages: Mapping[int, bytes], left: list[int]) -> bytes:
    parts: list[bytes] = []
    wanted, seen = length, set()
    while wanted > 0:
        if number in seen:
            raise ValueError("the row goes round in a circle")
        seen.add(number)
        page = pages[number]
        _spend(left, len(page))
        parts.append(page[4 : 4 + wanted])
        wanted -= len(page) - 4
        number = int.from_bytes(page[:4], "big")
    return b"".join(parts)


def _record(payload: bytes) -> list[Any]:
    end, at = _varint(payload, 0)
    values: list[Any] = []
    body = end
    while at < end:
        kind, at = _varint(payload, at)
        width = _WIDTHS[kind] if kind < 10 else (kind - 12) // 2
        if kind in (10, 11) or body + width > len(payload) or len(values) == _MOST_COLUMNS:
            raise ValueError("no such value")
        values.append(_value(kind, payload[body : body + width]))
        body += width
    return values


def _value(kind: int, raw: bytes) -> Any:
    if kind == 0:
        return None
    if kind <= 6:
        return int.from_bytes(raw, "big", signed=True)
    if kind == 7:
        return struct.unpack(">d", raw)[0]
    if kind in (8, 9):
        return kind - 8
    return raw if kind % 2 == 0 else raw.decode("utf-8")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for k in range(8):
        byte = data[at + k]
        value = (value << 7) | (byte & 0x7F)
        if byte < 0x80:
            return value, at + k + 1
    value = (value << 8) | data[at + 8]
    return value - (1 << 64) if value >= 1 << 63 else value, at + 9

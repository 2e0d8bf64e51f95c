"""The rows of an SQLite file that SQLite refuses to read: whatever its pages hold, each page by itself."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from typing import Any

_MAGIC = b"SQLite format 3\x00"
#: bytes of a page of the library's records, where the file itself does not say it any more
_USUAL_PAGES = (8192, 4096)
_INDEX_INTERIOR, _INDEX_LEAF, _TABLE_LEAF = 0x02, 0x0A, 0x0D
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
_MOST_COLUMNS = 64
#: how often the bytes of a file may be read, where its rows share them: more is no damage but a trap
_MOST_TIMES = 8


def stored_rows(file: bytes, log: bytes = b"") -> Iterator[tuple[int | None, list[Any]]]:
    """Go through the rows that the pages of a database hold, and then through those of its write-ahead log.

    Nothing is asked of the tables' trees, so a page can be read whose way from the root is lost. A row that is cut or makes no
    sense is left out. The same row may come more than once, in an earlier form and a later one.

    Parameters
    ----------
    file : bytes
        The file, or what is left of it.
    log : bytes, default=b""
        Its write-ahead log; of what it holds only the transactions that were completed count.

    Yields
    ------
    (int or None, list)
        The number of the row (None in a table without) and its values: None, int, float, str or bytes.

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
    for size in _page_sizes(file, log):
        yield from _rows_of_all(file, log, size)


def _rows_of_all(file: bytes, log: bytes, size: int) -> Iterator[tuple[int | None, list[Any]]]:
    left = [_MOST_TIMES * (len(file) + len(log)) + 1_000_000]
    pages = {k // size + 1: file[k : k + size] for k in range(0, len(file), size)}
    for number, page in pages.items():
        yield from _rows(page, pages, left, start=100 if number == 1 and page.startswith(_MAGIC) else 0)
    newer = _logged_pages(log, size)
    both = pages | newer
    for number, page in newer.items():
        yield from _rows(page, both, left, start=100 if number == 1 else 0)


def _page_sizes(file: bytes, log: bytes) -> tuple[int, ...]:
    given = int.from_bytes(file[16:18], "big") if file.startswith(_MAGIC) else int.from_bytes(log[8:12], "big")
    given = 65536 if given == 1 else given
    return (given,) if 512 <= given <= 65536 and given & (given - 1) == 0 else _USUAL_PAGES


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

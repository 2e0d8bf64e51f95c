"""How the file of a table is written: its encoding, separator and decimal mark, and whether it has a header row."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from spotsvm.common.csv_files import opened_csv
from spotsvm.common.errors import ArgumentError, DataError

SEPARATORS = (",", ";", "\t", "|")
#: what stands for a missing value besides pandas' own words
MISSING = ("?",)
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
#: bytes and rows by which a layout is decided; of wide tables fewer rows, with so many fields
_BYTES, _ROWS, _FEW_ROWS, _FIELDS = 1 << 20, 100, 10, 50_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # which begins as that of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: encodings to try after UTF-8; the last can read any bytes
_WESTERN = ("cp1252", "latin-1")
_DIGITS = r"[+-]?\d+([.,]\d*)?([eE][+-]?\d+)?|[+-]?[.,]\d+([eE][+-]?\d+)?"
_NUMBER = re.compile(rf"{_DIGITS}|[+-]?(inf|infinity)|true|false", re.IGNORECASE)
_COMMA, _THOUSANDS = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Layout:
    """How a file is written; `rows` are its first rows, the header among them."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True
    thousands: str | None = None
    rows: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        mark = "commas" if self.decimal == "," else "points"
        named = {"\t": "tabs", " ": "spaces"}.get(self.separator, repr(self.separator))
        names = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}
        head = "" if self.header else ", no header row: columns are numbered from 1"
        thousands = "" if self.thousands is None else f", thousands separated by {self.thousands!r}"
        return f"fields separated by {named}, decimal {mark}{thousands}, {names.get(self.encoding, self.encoding.upper())}{head}"


def find_layout(
    path: str | Path,
    target: str,
    sep: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    thousands: str | None = None,
) -> Layout:
    """Return the layout of a file, decided by its first rows; what is given is taken as it is.

    The separator is the one of comma, semicolon, tab and bar by which most rows have as many fields as the first. There is no
    header if the first row has numbers wherever the others have. The decimal mark is a comma if numbers with decimal commas
    occur, and none with points.
    """
    separator = None if sep is None else _separator(sep)
    encoding = None if encoding is None else _known(encoding)
    with opened_csv(path) as stream:
        start = stream.read(_BYTES)
    found = encoding or _encoding(start, path)
    text = codecs.getincrementaldecoder(found)("replace").decode(start)
    parsed = {mark: _parsed(text, mark, len(start) == _BYTES) for mark in ([separator] if separator else SEPARATORS)}
    # the first of equals counts, so a single column has commas
    separator = separator or max(SEPARATORS, key=lambda mark: _fit(parsed[mark]))
    rows = parsed[separator]
    header = _has_header(rows, target) if header is None else header
    decimal = _decimal(rows, separator, thousands)
    if thousands is not None and (len(thousands) != 1 or thousands.isalnum()):
        raise ArgumentError(f"--thousands {thousands!r} is not a mark between thousands; use one character, such as ','")
    return Layout(separator, decimal, found, header, thousands, tuple(map(tuple, rows)))


def other_encodings(layout: Layout) -> list[Layout]:
    """Return the layouts to try if a file turns out not to be UTF-8."""
    return [replace(layout, encoding=name) for name in _WESTERN] if layout.encoding == "utf-8" else []


def line_of(path: str | Path, layout: Layout, row: int) -> int:
    """Return the number of the line in the file where a row begins; row 0 is the first one below the header."""
    with opened_csv(path) as stream, io.TextIOWrapper(stream, layout.encoding, errors="replace", newline="") as text:
        for k, (line, _) in enumerate(_records(text, layout.separator)):
            if k == row + layout.header:
                return line
    return row + layout.header + 1


def last_line(path: str | Path, layout: Layout) -> int:
    """Return the number of the line in the file where the last row begins, which has the rest where a quote is not closed."""
    with opened_csv(path) as stream, io.TextIOWrapper(stream, layout.encoding, errors="replace", newline="") as text:
        return max((line for line, _ in _records(text, layout.separator)), default=1)


def short_rows(path: str | Path, layout: Layout) -> tuple[int, int] | None:
    """Return how many rows have fewer fields than the first one, and the line of the first of them; None if none has."""
    with opened_csv(path) as stream, io.TextIOWrapper(stream, layout.encoding, errors="replace", newline="") as text:
        rows = _records(text, layout.separator)
        width = len(next(rows, (1, []))[1])
        lines = [line for line, fields in rows if len(fields) < width]
    return (len(lines), lines[0]) if lines else None


def _records(text: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with the numbers of the lines where they begin."""
    reader = csv.reader((line.replace("\0", "") for line in text), delimiter=separator, skipinitialspace=True)
    begins = 1
    try:
        for fields in reader:
            if fields:
                yield begins, fields
            begins = reader.line_num + 1
    except csv.Error:  # a field that is too long; pandas says so where it matters
        yield begins, [""]


def _parsed(text: str, separator: str, cut: bool) -> list[list[str]]:
    found: list[list[str]] = []
    for _, fields in _records(io.StringIO(text, newline=""), separator):
        if len(found) == _ROWS or (len(found) >= _FEW_ROWS and len(found) * len(found[0]) >= _FIELDS):
            return found
        found.append([field.strip() for field in fields])
    return found[:-1] if cut and len(found) > 1 else found


def _fit(rows: Sequence[Sequence[str]]) -> tuple[float, float, int]:
    """Return the share of the rows that are as wide as the first, that of fields without separators, and the width."""
    width = len(rows[0]) if rows else 0
    if width < 2:
        return 0.0, 0.0, 0
    fields = [field for row in rows for field in row]
    clean = sum(_COMMA.fullmatch(field) is not None or not any(mark in field for mark in SEPARATORS) for field in fields)
    return sum(len(row) == width for row in rows) / len(rows), clean / len(fields), width


def _encoding(start: bytes, path: str | Path) -> str:
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if marked is not None:
        return marked
    if b"\0" in start:
        even, odd = (start[k::2].count(b"\0") / max(len(start[k::2]), 1) for k in (0, 1))
        if max(even, odd) > 0.6 and min(even, odd) < 0.1:  # Western text in UTF-16 has a zero in every second byte
            return "utf-16-be" if even > odd else "utf-16-le"
        raise DataError(f"{path} is not text, as it contains zero bytes; save the table as CSV in UTF-8")
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start)
    except UnicodeDecodeError:
        for name in _WESTERN:
            try:
                start.decode(name)
            except UnicodeDecodeError:
                continue
            return name
    return "utf-8"


def _known(encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "a".encode(name)
    except (LookupError, ValueError, TypeError) as error:
        raise ArgumentError(f"--encoding {encoding!r} is unknown; use utf-8, utf-16, latin-1 or another of Python's") from error
    return name


def _separator(sep: str) -> str:
    mark = _NAMES.get(sep, sep)
    if len(mark) != 1 or mark in '"\r\n' or mark.isalnum():
        raise ArgumentError(f"--sep {sep!r} is not a separator; use one character, such as ';', or tab")
    return mark


def _decimal(rows: Sequence[Sequence[str]], separator: str, thousands: str | None) -> str:
    if thousands in (",", "."):
        return "." if thousands == "," else ","
    cells = [field.replace(thousands, "") if thousands else field for row in rows[1:] for field in row]
    if any(map(_POINT.fullmatch, cells)):
        return "."
    commas = [field for field in cells if _COMMA.fullmatch(field)]
    if separator == ",":  # there "1,234" in quotes is rather a thousand
        commas = [field for field in commas if not _THOUSANDS.fullmatch(field)]
    return "," if commas else "."


def _has_header(rows: Sequence[Sequence[str]], target: str) -> bool:
    if len(rows) < 2:
        return True
    first, others = rows[0], rows[1:]
    if [str(k) for k in range(len(first))] == first or [str(k + 1) for k in range(len(first))] == first:
        return True  # pandas writes such names where there were none
    numbers = []
    for k in range(len(first)):
        below = [row[k] for row in others if k < len(row) and row[k] not in ("", *MISSING)]
        if below and all(map(_NUMBER.fullmatch, below)):
            numbers.append(first[k])
    if not numbers or not all(field in MISSING or _NUMBER.fullmatch(field) for field in numbers):
        return True
    # names may be numbers, such as years; one that is the target's is no column's number
    return target in first and not (target.isdigit() and 1 <= int(target) <= len(first))

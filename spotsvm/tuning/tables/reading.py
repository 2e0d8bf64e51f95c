"""Read the file of a table: detect its layout, and find the line of each row."""

from __future__ import annotations

import codecs
import csv
import io
import logging
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pandas as pd
from pandas.api.types import is_float_dtype, is_integer_dtype

from spotsvm.common.csv_files import opened_csv
from spotsvm.common.text import did_you_mean, printable_line
from spotsvm.errors import ArgumentError, DataError, SpotSVMError
from spotsvm.preprocessing.cells.words import is_missing
from spotsvm.preprocessing.kept_digits import has_large
from spotsvm.tuning.tables.faults import listed
from spotsvm.tuning.tables.formats import other_format, other_text

_LOG = logging.getLogger(__name__)

SEPARATORS = (",", ";", "\t", "|")
#: several blanks in a row count as one separator
BLANKS = " "
#: maximum number of lines of a title
_TITLES = 5
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": BLANKS, "blank": BLANKS}
#: maximum bytes and rows that decide the layout; in wide tables fewer rows, with at most this many fields
_BYTES, _ROWS, _FEW_ROWS, _FIELDS = 1 << 20, 100, 10, 50_000
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is the beginning of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
#: encodings to try after UTF-8; the last can read any bytes
_WESTERN = ("cp1252", "latin-1")
#: longest code with a zero in front that is found where two blocks of a file meet
_LONGEST_CODE = 100
_DIGITS = r"[+-]?\d+([.,]\d*)?([eE][+-]?\d+)?|[+-]?[.,]\d+([eE][+-]?\d+)?"
_NUMBER = re.compile(rf"{_DIGITS}|[+-]?(inf|infinity)|true|false", re.IGNORECASE)
_COMMA, _THOUSANDS = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?"), re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_POINT = re.compile(r"[+-]?\d*\.\d+([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Choices:
    """How `read_table` reads a file: the options of `spotsvm tune` about the table.

    By default everything about the file format is detected.

    Parameters
    ----------
    sep, encoding, decimal, thousands : str or None
        Field separator, character encoding, decimal mark and mark between thousands.
    header : bool or None
        Whether the first row has the column names.
    drop : sequence of str
        Columns to leave out.
    features : sequence of str
        Columns to use as features; all others but the target and the groups if empty.
    categorical : sequence of str
        Columns to treat as categories even if they have numbers.
    groups : str or None
        Column of groups; the rows of a group are never divided between training and testing.
    positive : str or None
        Label that becomes class 1; all other labels become class 0.
    drop_classes : sequence of str
        Classes whose rows are left out.
    skip_rows : int or None
        Number of lines above the header to skip.
    require_target : bool
        Whether rows without a target are an error. By default they are kept in `Table.unlabelled`.
    time_split : str or None
        Column of times or numbers that orders the rows; the latest rows are held out.
    missing : sequence of str
        Further words that mean a missing value, such as "k.A." or "-999".

    Examples
    --------
    >>> from spotsvm.tables import Choices
    >>> Choices(sep=";", drop=["name"]).drop
    ['name']
    """

    sep: str | None = None
    encoding: str | None = None
    header: bool | None = None
    thousands: str | None = None
    drop: Sequence[str] = ()
    features: Sequence[str] = ()
    categorical: Sequence[str] = ()
    groups: str | None = None
    positive: str | None = None
    drop_classes: Sequence[str] = ()
    skip_rows: int | None = None
    require_target: bool = False
    time_split: str | None = None
    decimal: str | None = None
    missing: Sequence[str] = ()


@dataclass(frozen=True)
class Layout:
    """The layout of a file; `rows` are its first rows, including the header."""

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    header: bool = True
    thousands: str | None = None
    #: lines above the header
    skip: int = 0
    title: str = ""
    rows: tuple[tuple[str, ...], ...] = ()

    def __str__(self) -> str:
        mark = "commas" if self.decimal == "," else "points"
        named = {"\t": "tabs", BLANKS: "blanks"}.get(self.separator, repr(self.separator))
        names = {"utf-8": "UTF-8", "utf-8-sig": "UTF-8", "cp1252": "Windows-1252 (Latin-1)", "latin-1": "Latin-1"}
        head = "" if self.header else ", no header row: columns are numbered from 1"
        thousands = "" if self.thousands is None else f", thousands separated by {self.thousands!r}"
        above = ""
        if self.title:
            first = "the first line" if self.skip == 1 else f"the first {self.skip} lines"
            above = f", {first} left out as a title ({self.title!r}; --skip-rows 0 keeps it)"
        written = names.get(self.encoding, self.encoding.upper())
        return f"fields separated by {named}, decimal {mark}{thousands}, {written}{head}{above}"


@dataclass(frozen=True)
class Source:
    """A file and its unpacked bytes, which are read once."""

    path: str | Path
    content: bytes

    @classmethod
    def of(cls, path: str | Path) -> Source:
        """Read a file; see `opened_csv`."""
        with opened_csv(path) as stream:
            return cls(path, stream.read())

    def __str__(self) -> str:
        return str(self.path)

    def text(self, layout: Layout) -> io.TextIOWrapper:
        """Return a stream of the text."""
        return io.TextIOWrapper(io.BytesIO(self.content), layout.encoding, errors="replace", newline="")


def find_layout(file: Source, target: str, how: Choices) -> Layout:
    """Return the layout of a file, detected from its first rows unless it is among the choices.

    The separator gives most rows the same number of fields. Rows of one cell above the table are a title. There is no header if
    the first row is as numeric as the others. The decimal mark is a comma if there are numbers with commas and none with points.
    """
    separator = None if how.sep is None else _separator(how.sep)
    encoding = None if how.encoding is None else _known(how.encoding)
    thousands, skip_rows = how.thousands, how.skip_rows
    start = file.content[:_BYTES]
    if other := other_format(start, Path(file.path)):
        raise DataError(f"{file} is no CSV file but {other}")
    encoding = encoding or _encoding(start, file)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(start)
    if not skip_rows and (other := other_text(text, Path(file.path), target)):
        raise DataError(f"{file} is no CSV file but {other}")
    lines = [] if not skip_rows else text.splitlines(keepends=True)[:skip_rows]
    text = text[sum(map(len, lines)) :]
    parsed = {mark: _parsed(text, mark, len(start) == _BYTES) for mark in ([separator] if separator else (*SEPARATORS, BLANKS))}
    # the first of equal separators wins, so a single column has commas; blanks are last, because texts contain blanks
    fits = {mark: _fit([row for _, row in parsed[mark]]) for mark in parsed}
    if separator is None:
        separator = max(SEPARATORS, key=lambda mark: fits[mark])
        if fits[separator][2] == 0 and fits[BLANKS][0] == 1.0:
            separator = BLANKS
    skip, title = skip_rows or 0, ""
    if skip_rows is None and (above := _title(parsed[separator])):
        skip, title = above
    rows = [row for line, row in parsed[separator] if line > (0 if skip_rows else skip)]
    header = _has_header(rows, target) if how.header is None else how.header
    if how.decimal not in (None, ".", ","):
        raise ArgumentError(f"--decimal {how.decimal!r} is no decimal mark; use . or ,")
    decimal = how.decimal or _decimal(rows, separator, thousands)
    if thousands is not None and (len(thousands) != 1 or thousands.isalnum()):
        raise ArgumentError(f"--thousands {thousands!r} is not a mark between thousands; use one character, such as ','")
    return Layout(separator, decimal, encoding, header, thousands, skip, title, tuple(map(tuple, rows)))


def line_of(file: Source, layout: Layout, row: int) -> int:
    """Return the number of the line in the file where a row begins; row 0 is the first one below the header."""
    for k, (line, _) in enumerate(_rows(file, layout)):
        if k == row + layout.header:
            return line
    return layout.skip + row + layout.header + 1


def _unclosed_quote(file: Source, layout: Layout) -> int | None:
    """Return the number of the line in the file where a quote is opened that is never closed; None if there is none."""
    begins = max((line for line, _ in _rows(file, layout)), default=1)  # the rest of the file is one row
    with file.text(layout) as text:
        n_quotes = sum(line.count('"') for k, line in enumerate(text, start=1) if k >= begins)
    return begins if n_quotes % 2 else None


def uneven_rows(file: Source, layout: Layout, longer: bool) -> tuple[int, int] | None:
    """Return the number of rows with more (or fewer) fields than the first row, and the line of the first such row; else None."""
    rows = _rows(file, layout)
    width = len(next(rows, (1, []))[1])
    lines = [line for line, fields in rows if (len(fields) > width if longer else len(fields) < width)]
    return (len(lines), lines[0]) if lines else None


def _rows(file: Source, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    with file.text(layout) as text:
        for _ in range(layout.skip):
            next(text, "")
        for line, fields in _records(text, layout.separator):
            yield layout.skip + line, fields


def _records(text: Iterable[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with the numbers of the lines where they begin."""
    lines = (line.replace("\0", "") for line in text)
    if separator == BLANKS:
        lines = (" ".join(line.split()) + "\n" for line in lines)
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    begins = 1
    try:
        for fields in reader:
            if fields:
                yield begins, fields
            begins = reader.line_num + 1
    except csv.Error:  # a field is too long; pandas reports it when it reads the whole file
        yield begins, [""]


def _parsed(text: str, separator: str, cut: bool) -> list[tuple[int, list[str]]]:
    records: list[tuple[int, list[str]]] = []
    for line, fields in _records(io.StringIO(text, newline=""), separator):
        if len(records) == _ROWS or (len(records) >= _FEW_ROWS and len(records) * len(records[-1][1]) >= _FIELDS):
            return records
        records.append((line, [field.strip() for field in fields]))
    return records[:-1] if cut and len(records) > 1 else records


def _width(rows: Sequence[Sequence[str]]) -> int:
    """Return the most frequent number of fields, the first in case of a tie."""
    return Counter(map(len, rows)).most_common(1)[0][0] if rows else 0


def _fit(rows: Sequence[Sequence[str]]) -> tuple[float, float, int]:
    """Return the share of the rows that have the usual width, the share of fields without separators, and this width."""
    width = _width(rows)
    if width < 2:
        return 0.0, 0.0, 0
    fields = [field for row in rows for field in row]
    clean = sum(_COMMA.fullmatch(field) is not None or not any(mark in field for mark in SEPARATORS) for field in fields)
    return sum(len(row) == width for row in rows) / len(rows), clean / len(fields), width


def _title(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[int, str] | None:
    """Return the number of lines with a single cell above the header, and the first of them; None if there is no such line."""
    width = _width([row for _, row in rows])
    # with two columns, the first may be an index without a name
    above = next((k for k, (_, row) in enumerate(rows) if sum(map(bool, row)) > 1 or (len(row) == width == 2)), 0)
    if width < 2 or not 0 < above <= _TITLES or len(rows) - above < 2 or len(rows[above][1]) != width:
        return None
    return rows[above][0] - 1, " ".join(filter(None, rows[0][1]))[:60]


def _encoding(start: bytes, file: Source) -> str:
    marked = next((name for mark, name in _MARKS if start.startswith(mark)), None)
    if marked is not None:
        return marked
    if b"\0" in start:
        even, odd = (start[k::2].count(b"\0") / max(len(start[k::2]), 1) for k in (0, 1))
        if max(even, odd) > 0.6 and min(even, odd) < 0.1:  # Western text in UTF-16 has a zero in every second byte
            return "utf-16-be" if even > odd else "utf-16-le"
        raise DataError(f"{file} is not text, as it contains zero bytes; save the table as CSV in UTF-8")
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
    commas = [field for field in cells if _COMMA.fullmatch(field)]
    if any(map(_POINT.fullmatch, cells)):
        # a point may be between thousands if commas are not
        points = [field for field in cells if _POINT.fullmatch(field) and not _THOUSANDS.fullmatch(field.replace(".", ","))]
        return "." if points or separator == "," or all(map(_THOUSANDS.fullmatch, commas)) else ","
    if separator == ",":  # then a quoted "1,234" is probably a number with a thousands mark
        commas = [field for field in commas if not _THOUSANDS.fullmatch(field)]
    return "," if commas else "."


def _has_header(rows: Sequence[Sequence[str]], target: str) -> bool:
    if len(rows) < 2:
        return True
    first, others = rows[0], rows[1:]
    if [str(k) for k in range(len(first))] == first or [str(k + 1) for k in range(len(first))] == first:
        return True  # pandas writes these names for columns without names
    numbers = []
    for k in range(len(first)):
        below = [row[k] for row in others if k < len(row) and not is_missing(row[k])]
        if below and all(map(_NUMBER.fullmatch, below)):
            numbers.append(first[k])
    if not numbers or not all(is_missing(field) or _NUMBER.fullmatch(field) for field in numbers):
        return True
    # names may be numbers, such as years: the row is a header if it has the target, unless the target is a column's number
    return target in first and not (target.isdigit() and 1 <= int(target) <= len(first))


@dataclass(frozen=True)
class TableFile:
    """A table as it was read, with its rows numbered from 0, and notes on what was left out."""

    source: Source
    frame: pd.DataFrame
    layout: Layout
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> str | Path:
        """The path of the file."""
        return self.source.path

    def where(self, row: Any) -> str:
        """Return the place of a row in the file."""
        return f"line {line_of(self.source, self.layout, int(row))}"

    def warn(self) -> None:
        """Log the notes as warnings."""
        for note in self.notes:
            _LOG.warning("%s: %s", printable_line(str(self.path)), printable_line(note))

    def without_blank_rows(self) -> TableFile:
        """Return the table without rows in which every field is empty."""
        blank = self.frame.isna().all(axis=1)
        if not blank.any() or blank.all():
            return self
        note = f"rows without any value are left out: {int(blank.sum())}, the first in {self.where(blank.idxmax())}"
        return replace(self, frame=self.frame[~blank], notes=(*self.notes, note))


def read_file(path: str | Path, target: str, how: Choices) -> TableFile:
    """Read a file that has a target column; see `read_table`.

    Without a header row the columns are named by their numbers from 1. DataError is raised if the file cannot be read.
    """
    file, layout, frame = _read(path, target, how)
    if target not in frame.columns:
        none = "" if layout.header else ", numbered as there is no header row"
        raise DataError(
            f"--target {target!r} is not a column of {path}, which has {listed(frame.columns)}{none}{_hint(layout)}"
            f"{did_you_mean(target, frame.columns) or _no_header(layout, how, target)}"
        )
    notes = []
    if _numbers_the_rows(frame, target):
        frame = frame.iloc[:, 1:]
        notes.append("the first column has no name and only numbers the rows; it is ignored")
    spare = [name for name, empty in frame.isna().all().items() if empty and name != target] if len(frame) else []
    if spare and len(spare) < frame.shape[1] - 1:
        frame = frame.drop(columns=spare)
        what = "1 column is empty" if len(spare) == 1 else f"{len(spare)} columns are empty"
        notes.append(f"{what} and left out: {listed(spare)}")
    if len(frame) and frame.iloc[:, -1].isna().any() and (short := uneven_rows(file, layout, longer=False)):
        n, first = short
        what = "1 row has" if n == 1 else f"{n} rows have"
        notes.append(
            f"{what} fewer fields than the first one; these fields are missing values ({'' if n == 1 else 'first '}line {first})"
        )
    return TableFile(file, frame, layout, tuple(notes))


def read_rows(path: str | Path, column: str, how: Choices) -> TableFile:
    """Read a file of further rows, without blank rows; its header must have `column`."""
    file, layout, frame = _read(path, column, how)
    return TableFile(file, frame, layout).without_blank_rows()


def _read(path: str | Path, target: str, how: Choices) -> tuple[Source, Layout, pd.DataFrame]:
    file, layout = Source(path, b""), Layout()
    try:
        file = Source.of(path)
        layout = find_layout(file, target, how)
        # a file that begins in UTF-8 may have other characters further down
        others = [*_WESTERN] if how.encoding is None and layout.encoding == "utf-8" else []
        frame = None
        while frame is None:
            try:
                frame = _frame(file, layout)
            except UnicodeDecodeError:
                if not others:
                    raise
                layout = replace(layout, encoding=others.pop(0))
    except SpotSVMError:
        raise
    except OSError as error:
        raise DataError(f"{path}: cannot read the file: {error.strerror or error}; {_instead(error)}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not {how.encoding} text: {error.reason}; use the right --encoding, or none") from error
    except pd.errors.ParserWarning as error:
        raise DataError(_too_long(file, layout)) from error
    except Exception as error:  # pandas and the decompressors raise many types
        if isinstance(error, pd.errors.ParserError) and uneven_rows(file, layout, longer=True):
            raise DataError(_too_long(file, layout)) from error
        why, remedy = _why_and_remedy(error, file, layout)
        raise DataError(f"{path} is not a CSV file with a header row: {why}; {remedy}{_hint(layout)}") from error
    if not layout.header:
        frame.columns = pd.Index([str(k + 1) for k in range(frame.shape[1])])
        return file, layout, frame
    names = layout.rows[0] if layout.rows else ()
    # pandas renames a second "a" to "a.1", but a file may also have a column "a.1"
    twice = next((name for name in names if name and names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        what = f"{path}: {names.count(twice)} columns are named {twice!r}; rename or remove all but one"
        raise DataError(f"{what}{_no_header(layout, how, target)}")
    return file, layout, frame


def _no_header(layout: Layout, how: Choices, target: str) -> str:
    """Return a hint at --no-header if the first row was taken for a header and may be none; else an empty text."""
    if not layout.header or how.header is not None or not layout.rows:
        return ""
    first, others = layout.rows[0], layout.rows[1:]
    is_number = target.isdigit() and 1 <= int(target) <= len(first)
    again = sum(any(k < len(row) and row[k] == name for row in others) for k, name in enumerate(first))
    if not is_number and 2 * again < len(first):
        return ""
    return "; if the first row has no names, use --no-header, which numbers the columns from 1"


def _too_long(file: Source, layout: Layout) -> str:
    """Return an error message about rows with more fields than the header, with a remedy."""
    n, first = uneven_rows(file, layout, longer=True) or (1, layout.skip + 2)
    what = f"line {first} has" if n == 1 else f"{n} rows, the first in line {first}, have"
    return (
        f"{file}: {what} more fields than the header ({layout}); correct {'it' if n == 1 else 'them'}, name the separator by "
        "--sep, or leave out lines above the header by --skip-rows N"
    )


def _frame(file: Source, layout: Layout) -> pd.DataFrame:
    """Return all cells: numbers where a column has nothing else, and else texts, whatever words mean a missing value."""
    frame = _parsed_by_pandas(file, layout)
    whole = [k for k in range(frame.shape[1]) if _is_whole(frame.iloc[:, k])]
    if whole and _has_zeros_in_front(file, layout):  # codes such as 01067, which are no numbers
        texts = _parsed_by_pandas(file, layout, usecols=whole, dtype=str)
        for k, name in zip(whole, texts.columns, strict=True):
            if texts[name].str.fullmatch(r"0\d+").any():
                frame.isetitem(k, cast("Any", texts[name]))
    large = [k for k in whole if is_float_dtype(frame.iloc[:, k]) and has_large(frame.iloc[:, [k]].to_numpy(dtype=float)).any()]
    if large:  # whole numbers with gaps, which are no floats
        texts = _parsed_by_pandas(file, layout, usecols=large, dtype=str)
        for k, name in zip(large, texts.columns, strict=True):
            if texts[name].dropna().str.fullmatch(r"[+-]?\d+").all():
                frame.isetitem(k, cast("Any", texts[name]))
    return frame.copy()  # consolidates columns by type, as pandas would otherwise process thousands of columns one by one


def _is_whole(column: pd.Series) -> bool:
    """Return whether a column has whole numbers, which are floats if there are gaps."""
    return is_integer_dtype(column) or (is_float_dtype(column) and bool((column.dropna() % 1 == 0).all()))


def _has_zeros_in_front(file: Source, layout: Layout) -> bool:
    """Return whether a field has only digits, the first of which is 0."""
    ends = r'"\r\n' + re.escape(layout.separator)
    field = re.compile(rf"(?:^|[{ends}]) *0\d+ *(?=$|[{ends}])", re.MULTILINE)
    with file.text(layout) as text:
        rest = ""
        while block := text.read(_BYTES):
            if field.search(rest + block):
                return True
            rest = block[-_LONGEST_CODE:]
    return False


def _parsed_by_pandas(file: Source, layout: Layout, **options: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        # index_col=False makes rows longer than the header an error; otherwise pandas would shift their fields
        frame: pd.DataFrame = pd.read_csv(
            io.BytesIO(file.content),
            sep=r"\s+" if layout.separator == BLANKS else layout.separator,
            skiprows=layout.skip,
            decimal=layout.decimal,
            thousands=layout.thousands,
            encoding=layout.encoding,
            header=0 if layout.header else None,
            index_col=False,
            low_memory=False,
            skipinitialspace=True,
            keep_default_na=False,
            na_values=[""],
            **options,
        )
        return frame


def _numbers_the_rows(frame: pd.DataFrame, target: str) -> bool:
    """Return whether the first column is an index as written by pandas and R: unnamed, with distinct integers."""
    first = frame.iloc[:, 0]
    spare = first.name == "Unnamed: 0" and target != "Unnamed: 0" and frame.shape[1] > 2
    return bool(spare and is_integer_dtype(first) and first.is_unique)


def _why_and_remedy(error: Exception, file: Source, layout: Layout) -> tuple[str, str]:
    """Return an error of pandas in one line, and what to do; the line of an unclosed quote is found here: pandas counts rows."""
    if isinstance(error, pd.errors.ParserError) and (line := _unclosed_quote(file, layout)) is not None:
        return f"EOF inside string starting in line {line}", "a quote is opened and not closed, so close or remove it"
    why = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ") or type(error).__name__
    empty = isinstance(error, pd.errors.EmptyDataError)
    return why, "the file has no rows, so name another one" if empty else "save the table as CSV in UTF-8"


def _instead(error: OSError) -> str:
    if isinstance(error, IsADirectoryError):
        return "name a file in it"
    if isinstance(error, PermissionError):
        return "change its permissions, or copy it"
    if isinstance(error, FileNotFoundError):
        return "check the path"
    return "if it is not compressed, name it otherwise"


def _hint(layout: Layout) -> str:
    """Return a hint at --sep if the table has a single column."""
    only = len(layout.rows[0]) == 1 if layout.rows else False
    return "; if the fields are not separated by commas, use --sep" if only else ""

"""A self-contained HTML page: sections of paragraphs, tables, pictures and code, read without network and script."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.csv_files import write_csv
from spotsvm.common.drawing import colour_variables
from spotsvm.common.errors import StorageError
from spotsvm.common.text import checked_path, printable, printable_line
from spotsvm.reports.svg import inline_svg

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

MISSING = "–"


_LONGEST = 1000


@dataclass(frozen=True)
class Cell:
    """What stands in a cell.

    Attributes
    ----------
    text : str
        As it is read.
    number : bool
        Whether it is a number, which stands to the right.
    """

    text: str
    number: bool = False


def cell_of(value: Any, digits: int = 4) -> Cell:
    """Give the cell of a value.

    Parameters
    ----------
    value : object
        A number, a text, or anything that has one; None and nan are missing.
    digits : int, default=4
        Significant digits of a number that is not whole.

    Examples
    --------
    >>> [cell_of(value).text for value in (0.123456, 12, 1234567.0, None, "rbf", 3e-9)]
    ['0.1235', '12', '1234567', '–', 'rbf', '3e-09']
    """
    if value is None or value is pd.NaT or value is pd.NA:
        return Cell(MISSING)
    if isinstance(value, bool | np.bool_):
        return Cell(str(bool(value)))
    if isinstance(value, numbers.Integral):
        return Cell(cut_text(str(int(value))), True)
    if isinstance(value, numbers.Real):
        return Cell(short(float(value), digits), True)
    return Cell(cut_text(str(value)))


def cut_text(text: str) -> str:
    """Give the beginning of a text that would make a page unreadable.

    Examples
    --------
    >>> cut_text("short"), len(cut_text("x" * 10_000))
    ('short', 1000)
    """
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def short(value: float, digits: int = 4) -> str:
    """Give a number in short, without an exponent where it is neither tiny nor huge.

    Examples
    --------
    >>> short(0.30000000000000004), short(2.0), short(float("nan")), short(-2.5e-5), short(13241.7)
    ('0.3', '2', '–', '-2.5e-05', '13242')
    """
    if math.isnan(value):
        return MISSING
    if value.is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.0f}" if 10**digits <= abs(value) < 1e7 else f"{value:.{digits}g}"


def is_numeric(column: pd.Series[Any]) -> bool:
    """Tell whether a column holds numbers, and beside them at most what is missing."""
    cells = [cell_of(value) for value in column]
    known = [cell for cell in cells if cell.text != MISSING]
    return bool(known) and all(cell.number for cell in known)


_MOST_CELLS = 100_000


_MOST_COLUMNS = 500


@dataclass(frozen=True)
class Table:
    """A frame as a table; its first column heads the rows, its index is left out.

    Parameters
    ----------
    frame : DataFrame
        What it holds. Numbers are shown in short, what is missing as a dash.
    caption : str
        What it shows.
    digits : int, default=4
        Significant digits of numbers.
    rows_shown : ndarray of int, optional
        The rows that a page shows, where it shall not show all; the file of the table has all.
    """

    frame: pd.DataFrame
    caption: str
    digits: int = 4
    rows_shown: NDArray[np.intp] | None = None
    kind: Literal["table"] = field(default="table", init=False)

    @property
    def shown(self) -> pd.DataFrame:
        """The rows and columns that a page can show: all, or `rows_shown`, up to 100,000 cells."""
        columns = self.frame.iloc[slice(None) if self.rows_shown is None else self.rows_shown, :_MOST_COLUMNS]
        return columns.iloc[: max(_MOST_CELLS // max(columns.shape[1], 1), 1)]

    @property
    def left_out(self) -> str:
        """Say what is not shown; empty where all is."""
        if self.shown.shape == self.frame.shape:
            return ""
        whole, part = (f"{frame.shape[0]} rows and {frame.shape[1]} columns" for frame in (self.frame, self.shown))
        which = "the first " if self.rows_shown is None else ""
        return f" (of {whole} {which}{part}; the file of the table has all)"

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Headings of the columns, and whether they are numbers, which stand to the right."""
        shown = self.shown
        return [(cut_text(str(name)), is_numeric(shown.iloc[:, k])) for k, name in enumerate(shown.columns)]

    @property
    def rows(self) -> list[list[Cell]]:
        """The cells, a list a row."""
        shown = self.shown
        columns = [[cell_of(value, self.digits) for value in shown.iloc[:, k]] for k in range(shown.shape[1])]
        return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Picture:
    """A figure.

    Parameters
    ----------
    figure : matplotlib Figure
        What is drawn; its colours follow the page's where they are greys, Okabe and Ito's, or matplotlib's own.
    caption : str
        What it shows, for all.
    alt : str
        What there is to see in it, for those who cannot.
    """

    figure: Figure
    caption: str
    alt: str
    kind: Literal["picture"] = field(default="picture", init=False)


@dataclass(frozen=True)
class Code:
    """Code to copy.

    Parameters
    ----------
    text : str
        The lines.
    caption : str
        What it does.
    """

    text: str
    caption: str
    kind: Literal["code"] = field(default="code", init=False)


@dataclass(frozen=True)
class Items:
    """A list.

    Parameters
    ----------
    entries : sequence of str
        One a bullet.
    """

    entries: Sequence[str]
    kind: Literal["items"] = field(default="items", init=False)


@dataclass(frozen=True)
class Notice:
    """A paragraph that stands out.

    Parameters
    ----------
    text : str
        What it says.
    tone : {"note", "warning", "finding"}, default="note"
        Whether it explains, warns, or says what was found; a word before the text says so too.
    """

    text: str
    tone: Literal["note", "warning", "finding"] = "note"
    kind: Literal["notice"] = field(default="notice", init=False)


@dataclass(frozen=True)
class Section:
    """A heading, and what stands below it.

    Parameters
    ----------
    heading : str
        The heading.
    parts : sequence of str, Table, Picture, Code, Items, Notice or Section
        What stands below, in order: a text is a paragraph, a section one of the next lower rank.
    """

    heading: str
    parts: Sequence[Part]
    kind: Literal["section"] = field(default="section", init=False)


Part = str | Table | Picture | Code | Items | Notice | Section


@dataclass(frozen=True)
class Page:
    """A page.

    All text is escaped, and control characters in it are shown as escapes; a picture's colours follow the reader's colour
    scheme, and a table can be scrolled by keyboard.

    Parameters
    ----------
    title : str
        The title.
    sections : sequence of Section
        What it holds.
    lead : str, default=""
        What the page is about, in a sentence or two below the title.
    footer : str, default=""
        What stands at the end, such as what made it.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"search": ["kriging"], "score": [0.98]}), "Scores")
    >>> text = Page("A <page>", [Section("Results", ["What came of it.", table])]).html()
    >>> "<title>A &lt;page&gt;</title>" in text, '<th scope="row">kriging</th>' in text
    (True, True)
    """

    title: str
    sections: Sequence[Section]
    lead: str = ""
    footer: str = ""

    def html(self) -> str:
        """Give the page as text; the same page gives the same text."""
        names = _Names()
        text: str = (
            _templates()
            .get_template("page.html.j2")
            .render(page=self, colours=colour_variables(), name_of=names.new, svg_of=names.svg)
        )
        return printable(text)

    def write(self, path: str | Path) -> Path:
        """Write the page to a file; its folder is made.

        Raises
        ------
        ArgumentError
            If `path` is none.
        StorageError
            If the file cannot be written.
        """
        file = checked_path(path, such_as="report.html")
        text = self.html()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StorageError(f"{file}: cannot write the report: {error.strerror or error}") from error
        return file

    def write_tables(self, folder: str | Path) -> list[Path]:
        """Write each table as a CSV file into a folder, which is made; give the files, called by number and caption.

        Raises
        ------
        StorageError
            If a file cannot be written.
        """
        place = checked_path(folder, "tables", "tables")
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{place}: cannot make the folder: {error.strerror or error}") from error
        tables = list(_tables(self.sections))
        files = [place / f"{k:02d}-{_slug(table.caption)}.csv" for k, table in enumerate(tables, start=1)]
        for table, file in zip(tables, files, strict=True):
            write_csv(table.frame, file, "table")
        return files


def _tables(parts: Sequence[Part]) -> Iterator[Table]:
    for part in parts:
        if isinstance(part, Section):
            yield from _tables(part.parts)
        elif isinstance(part, Table):
            yield part


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:40].strip("-") or "part"


class _Names:
    """Names within a page, each given once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, text: str) -> str:
        """Give a name like the text that nothing on the page has yet."""
        base = _slug(text)
        name, k = base, 2
        while name in self._given:
            name, k = f"{base}-{k}", k + 1
        self._given.add(name)
        return name

    def svg(self, picture: Picture) -> Any:
        from markupsafe import Markup, escape

        try:
            return Markup(inline_svg(picture.figure, self.new("picture"), picture.alt))
        except (ValueError, ArithmeticError, RuntimeError) as error:  # numbers that no axis can show, such as 1e308
            return Markup("<p>This picture cannot be drawn: {}</p>").format(escape(printable_line(str(error), 200)))


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # on use: most who tune never make a page

    return Environment(
        loader=PackageLoader("spotsvm.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

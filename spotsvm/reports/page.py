"""A self-contained HTML page of paragraphs, tables, pictures and code, without scripts or network access."""

from __future__ import annotations

import io
import math
import numbers
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.csv_files import write_csv
from spotsvm.common.drawing import colour_variables, variable_of
from spotsvm.common.errors import StorageError
from spotsvm.common.text import checked_path, printable, printable_line

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

MISSING = "–"
_LONGEST = 1000


def cell_of(value: Any, digits: int = 4) -> tuple[str, bool]:
    """Return the text of a table cell, floats with so many significant digits, and whether it is a number.

    Examples
    --------
    >>> [cell_of(value)[0] for value in (0.123456, 12, 1234567.0, None, "rbf", 3e-9)]
    ['0.1235', '12', '1234567', '–', 'rbf', '3e-09']
    """
    if value is None or value is pd.NaT or value is pd.NA:
        return MISSING, False
    if isinstance(value, bool | np.bool_):
        return str(bool(value)), False
    if isinstance(value, numbers.Integral):
        return cut_text(str(int(value))), True
    if isinstance(value, numbers.Real):
        return short(float(value), digits), True
    return cut_text(str(value)), False


def cut_text(text: str) -> str:
    """Shorten a text that would make a page unreadable.

    Examples
    --------
    >>> cut_text("short"), len(cut_text("x" * 10_000))
    ('short', 1000)
    """
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def short(value: float, digits: int = 4) -> str:
    """Return a number as short text, without an exponent unless it is tiny or huge.

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
    """Return whether all known values of a column are numbers."""
    known = [number for text, number in map(cell_of, column) if text != MISSING]
    return bool(known) and all(known)


_MOST_CELLS = 100_000
_MOST_COLUMNS = 500


@dataclass(frozen=True)
class Table:
    """A data frame as a table, with short numbers; the first column heads the rows, the index is left out.

    The page has `rows_shown`, by default all rows; the CSV file of the table has all.
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
        """A note on what is not shown; empty if all is."""
        if self.shown.shape == self.frame.shape:
            return ""
        whole, part = (f"{frame.shape[0]} rows and {frame.shape[1]} columns" for frame in (self.frame, self.shown))
        which = "the first " if self.rows_shown is None else ""
        return f" ({which}{part} of {whole}; the CSV file of the table has all)"

    @property
    def columns(self) -> list[tuple[str, bool]]:
        """Headings of the columns, and whether they hold numbers."""
        shown = self.shown
        return [(cut_text(str(name)), is_numeric(shown.iloc[:, k])) for k, name in enumerate(shown.columns)]

    @property
    def rows(self) -> list[list[str]]:
        """The cells, a list per row."""
        shown = self.shown
        columns = [[cell_of(value, self.digits)[0] for value in shown.iloc[:, k]] for k in range(shown.shape[1])]
        return [list(row) for row in zip(*columns, strict=True)]


@dataclass(frozen=True)
class Picture:
    """A figure, whose colours follow the colour scheme of the page, with a description for readers who cannot see it."""

    figure: Figure
    caption: str
    alt: str
    kind: Literal["picture"] = field(default="picture", init=False)


@dataclass(frozen=True)
class Code:
    """Code to copy, and what it does."""

    text: str
    caption: str
    kind: Literal["code"] = field(default="code", init=False)


@dataclass(frozen=True)
class Notice:
    """A highlighted paragraph, with a colour and a first word by its tone."""

    text: str
    tone: Literal["note", "warning", "finding"] = "note"
    kind: Literal["notice"] = field(default="notice", init=False)


@dataclass(frozen=True)
class Section:
    """A heading with parts below it: a text is a paragraph, a section has a heading of the next lower rank."""

    heading: str
    parts: Sequence[Part]
    kind: Literal["section"] = field(default="section", init=False)


Part = str | Table | Picture | Code | Notice | Section


@dataclass(frozen=True)
class Page:
    """A page.

    All text is escaped, and control characters in it are shown as escapes; a picture's colours follow the reader's colour
    scheme, and a table can be scrolled by keyboard.

    Examples
    --------
    >>> import pandas as pd
    >>> table = Table(pd.DataFrame({"search": ["kriging"], "score": [0.98]}), "Scores")
    >>> text = Page("A <page>", [Section("Results", ["All results.", table])]).html()
    >>> "<title>A &lt;page&gt;</title>" in text, '<th scope="row">kriging</th>' in text
    (True, True)
    """

    title: str
    sections: Sequence[Section]
    lead: str = ""
    footer: str = ""

    def html(self) -> str:
        """Return the page as HTML; equal pages give equal text."""
        names = _Names()
        text: str = (
            _templates()
            .get_template("page.html.j2")
            .render(page=self, colours=colour_variables(), name_of=names.new, svg_of=names.svg)
        )
        return printable(text)

    def write(self, path: str | Path) -> Path:
        """Write the page to a file, and create its folder."""
        file = checked_path(path, such_as="report.html")
        text = self.html()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        except OSError as error:
            raise StorageError(f"{file}: cannot write the report: {error.strerror or error}") from error
        return file

    def write_tables(self, folder: str | Path) -> list[Path]:
        """Write each table as a CSV file into a folder, which is created; return the files, named by number and caption."""
        place = checked_path(folder, "tables", "tables")
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{place}: cannot create the folder: {error.strerror or error}") from error
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
    """Unique names within a page."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def new(self, text: str) -> str:
        """Return a name made from the text that is not yet used on the page."""
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


_SETTINGS: Any = {"svg.hashsalt": "spotsvm", "svg.fonttype": "none", "svg.image_inline": True}
_NO_METADATA = dict.fromkeys(("Date", "Creator", "Format", "Type"))
_DRAWN = re.compile(r"-?\d+\.\d{3,}")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}\b")
_FONT = re.compile(r"'?DejaVu Sans'?(?:,[^;]*)?")


def inline_svg(figure: Figure, name: str, alt: str) -> str:
    """Return a figure as an SVG element whose ids begin with `name`, with `alt` as its description.

    Text remains text, and colours are CSS variables wherever `variable_of` knows one. Equal figures give equal SVG.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> figure = Figure(figsize=(2, 1))
    >>> _ = figure.subplots().plot([0, 1], [0, 1])
    >>> text = inline_svg(figure, "line", "A line")
    >>> text.startswith("<svg"), 'id="line-figure_1"' in text, "var(--series-0)" in text
    (True, True, True)
    """
    from matplotlib import rc_context  # on use: it takes half a second

    drawn = io.StringIO()
    with rc_context(_SETTINGS), warnings.catch_warnings(), np.errstate(over="ignore", invalid="ignore"):
        # the browser has the characters that the font of matplotlib lacks
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        # long names may leave no room: the picture is crowded then, but correct
        warnings.filterwarnings("ignore", "constrained_layout not applied", UserWarning)
        figure.savefig(drawn, format="svg", metadata=_NO_METADATA)
    root = ElementTree.fromstring(printable(drawn.getvalue()))
    for parent in root.iter():
        # its rules would hold for the whole page
        for style in [child for child in parent if child.tag.endswith("}style") or child.tag.endswith("}metadata")]:
            parent.remove(style)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = {key.rpartition("}")[2]: _changed(key, value, name) for key, value in element.attrib.items()}
    root.attrib |= {"role": "img", "aria-label": alt, "focusable": "false"}
    return ElementTree.tostring(root, encoding="unicode")


def _changed(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key.endswith("href") and value.startswith("#"):
        return f"#{name}-{value[1:]}"
    if key in ("d", "x", "y", "points"):
        return _DRAWN.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), value).replace("\n", " ")
    if key in ("style", "fill", "stroke"):
        value = _FONT.sub("var(--sans)", value)
        value = _COLOUR.sub(lambda colour: variable_of(colour[0]), value)
    return value.replace("url(#", f"url(#{name}-")

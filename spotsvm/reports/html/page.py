"""A self-contained HTML page of paragraphs, tables, pictures and code, which can be read without its script or a network."""

from __future__ import annotations

import hashlib
import math
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.csv_files import write_csv
from spotsvm.common.drawing import colour_variables
from spotsvm.common.new_files import new_file
from spotsvm.common.text import checked_path, printable, printable_line
from spotsvm.errors import StorageError
from spotsvm.reports.html.cells import column_texts, cut_text, is_numeric
from spotsvm.reports.html.svg import inline_svg

if TYPE_CHECKING:
    from jinja2 import Environment
    from matplotlib.figure import Figure

_MOST_CELLS = 100_000
_MOST_COLUMNS = 500


@dataclass(frozen=True)
class Table:
    """A data frame as a table, with short numbers; the first column has the headings of the rows, and the index is left out.

    The page shows the first `rows_shown` rows, by default all; the CSV file of the table has all rows. `trials` has the trial
    number of each row: the page's script links the rows with the same trials in pictures, and sorts and filters them. `chosen` is
    the number of the recommended trial. `names` are the full names of columns with short headings, shown as tooltips. In a table
    of `one_kind`, such as scores, the numbers have the same number of decimals in all columns. A `folded` table is shown on a
    click on its caption.
    """

    frame: pd.DataFrame
    caption: str
    digits: int = 4
    rows_shown: NDArray[np.intp] | None = None
    trials: Sequence[int] | None = None
    chosen: int | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    one_kind: bool = False
    folded: bool = False
    kind: Literal["table"] = field(default="table", init=False)

    @property
    def shown(self) -> pd.DataFrame:
        """The rows and columns on the page: all, or `rows_shown` rows, up to 100,000 cells."""
        columns = self.frame.iloc[slice(None) if self.rows_shown is None else self.rows_shown, :_MOST_COLUMNS]
        return columns.iloc[: max(_MOST_CELLS // max(columns.shape[1], 1), 1)]

    @property
    def left_out(self) -> str:
        """A note on rows and columns that are not shown; empty if all are shown."""
        if self.shown.shape == self.frame.shape:
            return ""
        whole, part = (f"{frame.shape[0]} rows and {frame.shape[1]} columns" for frame in (self.frame, self.shown))
        which = "the first " if self.rows_shown is None else ""
        return f" ({which}{part} of {whole}; the CSV file of the table has all)"

    @property
    def columns(self) -> list[tuple[str, bool, str]]:
        """For each column its heading, whether it is numeric, and its full name if the heading is short."""
        shown = self.shown
        headings = [str(name) for name in shown.columns]
        full = [self.names.get(name, name) for name in headings]
        return [
            (cut_text(name), is_numeric(shown.iloc[:, k]), cut_text(long) if long != name else "")
            for k, (name, long) in enumerate(zip(headings, full, strict=True))
        ]

    @property
    def rows(self) -> list[tuple[int | None, list[str]]]:
        """The trial of each row, if any, and its cells."""
        shown, decimals = self.shown, self.decimals
        columns = [column_texts(column, self.digits, decimals) for _, column in shown.items()]
        numbers: list[int | None] = [None] * len(shown)
        if self.trials is not None:
            every = list(self.trials) if self.rows_shown is None else [self.trials[k] for k in self.rows_shown]
            numbers = [int(number) for number in every[: len(shown)]]
        return list(zip(numbers, (list(row) for row in zip(*columns, strict=True)), strict=True)) if columns else []

    @property
    def decimals(self) -> int | None:
        """The decimals of all numbers of one kind, by the largest number; None if each column has its own."""
        floats = self.shown.select_dtypes("float").to_numpy()
        largest = float(np.max(np.abs(floats), where=np.isfinite(floats), initial=0.0))
        if not self.one_kind or not 1e-3 <= largest < 10.0**self.digits:
            return None
        return self.digits - max(math.floor(math.log10(largest)), 0)


@dataclass(frozen=True)
class Picture:
    """A figure, whose colours follow the colour scheme of the page, with a description for readers who cannot see it.

    `others` are further panels, shown beside the first panel if there is room, else below it. The page's script can enlarge a
    `zoomable` picture.
    """

    figure: Figure
    caption: str
    alt: str
    others: Sequence[Figure] = ()
    zoomable: bool = False
    kind: Literal["picture"] = field(default="picture", init=False)


@dataclass(frozen=True)
class Code:
    """Code to copy, with a description."""

    text: str
    caption: str
    kind: Literal["code"] = field(default="code", init=False)


@dataclass(frozen=True)
class Highlight:
    """A highlighted paragraph; its tone determines its colour and first word."""

    text: str
    tone: Literal["note", "warning", "finding"] = "note"
    kind: Literal["notice"] = field(default="notice", init=False)


@dataclass(frozen=True)
class Section:
    """A heading with parts below it: texts are paragraphs, and sections have headings of the next level."""

    heading: str
    parts: Sequence[Part]
    kind: Literal["section"] = field(default="section", init=False)

    @property
    def cells(self) -> list[tuple[str, list[Part]]]:
        """The parts as cells of a wide page: of full width, or in the left or the right column.

        Neighbouring texts are one cell, up to some length. A narrow cell goes into the shorter column.
        """
        cells: list[tuple[str, list[Part]]] = []
        heights = {"left": 0.0, "right": 0.0}
        side = "whole"
        for part in self.parts:
            texts = isinstance(part, str | Highlight)
            joined = texts and side != "whole" and isinstance(cells[-1][1][-1], str | Highlight)
            if joined and sum(map(_height, cells[-1][1])) < _LONG_TEXT:
                cells[-1][1].append(part)
            elif texts or _is_narrow(part):
                side = "left" if heights["left"] <= heights["right"] else "right"
                cells.append((side, [part]))
            else:
                side, heights = "whole", {"left": 0.0, "right": 0.0}
                cells.append((side, [part]))
            if side != "whole":
                heights[side] += _height(part)
        return cells


Part = str | Table | Picture | Code | Highlight | Section
_NARROW_COLUMNS, _NARROW_INCHES = 6, 5.5
_LONG_TEXT = 15.0  # lines


def _is_narrow(part: Part) -> bool:
    if isinstance(part, Table):
        return part.trials is None and part.frame.shape[1] <= _NARROW_COLUMNS
    return isinstance(part, Picture) and not part.others and part.figure.get_figwidth() <= _NARROW_INCHES


def _height(part: Part) -> float:
    """Return the approximate height of a narrow part, in lines of text."""
    if isinstance(part, Table):
        return 4.0 + 1.3 * len(part.shown)
    if isinstance(part, Picture):
        return 5.0 * float(part.figure.get_figheight()) + 3.0
    return 1.0 + len(part if isinstance(part, str) else getattr(part, "text", "")) / 80.0


@dataclass(frozen=True)
class Page:
    """A page, with a list of facts below its title; one that is written anew loads itself again after `reload` seconds.

    All text is escaped, and control characters are shown as escapes; a picture's colours follow the reader's colour scheme.
    """

    title: str
    sections: Sequence[Section]
    lead: str = ""
    footer: str = ""
    facts: Sequence[tuple[str, str]] = ()
    reload: float | None = None

    def html(self) -> str:
        """Return the page as HTML; equal pages give equal text."""
        names = _Names()
        text: str = (
            _templates()
            .get_template("page.html.j2")
            .render(page=self, colours=colour_variables(), name_of=names.new, svg_of=names.svg, script=script(), policy=policy())
        )
        return printable(text)

    def write(self, path: str | Path) -> Path:
        """Write the page to a file, and create its folder."""
        file = checked_path(path, such_as="report.html")
        text = self.html()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with new_file(file) as new:
                new.write_text(text, encoding="utf-8")
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
        """Return a name made from the text that is not used on the page yet."""
        base = _slug(text)
        name, k = base, 2
        while name in self._given:
            name, k = f"{base}-{k}", k + 1
        self._given.add(name)
        return name

    def svg(self, figure: Figure, alt: str) -> Any:
        from markupsafe import Markup, escape

        try:
            return Markup(inline_svg(figure, self.new("picture"), alt))
        except (ValueError, ArithmeticError, RuntimeError) as error:  # numbers that no axis can show, such as 1e308
            return Markup("<p>This picture cannot be drawn: {}</p>").format(escape(printable_line(str(error), 200)))


@cache
def script() -> Any:
    """Return the page's script, as the page contains it."""
    from markupsafe import Markup

    return Markup("\n" + (files("spotsvm.reports.html") / "templates" / "page.js").read_text(encoding="utf-8"))


def policy() -> str:
    """Return the content-security policy: nothing is loaded, and only this script runs, identified by its hash."""
    digest = b64encode(hashlib.sha256(script().encode("utf-8")).digest()).decode("ascii")
    return f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:"


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # on use: most tunings make no page

    return Environment(
        loader=PackageLoader("spotsvm.reports.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )

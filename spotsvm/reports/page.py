"""A self-contained HTML page: sections of paragraphs, tables, pictures and code, read without network and script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spotsvm.csv_files import write_csv
from spotsvm.errors import StorageError
from spotsvm.file_paths import checked_path
from spotsvm.printable import printable, printable_line
from spotsvm.reports.drawing import colour_variables
from spotsvm.reports.parts import Code, Items, Notice, Picture, Table
from spotsvm.reports.svg import inline_svg

if TYPE_CHECKING:
    from jinja2 import Environment


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

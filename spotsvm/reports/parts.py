"""What a section of a page holds beside paragraphs: tables, pictures, code, lists and notices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.reports.cells import Cell, cell_of, cut_text, is_numeric

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

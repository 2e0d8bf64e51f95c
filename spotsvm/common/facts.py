"""The display of results: a title and a table, as text in a terminal and as HTML in a notebook; escaped lines of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from itertools import chain, repeat
from typing import Any

from spotsvm.common.text import aligned, printable_line

#: a title, and the rows of a table
Facts = tuple[str, Sequence[Sequence[Any]]]
_LONGEST = 60
#: styles of a table with headings of rows, of its rows and of its cells
_HEADED = (
    "border-collapse: collapse; color: inherit",
    "background: none",
    "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0",
)


class ShowsFacts:
    """Base class of results with a method `_facts`, which returns a title and the rows of a table."""

    def _facts(self) -> Facts:
        raise NotImplementedError(f"{type(self).__name__} has no _facts")

    def __repr__(self) -> str:
        title, rows = self._facts()
        title = printable_line(title, 300)
        return "\n".join([title, *aligned([_cell(cell) for cell in row] for row in rows)]) if rows else title

    def _repr_html_(self) -> str:
        title, rows = self._facts()
        table = html_table([map(_cell, row) for row in rows]) if rows else ""
        return f"<div><p><b>{escaped_line(title, 300)}</b></p>{table}</div>"


def html_table(
    rows: Iterable[Iterable[str]], head: Iterable[str] = (), caption: str = "", *, longest: int = _LONGEST, headed: bool = False
) -> str:
    """Return texts as an HTML table; the first cell of a `headed` row is its heading, and the colours are those of the page."""
    table, row, cell = (f' style="{style}"' if headed else "" for style in _HEADED)

    def line(texts: Iterable[str], first: str, others: str) -> str:
        cells = zip(chain([first], repeat(others)), texts, strict=False)
        return "".join([f"<tr{row}>", *(f"<{tag}{cell}>{escaped_line(text, longest)}</{tag}>" for tag, text in cells), "</tr>"])

    above = f"<caption>{escaped_line(caption, 300)}</caption>" if caption else ""
    above += f"<thead>{line(head, 'th', 'th')}</thead>" if head else ""
    body = "".join(line(texts, "th" if headed else "td", "td") for texts in rows)
    return f"<table{table}>{above}<tbody>{body}</tbody></table>"


def escaped_line(text: str, longest: int = _LONGEST) -> str:
    """Return text as one line of HTML."""
    return escape(printable_line(text, longest))


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable_line(str(value), _LONGEST)

"""The display of results: a title and a table, as text in a terminal and as HTML in a notebook; escaped lines of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from spotsvm.common.text import aligned, printable_line

#: a title, and the rows of a table
Facts = tuple[str, Sequence[Sequence[Any]]]
_LONGEST = 60


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


def html_table(rows: Iterable[Iterable[str]], head: Iterable[str] = (), caption: str = "") -> str:
    """Return texts as an HTML table."""

    def line(tag: str, texts: Iterable[str]) -> str:
        return "".join(["<tr>", *(f"<{tag}>{escaped_line(text)}</{tag}>" for text in texts), "</tr>"])

    above = f"<caption>{escaped_line(caption, 300)}</caption>" if caption else ""
    above += f"<thead>{line('th', head)}</thead>" if head else ""
    return f"<table>{above}<tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def escaped_line(text: str, longest: int = _LONGEST) -> str:
    """Return text as one line of HTML."""
    return escape(printable_line(text, longest))


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable_line(str(value), _LONGEST)

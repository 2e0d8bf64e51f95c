"""The display of results: a title and a table, as text in a terminal and as HTML in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from spotsvm.common.text import aligned, printable_line

#: a title, and the rows of a table
Facts = tuple[str, Sequence[Sequence[Any]]]
_LONGEST = 60


class ShowsFacts:
    """Base class of results with a method `_facts`, which returns a title and the rows of a table.

    Examples
    --------
    >>> class Point(ShowsFacts):
    ...     def _facts(self):
    ...         return "Point", [("x", 0.25), ("name", "a<b")]
    >>> Point()
    Point
    x     0.25
    name  a<b
    >>> Point()._repr_html_()[:59]
    '<div><p><b>Point</b></p><table><tbody><tr><td>x</td><td>0.2'
    """

    def _facts(self) -> Facts:
        raise NotImplementedError(f"{type(self).__name__} has no _facts")

    def __repr__(self) -> str:
        title, rows = self._facts()
        return "\n".join([title, *aligned([_cell(cell) for cell in row] for row in rows)]) if rows else title

    def _repr_html_(self) -> str:
        title, rows = self._facts()
        body = "".join(f"<tr>{''.join(f'<td>{escape(_cell(cell))}</td>' for cell in row)}</tr>" for row in rows)
        table = f"<table><tbody>{body}</tbody></table>" if rows else ""
        return f"<div><p><b>{escape(printable_line(title, 300))}</b></p>{table}</div>"


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else printable_line(str(value), _LONGEST)

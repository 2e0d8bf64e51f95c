"""Tables as Markdown, and as pictures for studies without their own figure."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS
from spotsvm.common.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PANELS = 4
#: characters of a line of a label, and its lines at most
_LINE, _LINES = 34, 3
#: names of the columns with the ends of intervals; after the name of another column they belong to this column
_ENDS = (("low", "high"), ("lower quartile", "upper quartile"))


def draw_table(table: pd.DataFrame, columns: Sequence[str] = (), keys: Sequence[str] = (), together: bool = False) -> Figure:
    """Draw numeric columns in panels side by side: a point per row, and a line if the table has an interval of the column.

    Columns that are not numeric, and `keys`, name the rows. By default columns with an interval (see `interval_columns`), or else
    the first that differ; `together` in one panel.
    """
    from matplotlib.figure import Figure

    table, shown, labels = _layout(table, columns, keys)
    if together and len(shown) > 1:
        return _draw_together(table, shown, labels)
    figure = Figure(figsize=(_width(labels) + 2.4 * max(len(shown), 1), _height(labels)), layout="constrained")
    if not shown:
        figure.text(0.5, 0.5, "The table holds no numbers.", ha="center")
        return figure
    ends = interval_columns(table)
    for k, (panel, name) in enumerate(zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True)):
        _draw_column(panel, table, name, ends.get(name), labels if k == 0 else [""] * len(labels))
    return figure


def table_figures(
    table: pd.DataFrame, columns: Sequence[str] = (), keys: Sequence[str] = (), together: bool = False
) -> list[Figure]:
    """Draw a figure for each column, which a page can show side by side or below each other."""
    from matplotlib.figure import Figure

    named, shown, labels = _layout(table, columns, keys)
    if together and len(shown) > 1:
        return [draw_table(table, columns, keys, together)]
    figures = []
    for name in shown:
        figure = Figure(figsize=(_width(labels) + 2.8, _height(labels)), layout="constrained")
        _draw_column(figure.subplots(), named, name, interval_columns(named).get(name), labels)
        figures.append(figure)
    return figures or [draw_table(table, columns, keys)]


def _draw_together(table: pd.DataFrame, shown: Sequence[str], labels: Sequence[str]) -> Figure:
    """Draw columns with the same unit in one panel, slightly above each other."""
    from matplotlib.figure import Figure

    each = 0.13 * len(shown) + 0.12
    height = 1.2 + max(each, 0.14 * max(label.count("\n") + 1 for label in labels) + 0.08) * max(len(labels), 2)
    figure = Figure(figsize=(_width(labels) + 3.6, height), layout="constrained")
    panel = figure.subplots()
    ends = interval_columns(table)
    for k, name in enumerate(shown):
        shift = 0.6 * ((k + 0.5) / len(shown) - 0.5)
        _draw_column(panel, table, name, ends.get(name), labels, COLOURS[k], shift)
    panel.set_title("")
    panel.grid(False, axis="y")
    figure.legend(*panel.get_legend_handles_labels(), loc="outside upper left", ncols=2, frameon=False, fontsize=8)
    return figure


def interval_columns(table: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """Return the columns that have an interval in a table, and the columns with its ends.

    Ends are "low" and "high", or the quartiles, after the column; or "x, low" and "x, high", or "x low" and "x high", anywhere.
    """
    names = [str(name) for name in table.columns]
    found = {}
    for low, high in _ENDS:
        if low in names and high in names and (k := names.index(low)) > 0:
            found[names[k - 1]] = (low, high)
        for name in names:
            for between in (", ", " "):
                if f"{name}{between}{low}" in names and f"{name}{between}{high}" in names:
                    found[name] = (f"{name}{between}{low}", f"{name}{between}{high}")
    return found


def _layout(table: pd.DataFrame, columns: Sequence[str], keys: Sequence[str]) -> tuple[pd.DataFrame, list[str], list[str]]:
    """Return the table with texts as keys, the columns to draw, and the labels of the rows."""
    table = table.set_axis([str(name) for name in table.columns], axis=1)
    table = table.assign(**{key: [f"{key} = {value:g}" for value in table[key]] for key in keys})
    numbers = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name]) and table[name].dtype != bool]
    texts = [name for name in table.columns if name not in numbers]
    if not texts and len(numbers) > 1:
        texts, numbers = numbers[:1], numbers[1:]
    intervals = {name: ends for name, ends in interval_columns(table).items() if {name, *ends} <= set(numbers)}
    numbers = [name for name in numbers if all(name not in ends for ends in intervals.values())]
    telling = [name for name in columns if name in numbers] or [name for name in numbers if name in intervals]
    telling = telling or [name for name in numbers if table[name].nunique() > 1] or numbers
    return table, telling[:_PANELS], _labels(table, texts)


def _labels(table: pd.DataFrame, names: list[str]) -> list[str]:
    """Name each row by its columns that are not numeric, or by its index if there are none."""
    if not names:
        return [str(k + 1) for k in range(len(table))]
    unique = next((name for name in names if table[name].map(str).is_unique), None)
    telling = [unique] if unique else [name for name in names if table[name].map(str).nunique() > 1] or names[:1]
    rows = [", ".join(str(value) for value in row if pd.notna(value)) for row in table[telling].itertuples(index=False)]
    return ["\n".join(wrap(row, _LINE, max_lines=_LINES, placeholder=" ...")) for row in rows]


def _width(labels: Sequence[str]) -> float:
    """Return the width of labels in inches."""
    return 0.3 + 0.066 * max((len(line) for label in labels for line in label.split("\n")), default=0)


def _height(labels: Sequence[str]) -> float:
    """Return the height of as many rows in inches."""
    lines = max((label.count("\n") + 1 for label in labels), default=1)
    each = max(0.22 if len(labels) > 12 else 0.3, 0.14 * lines + 0.08)
    return 0.9 + each * max(len(labels), 3)


def _draw_column(
    panel: Axes,
    table: pd.DataFrame,
    name: str,
    ends: tuple[str, str] | None,
    labels: Sequence[str],
    colour: str = COLOURS[0],
    shift: float = 0.0,
) -> None:
    """Draw one column, with intervals if there are ends; the axis is logarithmic for values over more than two orders."""
    from matplotlib.ticker import MaxNLocator

    values, rows = table[name].to_numpy(dtype=float), np.arange(len(table)) + shift
    every = values
    if ends is not None:
        low, high = (table[end].to_numpy(dtype=float) for end in ends)
        sure = np.isfinite(low) & np.isfinite(high)
        panel.hlines(rows[sure], low[sure], high[sure], color=colour, lw=2.2, alpha=0.5)
        every = np.concatenate([values, low, high])
    panel.plot(values, rows, "o", color=colour, ms=4.5, label=name)
    known = every[np.isfinite(every)]
    if len(known) and known.min() > 0 and known.max() > 100 * known.min():
        panel.set_xscale("log")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(4))
    if len(known) and known.min() < 0 < known.max():
        panel.axvline(0.0, color="0.5", lw=1.0, zorder=0)
    panel.set_title(name, fontsize=9)
    panel.set_yticks(range(len(labels)), labels, fontsize=8)
    panel.set_ylim(len(labels) - 0.5, -0.5)
    panel.tick_params(labelsize=8)
    panel.grid(color="0.9", lw=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def markdown_table(table: pd.DataFrame, floatfmt: str = ".4g", missing: str = "nan") -> str:
    """Return a table as markdown, without its index; bars and control characters in names and texts are escaped."""
    cells = table.map(_escaped).rename(columns=_escaped)
    if table.isna().any(axis=None):
        cells = cells.astype(object).where(cells.notna(), None)
    text: str = cells.to_markdown(index=False, floatfmt=floatfmt, missingval=missing)
    return text


def _escaped(cell: object) -> object:
    # a line feed would end the row
    return printable(" ".join(cell.splitlines())).replace("|", r"\|") if isinstance(cell, str) else cell

"""A table as markdown and, for studies without a figure of their own, as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.text import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_PANELS = 4
_COLOUR = "#0072B2"
_LABEL = 60  # characters


def draw_table(table: pd.DataFrame, columns: Sequence[str] = (), keys: Sequence[str] = ()) -> Figure:
    """Draw columns of numbers, a dot a row; what is not a number names the rows, or else the first column.

    Parameters
    ----------
    table : DataFrame
        A row of each thing that is compared.
    columns : sequence of str, default=()
        Which columns to draw; names that the table lacks are ignored. If none is left, the first that differ from row to row.
    keys : sequence of str, default=()
        Columns of numbers that name the rows, and are not drawn.

    Examples
    --------
    >>> figure = draw_table(pd.DataFrame({"search": ["a", "b"], "best": [1.0, 2.0], "runs": [5, 5]}))
    >>> [panel.get_title() for panel in figure.axes]
    ['best']
    """
    from matplotlib.figure import Figure

    table = table.set_axis([str(name) for name in table.columns], axis=1)
    table = table.assign(**{key: [f"{key} = {value:g}" for value in table[key]] for key in keys})
    numbers = [name for name in table.columns if pd.api.types.is_numeric_dtype(table[name]) and table[name].dtype != bool]
    texts = [name for name in table.columns if name not in numbers]
    if not texts and len(numbers) > 1:
        texts, numbers = numbers[:1], numbers[1:]
    telling = [name for name in columns if name in numbers] or [name for name in numbers if table[name].nunique() > 1] or numbers
    labels = _labels(table, texts)
    height = 1.2 + (0.22 if len(labels) > 12 else 0.3) * max(len(labels), 3)
    shown = telling[:_PANELS]
    figure = Figure(figsize=(2.2 + 2.4 * max(len(shown), 1), height), layout="constrained")
    if not shown:
        figure.text(0.5, 0.5, "The table holds no numbers.", ha="center")
        return figure
    for k, (panel, name) in enumerate(zip(figure.subplots(1, len(shown), squeeze=False)[0], shown, strict=True)):
        _draw_column(panel, table[name].to_numpy(dtype=float), name)
        panel.set_yticks(range(len(labels)), labels if k == 0 else [""] * len(labels), fontsize=8)
        panel.set_ylim(len(labels) - 0.5, -0.5)
    return figure


def _labels(table: pd.DataFrame, names: list[str]) -> list[str]:
    """Name each row by its columns that are not numbers, or by its number if there are none."""
    if not names:
        return [str(k + 1) for k in range(len(table))]
    unique = next((name for name in names if table[name].map(str).is_unique), None)
    telling = [unique] if unique else [name for name in names if table[name].map(str).nunique() > 1] or names[:1]
    rows = [", ".join(str(value) for value in row if pd.notna(value)) for row in table[telling].itertuples(index=False)]
    return [row if len(row) <= _LABEL else f"{row[: _LABEL - 3]}..." for row in rows]


def _draw_column(panel: Axes, values: np.ndarray, name: str) -> None:
    """Draw one column; logarithmically if its values are of more than two orders."""
    from matplotlib.ticker import MaxNLocator

    panel.plot(values, np.arange(len(values)), "o", color=_COLOUR, ms=4.5)
    known = values[np.isfinite(values)]
    if len(known) and known.min() > 0 and known.max() > 100 * known.min():
        panel.set_xscale("log")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(4))
    panel.set_title(name, fontsize=9)
    panel.tick_params(labelsize=8)
    panel.grid(color="0.9", lw=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def markdown_table(table: pd.DataFrame, floatfmt: str = ".4g", missing: str = "nan") -> str:
    r"""Return a table as markdown, without its index; bars and control characters in names and texts are escaped.

    Parameters
    ----------
    table : DataFrame
        The table.
    floatfmt : str, default=".4g"
        How numbers are shown.
    missing : str, default="nan"
        What is shown for a missing value.

    Examples
    --------
    >>> print(markdown_table(pd.DataFrame({"kernel": ["|x_i|^2"], "max|f|": [0.5]})))
    | kernel    |   max\|f\| |
    |:----------|-----------:|
    | \|x_i\|^2 |        0.5 |
    """
    cells = table.map(_escaped).rename(columns=_escaped)
    if table.isna().any(axis=None):
        cells = cells.astype(object).where(cells.notna(), None)
    text: str = cells.to_markdown(index=False, floatfmt=floatfmt, missingval=missing)
    return text


def _escaped(cell: object) -> object:
    # a line feed would end the row
    return printable(" ".join(cell.splitlines())).replace("|", r"\|") if isinstance(cell, str) else cell

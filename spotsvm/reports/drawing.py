"""How a report's pictures are drawn: one style, whatever the reader's own settings of matplotlib are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from spotsvm.printable import printable_line
from spotsvm.reports.colours import LEVELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LONGEST = 200
_STYLE: Any = {
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": False,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
}


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """Give a new figure of this many inches, and draw inside in the report's style."""
    from matplotlib import rc_context, rcParamsDefault
    from matplotlib.figure import Figure

    # not the backend: setting it would open a window where there is one
    plain: Any = {key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))}
    # an axis from -1e308 to 1e308 has no width: what comes of that is told where the picture is made
    with rc_context({**plain, **_STYLE}), np.errstate(over="ignore", invalid="ignore"):
        yield Figure(figsize=(width, height), layout="constrained")


def new_axes(ax: Axes | None, width: float = 6.0, height: float = 4.0) -> Axes:
    """Return `ax`, or the axes of a new figure of pyplot if it is None."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # on use: it takes half a second

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Axes) -> None:
    """Draw a faint grid for the y axis, and no frame at the top and on the right."""
    ax.grid(axis="y", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def panels(figure: Figure, number: int, columns: int) -> list[Axes]:
    """Give so many axes in rows of so many columns."""
    rows = -(-number // columns)
    every: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for unused in every[number:]:
        unused.remove()
    return every[:number]


def plain(text: str) -> str:
    r"""Give a text of the user's as a label of one line, in which a dollar is a dollar and no formula begins.

    Examples
    --------
    >>> plain("a$b$")
    'a\\$b\\$'
    """
    return printable_line(text, _LONGEST).replace("$", r"\$")


def count_axis(ax: Axes) -> None:
    """Let the x axis count: from 0 on, ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_xlim(0.0, None)


def set_ticks(ax: Axes, which: str, places: Sequence[float], labels: Sequence[str]) -> None:
    """Set the ticks of the x or the y axis; many or long labels below an axis are turned."""
    texts = [plain(label) for label in labels]
    if which == "y":
        ax.set_yticks(list(places), texts)
        return
    ax.set_xticks(list(places), texts)
    if sum(len(text) + 2 for text in texts) > 12.0 * ax.get_figure().get_figwidth() / _columns(ax):  # type: ignore[union-attr]
        ax.tick_params(axis="x", labelrotation=35)
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")


def level_map(sign: float) -> Any:
    """Give the colours of a map, so that better values stand out: `sign` is 1 if a smaller value is better, else -1."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(list(reversed(LEVELS)) if sign > 0 else list(LEVELS))


def _columns(ax: Axes) -> int:
    grid = ax.get_gridspec()
    return 1 if grid is None else int(grid.ncols)

"""The style of figures and their colours, in a light and a dark scheme, independent of the user's settings of matplotlib."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import numpy as np

from spotsvm.common.text import printable_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Okabe and Ito's palette, safe for the colour-blind, without its yellow, which is hard to see on paper
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
BLUE, ORANGE, GREEN = COLOURS[:3]
#: name of a CSS variable to its colour in the light and in the dark scheme
_BASE = {
    "paper": ("#ffffff", "#14171c"),
    "ink": ("#1b1f24", "#e8eaed"),
    "quiet": ("#57606a", "#a3adb8"),
    "line": ("#d0d7de", "#3d444d"),
    "panel": ("#f6f8fa", "#1d2229"),
    "link": ("#0a58ad", "#7cb8ff"),
    "warn": ("#8a4b00", "#f0b465"),
    "warn-panel": ("#fff6e6", "#2b2213"),
    "good": ("#006b4f", "#5fd3ac"),
    "shade": ("#00000033", "#ffffff38"),
}
_SERIES = (
    ("#0072b2", "#4aa8e8"),
    ("#c24f00", "#ff8c42"),
    ("#00845f", "#2fc79a"),
    ("#b0578a", "#e39bc4"),
    ("#a87100", "#f2b134"),
    ("#2d8fc7", "#8fd3ff"),
)
_RED = ("#c5221f", "#ff7b72")
#: fills of a map, from the worst to the best values; pictures use these colours unchanged
LEVELS = ("#f3f7fb", "#dde9f4", "#c5daed", "#a9c9e4", "#88b4d9", "#659dcb", "#4484ba", "#2a6ba5", "#14518a")
_LEVELS_DARK = ("#171d25", "#1b2733", "#1f3244", "#234058", "#28506f", "#2e6288", "#3876a3", "#4a8dbd", "#67a8d6")
_GREYS = 20
#: matplotlib's own colours, replaced by the colours of the series
_ALIASES = {
    "#1f77b4": "series-0",
    "#ff7f0e": "series-1",
    "#2ca02c": "series-2",
    "#d62728": "red",
    "#9467bd": "series-3",
    "#8c564b": "series-4",
    "#e377c2": "series-3",
    "#bcbd22": "series-4",
    "#17becf": "series-5",
    "#0000ff": "series-0",
    "#008000": "series-2",
    "#ff0000": "red",
}
_NAMES = (
    {colour.lower(): f"series-{k}" for k, colour in enumerate(COLOURS[: len(_SERIES)])}
    | {colour: f"level-{k}" for k, colour in enumerate(LEVELS)}
    | _ALIASES
)
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


_IN_PYPLOT: ContextVar[bool] = ContextVar("in pyplot", default=False)


@contextmanager
def in_pyplot() -> Iterator[None]:
    """Draw figures inside the context with pyplot, so that notebooks and `pyplot.show` show them."""
    token = _IN_PYPLOT.set(True)
    try:
        yield
    finally:
        _IN_PYPLOT.reset(token)


@contextmanager
def drawing(width: float, height: float) -> Iterator[Figure]:
    """Create a figure of this size in inches; the context has the report's style."""
    from matplotlib import rc_context, rcParamsDefault
    from matplotlib.figure import Figure

    # not the backend, as setting it could open a window
    plain: Any = {key: value for key, value in rcParamsDefault.items() if not key.startswith(("backend", "interactive"))}
    # an axis from -1e308 to 1e308 has no width; the caller handles it
    with rc_context({**plain, **_STYLE}), np.errstate(over="ignore", invalid="ignore"):
        if not _IN_PYPLOT.get():
            yield Figure(figsize=(width, height), layout="constrained")
            return
        from matplotlib import pyplot  # on use: it takes half a second

        yield pyplot.figure(figsize=(width, height), layout="constrained")


def new_axes(ax: Axes | None, width: float = 6.0, height: float = 4.0) -> Axes:
    """Return `ax`, or the axes of a new pyplot figure if `ax` is None."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # on use: it takes half a second

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


class AxesArray(np.ndarray[Any, np.dtype[np.object_]]):
    """An array of axes that also has their figure."""

    @property
    def figure(self) -> Figure:
        """The figure of the first axes, for example to save it: `axes.figure.savefig("front.png")`."""
        first: Any = self.flat[0]
        found: Figure = first.figure
        return found


def axes_array(axes: Sequence[Axes]) -> AxesArray:
    """Return several axes as an array."""
    return np.array(axes, dtype=object).view(AxesArray)


def tidy(ax: Axes) -> None:
    """Draw a faint grid for the y axis, and no frame at the top and on the right."""
    ax.grid(axis="y", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def panels(figure: Figure, number: int, columns: int) -> list[Axes]:
    """Return `number` axes of a figure, arranged in rows of `columns`."""
    rows = -(-number // columns)
    every: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for unused in every[number:]:
        unused.remove()
    return every[:number]


#: prefixes of the names of artists that a page links with trials: one trial, one trial per marker, or the recommended trial
ONE_TRIAL, TRIALS, CHOSEN = "trial:", "trials:", "chosen:"


def name_trials(artist: Artist, numbers: Sequence[int]) -> None:
    """Store the trials that an artist shows, one per marker in this order; a page links all marks of the same trial."""
    artist.set_gid(TRIALS + ",".join(map(str, numbers)))


def name_trial(artist: Artist, number: int) -> None:
    """Store that a whole artist shows one trial."""
    artist.set_gid(f"{ONE_TRIAL}{number}")


def name_chosen(artist: Artist, label: str) -> None:
    """Store that an artist marks the recommended trial; `label` is its tooltip."""
    artist.set_gid(f"{CHOSEN}{label}")


def draw_intervals(
    ax: Axes, labels: Sequence[str], values: Sequence[float], lows: Sequence[float], highs: Sequence[float]
) -> None:
    """Draw a point and its interval in each row, the first at the top; a point without interval has nan ends."""
    places = np.arange(len(labels))[::-1]
    point, low, high = (np.asarray(one, dtype=float) for one in (values, lows, highs))
    sure = np.isfinite(low) & np.isfinite(high)
    ax.hlines(places[sure], low[sure], high[sure], color=COLOURS[0], lw=2.4, alpha=0.55)
    ax.plot(point, places, "o", color=COLOURS[0], ms=5.5)
    set_ticks(ax, "y", places.tolist(), labels)
    ax.set_ylim(-0.6, len(labels) - 0.4)
    ax.grid(axis="x", color="0.9", lw=0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def plain(text: str) -> str:
    """Return text as a label of one line, with dollar signs escaped so that they start no formula."""
    return printable_line(text, _LONGEST).replace("$", r"\$")


def count_axis(ax: Axes) -> None:
    """Start the x axis at 0, with ticks at whole numbers only."""
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    ax.set_xlim(0.0, None)


def set_ticks(ax: Axes, which: str, places: Sequence[float], labels: Sequence[str]) -> None:
    """Set the ticks of the x or the y axis; many or long labels below an axis are rotated."""
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
    """Return the colours of a map in which better values stand out: `sign` is 1 if a smaller value is better, else -1."""
    from matplotlib.colors import ListedColormap

    return ListedColormap(list(reversed(LEVELS)) if sign > 0 else list(LEVELS))


def colour_variables() -> dict[str, tuple[str, str]]:
    """Return the CSS variables of a page: each name with its colours in the light and in the dark scheme."""
    found = dict(_BASE)
    found |= {f"series-{k}": pair for k, pair in enumerate(_SERIES)} | {"red": _RED}
    found |= {f"level-{k}": pair for k, pair in enumerate(zip(LEVELS, _LEVELS_DARK, strict=True))}
    (light_ink, dark_ink), (light_paper, dark_paper) = _BASE["ink"], _BASE["paper"]
    for k in range(_GREYS + 1):
        share = k / _GREYS
        found[f"grey-{k}"] = (_between(light_ink, light_paper, share), _between(dark_ink, dark_paper, share))
    return found


def variable_of(colour: str) -> str:
    """Return the CSS variable that replaces a colour (#rrggbb) in a figure; the colour itself if there is none.

    A grey is replaced by the grey with the same share between ink and paper, so that it is inverted in the dark scheme.
    """
    colour = colour.lower()
    name = _NAMES.get(colour)
    if name is None and (grey := re.fullmatch(r"#([0-9a-f]{2})\1\1", colour)):
        name = f"grey-{round(int(grey[1], 16) / 255 * _GREYS)}"
    return colour if name is None else f"var(--{name})"


def _between(start: str, end: str, share: float) -> str:
    a, b = ([int(text[k : k + 2], 16) for k in (1, 3, 5)] for text in (start, end))
    return "#" + "".join(f"{round(x + share * (y - x)):02x}" for x, y in zip(a, b, strict=True))


def _columns(ax: Axes) -> int:
    grid = ax.get_gridspec()
    return 1 if grid is None else int(grid.ncols)

"""The picture of the study of durability: a panel for each part that has something to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from studies.durability_cases import rows_of, without_skipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _RED, _GREY = "#0072B2", "#D55E00", "0.5"


def draw_durability(parts: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw the parts that have a panel.

    Parameters
    ----------
    parts : mapping of str to DataFrame
        The measurements of each part, a row a case.
    """
    from matplotlib.figure import Figure

    shown = {name: without_skipped(parts[name]) for name in _PANELS if name in parts}
    shown = {name: cases for name, cases in shown.items() if len(cases)}
    figure = Figure(figsize=(2.0 + 3.2 * max(len(shown), 1), 3.6), layout="constrained")
    if not shown:
        figure.text(0.5, 0.5, "None of the parts that were run has a picture.", ha="center")
        return figure
    for panel, (name, cases) in zip(figure.subplots(1, len(shown), squeeze=False)[0], shown.items(), strict=True):
        _PANELS[name](panel, cases)
        panel.tick_params(labelsize=8)
        panel.grid(color="0.9", lw=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    return figure


def _draw_kills(panel: Axes, cases: pd.DataFrame) -> None:
    sums = cases.groupby("kind", sort=False)[["kills", "lost"]].sum()
    places = np.arange(len(sums))
    panel.barh(places, sums.kills, color=_BLUE, label="kills")
    panel.barh(places, sums.lost, color=_RED, label="told trials lost")
    panel.set_yticks(places, list(sums.index))
    panel.invert_yaxis()
    panel.legend(fontsize=7, frameon=False)
    panel.set_title("kills", fontsize=9)


def _draw_cluster(panel: Axes, cases: pd.DataFrame) -> None:
    labels = [f"{row.search}, {row.mean_seconds:g} s,\n{row.how}" for row in rows_of(cases)]
    _draw_dots(panel, cases.busy, labels, goal=0.95)
    panel.set_xlim(0, 1.02)
    panel.set_title("busy share of virtual workers", fontsize=9)


def _draw_dots(panel: Axes, values: pd.Series, labels: list[str], goal: float) -> None:
    panel.plot(values, np.arange(len(values)), "o", color=_BLUE, ms=4.5)
    panel.axvline(goal, color=_GREY, ls="--", lw=0.8)
    panel.set_yticks(np.arange(len(values)), labels, fontsize=7)
    panel.invert_yaxis()


def _draw_throughput(panel: Axes, cases: pd.DataFrame) -> None:
    labels = [f"{row.search}, {row.objective},\n{row.where}" for row in rows_of(cases)]
    _draw_dots(panel, cases.ratio, labels, goal=1.8)
    panel.set_xlim(0.9, max(2.1, float(cases.ratio.max()) + 0.1))
    panel.set_title("two workers to one", fontsize=9)


def _draw_size(panel: Axes, cases: pd.DataFrame) -> None:
    for (search, runs), marker in zip(cases.groupby("search", sort=False), "os^v", strict=False):
        panel.plot(runs.trials, runs.ask_seconds, marker=marker, ms=4.5, lw=1, label=str(search))
    panel.axhline(1.0, color=_GREY, ls="--", lw=0.8)
    panel.set_xscale("log")
    panel.set_yscale("log")
    panel.set_xlabel("trials", fontsize=8)
    panel.legend(fontsize=7, frameon=False)
    panel.set_title("seconds of a suggestion", fontsize=9)


_PANELS: dict[str, Callable[[Axes, pd.DataFrame], None]] = {
    "kills": _draw_kills,
    "cluster": _draw_cluster,
    "throughput": _draw_throughput,
    "size": _draw_size,
}

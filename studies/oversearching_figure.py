"""The picture of the study of oversearching: optimism by trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from matplotlib.ticker import NullFormatter, ScalarFormatter

from spotsvm.reports.colours import COLOURS
from studies.oversearching_tables import means

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKERS = "osD^v"


def draw_optimism(runs: pd.DataFrame) -> Figure:
    """Draw the mean optimism by trials, with standard errors: above a line a search, below a line a number of rows.

    A column shows what was tuned: one gamma, or one a feature.

    Parameters
    ----------
    runs : DataFrame
        As `OversearchingStudy.frame` gives them.
    """
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(runs.tuned_parameters))
    figure = Figure(figsize=(4.0 * len(kinds) + 0.6, 6.0), layout="constrained")
    panels = figure.subplots(2, len(kinds), sharex=True, sharey=True, squeeze=False)
    for column, kind in enumerate(kinds):
        some = runs[runs.tuned_parameters == kind]
        for row, (what, unit) in enumerate((("search", ""), ("rows", " rows"))):
            panel = panels[row, column]
            _draw_lines(panel, means(some, [what, "trials"]), what, unit)
            if row == 0:
                panel.set_title(f"{kind}: {_parameters(some)} parameters", fontsize=10)
            if column == 0:
                panel.set_ylabel("optimism (percentage points)", fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("trials spent", fontsize=9)
    return figure


def _draw_lines(panel: Axes, found: pd.DataFrame, what: str, unit: str) -> None:
    for k, (label, line) in enumerate(found.groupby(what, sort=False)):
        # a little apart, so that the bars of standard errors do not hide each other
        trials = line["trials"] * 1.03 ** (k - 2)
        colour, marker = COLOURS[k % len(COLOURS)], _MARKERS[k % len(_MARKERS)]
        style: dict[str, Any] = {"color": colour, "marker": marker, "ms": 4, "lw": 1.3, "elinewidth": 0.8}
        panel.errorbar(trials, 100 * line["mean"], yerr=100 * line["se"], label=f"{label}{unit}", **style)
    panel.axhline(0, color="0.6", lw=0.8)
    panel.set_xscale("log")
    panel.set_xticks(sorted(found.trials.unique()))
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.tick_params(labelsize=8)
    panel.grid(axis="y", color="0.9", lw=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)
    panel.legend(frameon=False, fontsize=8)


def _parameters(runs: pd.DataFrame) -> str:
    low, high = runs.parameters.min(), runs.parameters.max()
    return f"{low}" if low == high else f"{low} to {high}"

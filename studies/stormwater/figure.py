"""The picture of the stormwater study: convergence, final errors, and a stretch of the series as measured and as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from spotsvm.comparison import Comparison
from spotsvm.comparison_figure import COLOURS
from studies.stormwater.error import BY_HAND, REGION, StormwaterErrors
from studies.stormwater.runs import HAND

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STRETCH = 400  # records
_GREY = "#666666"


def draw_stormwater(comparison: Comparison, runs: pd.DataFrame, objective: StormwaterErrors) -> Figure:
    """Draw three panels.

    Parameters
    ----------
    comparison : Comparison
        The searches on the set that is tuned on.
    runs : DataFrame
        What `run_rows` gave.
    objective : StormwaterErrors
        What was tuned.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    panels = figure.subplot_mosaic([["convergence", "errors"], ["series", "series"]], width_ratios=[1.5, 1])
    unit = f", {objective.series.unit}" if objective.series.unit else ""
    comparison.figure(ax=panels["convergence"])
    panels["convergence"].set_ylabel(f"best RMSE on set {objective.tuned_on}{unit}")
    _draw_errors(panels["errors"], comparison, runs, objective.tuned_on)
    panels["errors"].set_ylabel(f"RMSE on set {objective.tuned_on}{unit}")
    _draw_series(panels["series"], runs, objective)
    panels["series"].set_ylabel(f"level{unit}")
    return figure


def _draw_errors(panel: Axes, comparison: Comparison, runs: pd.DataFrame, number: int) -> None:
    """Draw what each search found from each seed, the mean as a bar, and the error by hand as a line."""
    results = comparison.results()
    for k, search in enumerate(comparison.searches):
        found = results[search].to_numpy()
        spread = np.linspace(-0.15, 0.15, len(found)) if len(found) > 1 else np.zeros(1)
        panel.plot(k + spread, found, "o", color=COLOURS[k % len(COLOURS)], ms=5)
        panel.plot([k - 0.28, k + 0.28], [found.mean()] * 2, "-", color=COLOURS[k % len(COLOURS)], lw=2)
    hand = float(runs.loc[runs.search == HAND, f"set_{number}"].iloc[0])
    panel.axhline(hand, color=_GREY, ls="--", lw=1)
    panel.annotate(HAND, (0.02, hand), xycoords=("axes fraction", "data"), va="bottom", fontsize=8, color=_GREY)
    panel.set_xticks(range(len(comparison.searches)), comparison.searches)
    panel.set_xlim(-0.6, len(comparison.searches) - 0.4)
    _tidy(panel)


def _draw_series(panel: Axes, runs: pd.DataFrame, objective: StormwaterErrors) -> None:
    """Draw the stretch of the set with the most to see in it: measured, and predicted by the best setting and the one by hand."""
    series, tuned = objective.series, runs[runs.tuned_on == objective.tuned_on]
    best = tuned.iloc[int(np.argmin(tuned[f"set_{objective.tuned_on}"].to_numpy()))]
    setting: dict[str, Any] = {name: best[name] for name in REGION}
    rows = _busiest(objective)
    panel.plot(rows, series.level[rows], color=_GREY, lw=1.8, label="measured")
    panel.plot(rows, objective.predict(setting, rows), color=COLOURS[0], lw=1.2, label=f"tuned by {best.search}")
    panel.plot(rows, objective.predict(BY_HAND, rows), "--", color=COLOURS[1], lw=1.2, label=HAND)
    panel.set_xlabel(f"record (of set {objective.tuned_on})")
    panel.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8)
    rain = panel.twinx()
    rain.bar(rows, series.rain[rows], width=1.0, color=COLOURS[5])
    rain.set_ylim(4 * max(float(series.rain[rows].max()), np.finfo(float).tiny), 0)  # from above, over a quarter of the height
    rain.set_ylabel("rain")
    rain.spines["top"].set_visible(False)
    panel.margins(x=0.01)
    _tidy(panel)


def _busiest(objective: StormwaterErrors) -> np.ndarray:
    """Return the records of the stretch in which the level moves most."""
    rows = objective.series.rows(objective.tuned_on)
    moves = np.append(0.0, np.abs(np.diff(objective.series.level[rows])).cumsum())
    length = min(_STRETCH, len(rows) - 1)
    first = int(np.argmax(moves[length:] - moves[: len(moves) - length]))
    return rows[first : first + length]


def _tidy(panel: Axes) -> None:
    panel.grid(axis="y", color="0.9", lw=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)

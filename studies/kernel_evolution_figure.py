"""The picture of the study of evolved kernels: boxplots of the test errors, as Fig. 3 of Koch et al. 2011."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from spotsvm.reports.colours import COLOURS
from studies.kernel_evolution_tables import ordered_methods, ordered_sets, table_9

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_errors(runs: pd.DataFrame) -> Figure:
    """Draw a panel a set: a box a method, with its splits as dots, and the printed mean as a rhomb.

    Parameters
    ----------
    runs : DataFrame
        As `KernelEvolutionStudy.frame` gives them.
    """
    from matplotlib.figure import Figure

    sets, methods = ordered_sets(runs), ordered_methods(runs)
    figure = Figure(figsize=(1.2 + (0.5 + 0.45 * len(methods)) * max(len(sets), 2), 4.2), layout="constrained")
    panels = figure.subplots(1, len(sets), sharey=True, squeeze=False)[0]
    means = table_9(runs).set_index(["set", "method"])["mean printed"]
    for panel, name in zip(panels, sets, strict=True):
        some = runs[runs["set"] == name]
        shown = [method for method in methods if (some.method == method).any()]
        for k, method in enumerate(shown):
            _draw_box(panel, k, some[some.method == method].error, COLOURS[methods.index(method) % len(COLOURS)])
            panel.plot(k, means[name, method], "D", color="black", mfc="white", ms=5, zorder=4)  # nan draws nothing
        panel.set_title(name, fontsize=10)
        panel.set_xticks(range(len(shown)), shown, rotation=60, ha="right", rotation_mode="anchor", fontsize=9)
        panel.set_xlim(-0.6, len(shown) - 0.4)
        panel.tick_params(axis="y", labelsize=8)
        panel.grid(axis="y", color="0.9", lw=0.6)
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("misclassified share of the test rows", fontsize=9)
    panels[0].set_ylim(bottom=0)
    return figure


def _draw_box(panel: Axes, place: int, errors: pd.Series, colour: str) -> None:
    panel.boxplot(
        [errors.to_numpy()],
        positions=[place],
        widths=0.55,
        manage_ticks=False,
        showfliers=False,  # every split is a dot
        patch_artist=True,
        boxprops={"facecolor": "white", "edgecolor": colour},
        medianprops={"color": colour, "lw": 2},
        whiskerprops={"color": colour},
        capprops={"color": colour},
    )
    # equal errors beside each other, so that none is hidden
    order = errors.groupby(errors.round(12)).cumcount()
    many = errors.groupby(errors.round(12)).transform("size")
    panel.plot(place + 0.07 * (order - (many - 1) / 2), errors, "o", color=colour, ms=2.5, alpha=0.7, zorder=3)

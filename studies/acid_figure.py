"""The picture of the acid study, as Fig. 2 of Koch et al. 2011 has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.reports.colours import COLOURS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_acid(table: pd.DataFrame) -> Figure:
    """Draw tuned and test scores of each tuner after each budget, means and standard deviations over the seeds.

    Parameters
    ----------
    table : DataFrame
        As `by_budget` gives it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.6), layout="constrained")
    ax = figure.subplots()
    tuned = table[table["design points"] > 0]
    budgets = sorted(tuned["design points"].unique())
    tuners = list(dict.fromkeys(tuned.tuner))
    width = 0.8 / len(tuners)
    for k, tuner in enumerate(tuners):
        part = tuned[tuned.tuner == tuner].set_index("design points").loc[budgets]
        at = np.arange(len(budgets)) + (k - (len(tuners) - 1) / 2) * width
        colour = COLOURS[k % len(COLOURS)]
        for shift, score, marker, fill in ((-0.12, "tuned", "o", colour), (0.12, "test", "s", "none")):
            spread = part[f"sd {score}"].fillna(0.0)
            ax.errorbar(
                at + shift * width, part[score], spread, fmt=marker, ms=6, mfc=fill, color=colour, capsize=2.5,
                label=f"{tuner}, {score}",
            )  # fmt: skip
    untuned = table[table["design points"] == 0]
    for style, tuner, test in zip((":", "--"), untuned.tuner, untuned.test, strict=True):
        ax.axhline(float(test), color="0.4", ls=style, lw=1.2, label=f"{tuner}, test")
    ax.set_xticks(range(len(budgets)), [str(budget) for budget in budgets])
    ax.set_xlabel("design points (two trainings each)")
    ax.set_ylabel("mean class accuracy")
    ax.grid(axis="y", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(fontsize=8, loc="outside right center", frameon=False)
    return figure

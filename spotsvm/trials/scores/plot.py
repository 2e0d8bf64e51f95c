"""The figure of an oversearching analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, new_axes, plain, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ROWS = {"nested": "outer fold", "repeats": "candidate, winner first", "folds": "fold"}
_TUNED = {"nested": "tuned score", "repeats": "tuned score", "folds": "best candidate of the fold"}
_OUTER = {"nested": "score on the outer fold", "repeats": "score on fresh splits", "folds": "winner of the search"}


def plot_optimism(
    rows: pd.DataFrame, curve: pd.DataFrame, *, optimism: float, method: str, metric: str, confidence: float, ax: Axes | None
) -> Axes:
    """Draw tuned scores and scores on new data: by trials spent if there is a curve, else by resample.

    Parameters
    ----------
    rows, curve : DataFrame
        `Optimism.frame()` and `Optimism.curve()`.
    optimism, method, metric, confidence
        Those of `Optimism`.
    ax : Axes or None
        Where to draw; None for a new figure.
    """
    ax = new_axes(ax)
    tuned, outer = _TUNED[method], _OUTER[method]
    if len(curve):
        trials, low, high = curve["n_trials"].to_numpy(), curve["tuned"] - curve["high"], curve["tuned"] - curve["low"]
        label = f"{confidence:.0%} interval of the difference"
        ax.fill_between(trials, low, high, step="post", color=COLOURS[1], alpha=0.15, lw=0, label=label)
        ax.plot(trials, curve["tuned"], "-", drawstyle="steps-post", color=COLOURS[0], label=tuned)
        ax.plot(trials, curve["outer"], "--", drawstyle="steps-post", color=COLOURS[1], label=outer)
        ax.set_xlabel(f"trials spent (mean of {len(rows)} outer folds)")
    else:
        at = np.arange(1, len(rows) + 1)
        ax.vlines(at, rows["outer"], rows["tuned"], color="0.7", lw=1.5)
        ax.plot(at, rows["tuned"], "o", color=COLOURS[0], label=tuned)
        ax.plot(at, rows["outer"], "s", color=COLOURS[1], label=outer)
        ax.set_xticks(at)
        ax.set_xlabel(_ROWS[method])
    ax.set_ylabel(plain(str(metric)))
    ax.set_title(f"optimism {optimism:.3g} ({method})", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    tidy(ax)
    return ax

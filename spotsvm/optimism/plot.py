"""The picture of an analysis of oversearching."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spotsvm.reports.drawing import COLOURS, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spotsvm.optimism.result import Optimism

_ROWS = {"nested": "outer fold", "repeats": "candidate, the winner first", "folds": "fold"}
_TUNED = {"nested": "tuned score", "repeats": "tuned score", "folds": "best candidate of the fold"}
_OUTER = {"nested": "score on the outer fold", "repeats": "fresh splits", "folds": "winner of the search"}


def plot_optimism(found: Optimism, ax: Axes | None = None) -> Axes:
    """Draw tuned scores and scores on new data: by trials spent where that is known, else by resample.

    Parameters
    ----------
    found : Optimism
        The result.
    ax : Axes, optional
        Where to draw; by default a new figure of 6 x 4 inches.
    """
    if ax is None:
        from matplotlib import pyplot  # on use: it takes half a second

        ax = pyplot.subplots(figsize=(6, 4), layout="constrained")[1]
    if found.points:
        _draw_curve(found, ax)
    else:
        _draw_rows(found, ax)
    ax.set_ylabel(plain(str(found.metric)))
    ax.set_title(f"optimism {found.optimism:.3g} ({found.method})", fontsize=10)
    ax.legend(frameon=False, fontsize=8)
    ax.grid(axis="y", color="0.9", lw=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _draw_curve(found: Optimism, ax: Axes) -> None:
    """Draw the mean tuned and outer score by trials; the band is the interval of their difference, below the tuned score."""
    curve = found.curve()
    trials = curve["n_trials"].to_numpy()
    ax.fill_between(
        trials, curve["tuned"] - curve["high"], curve["tuned"] - curve["low"], step="post", color=COLOURS[1], alpha=0.15, lw=0,
        label=f"{found.confidence:.0%} interval of the difference",
    )  # fmt: skip
    ax.plot(trials, curve["tuned"], "-", drawstyle="steps-post", color=COLOURS[0], label=_TUNED[found.method])
    ax.plot(trials, curve["outer"], "--", drawstyle="steps-post", color=COLOURS[1], label=_OUTER[found.method])
    ax.set_xlabel(f"trials spent (mean of {len(found.rows)} outer folds)")


def _draw_rows(found: Optimism, ax: Axes) -> None:
    frame = found.frame()
    at = np.arange(1, len(frame) + 1)
    ax.vlines(at, frame["outer"], frame["tuned"], color="0.7", lw=1.5)
    ax.plot(at, frame["tuned"], "o", color=COLOURS[0], label=_TUNED[found.method])
    ax.plot(at, frame["outer"], "s", color=COLOURS[1], label=_OUTER[found.method])
    ax.set_xticks(at)
    ax.set_xlabel(_ROWS[found.method])

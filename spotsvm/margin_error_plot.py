"""The figure of a front of margin against training error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ERRORS = {"hinge": "training error (mean hinge slack)", "count": "training error (share of rows short of the margin)"}
_EXACT = {"hinge": "exact solutions along C", "count": "exact solutions along C, at all scales"}
_CHOSEN_BY = {"knee": "knee", "validation": "smallest validation error"}


def plot_front(front: pd.DataFrame, exact: pd.DataFrame, selected: int, error: str, select: str, ax: Axes | None = None) -> Axes:
    """Draw a front; see `MarginErrorFront.plot`."""
    from matplotlib.ticker import LogLocator, NullFormatter  # on use: matplotlib takes half a second

    if ax is None:
        from matplotlib import pyplot

        ax = pyplot.subplots(layout="constrained")[1]
    column = f"{error}_error"
    ax.step(front["margin"], front[column], where="post", color="tab:blue", lw=1, alpha=0.6, zorder=1)
    ax.plot(front["margin"], front[column], ".", ms=4, color="tab:blue", label=f"front ({len(front)} points)", zorder=2)
    exact = exact[exact["source"] != "scaled"]
    ax.plot(exact["margin"], exact[column], "o", ms=6, mfc="none", mec="tab:orange", label=_EXACT[error], zorder=3)
    chosen = front.iloc[selected]
    ax.plot(
        chosen["margin"],
        chosen[column],
        "*",
        ms=14,
        color="tab:red",
        mec="black",
        label=f"in use: {_CHOSEN_BY[select]}",
        zorder=4,
    )
    if chosen["margin"] < float("inf"):
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))  # a front often spans less than a power of ten
        ax.xaxis.set_major_formatter("{x:g}")
        ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("margin 1 / ||w|| (wider is better)")
    ax.set_ylabel(_ERRORS[error])
    ax.legend()
    return ax

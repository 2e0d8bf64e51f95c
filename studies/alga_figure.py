"""The picture of the study `alga`: accuracy on V against the number of support vectors, a panel a set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

from spotsvm.reports.colours import COLOURS
from studies.alga_runs import ALGA, GA_MODEL, GASVM, GRID, GROWN, INHERITING, NSGA2, RANDOM, TUNED
from studies.alga_tables import by_method

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STYLES: dict[str, dict[str, Any]] = {
    ALGA: {"color": COLOURS[0], "marker": "o", "ls": "-"},
    INHERITING: {"color": COLOURS[4], "marker": "v", "ls": "-."},
    GROWN: {"color": COLOURS[5], "marker": "P", "ls": "none", "ms": 8},
    GASVM: {"color": COLOURS[1], "marker": "s", "ls": "--"},
    RANDOM: {"color": COLOURS[2], "marker": "^", "ls": ":"},
    GA_MODEL: {"color": COLOURS[3], "marker": "D", "ls": "none", "ms": 7},
    GRID: {"color": COLOURS[6], "marker": "*", "ls": "none", "ms": 11},
    TUNED: {"color": "black", "marker": "X", "ls": "none", "ms": 8},
}
_ALL: dict[str, Any] = {"ms": 5, "lw": 1.3, "mec": "white", "mew": 0.6}
_COLUMNS = 3


def draw_fronts(runs: pd.DataFrame) -> Figure:
    """Draw the means over the runs, a line a method over its K, and the mean front of NSGA-II.

    Parameters
    ----------
    runs : DataFrame
        As `AlgaStudy.frame` gives them.
    """
    from matplotlib.figure import Figure

    table = by_method(runs)
    names = list(dict.fromkeys(table["set"]))
    columns = min(_COLUMNS, len(names))
    lines = -(-len(names) // columns)
    figure = Figure(figsize=(4.3 * columns, 3.7 * lines + 0.5), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    for panel, name in zip(panels, names, strict=False):
        _draw_set(panel, table[table["set"] == name], runs[(runs["set"] == name) & (runs.method == NSGA2)])
        panel.set_title(name, fontsize=10)
    for panel in panels[len(names) :]:
        panel.set_visible(False)
    for k in range(0, len(names), columns):
        panels[k].set_ylabel("accuracy on V (%)", fontsize=9)
    handles = {label: handle for panel in panels for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=len(handles), frameon=False, fontsize=9)
    return figure


def _draw_set(panel: Axes, table: pd.DataFrame, fronts: pd.DataFrame) -> None:
    if len(fronts):
        vectors, accuracy = mean_front(fronts)
        panel.step(vectors, 100 * accuracy, where="post", color="0.55", lw=2.2, alpha=0.7, label=f"{NSGA2} (mean front)")
    for method, style in _STYLES.items():
        line = table[table.method == method]
        if not len(line):
            continue
        drawn = _ALL | style
        panel.plot(line["SVs"], line["V %"], label=method, **drawn)
    _write_sizes(panel, table)
    panel.set_xscale("log")
    panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    panel.xaxis.set_major_formatter(ScalarFormatter())
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.margins(x=0.1, y=0.13)
    panel.set_xlabel("support vectors", fontsize=9)
    panel.tick_params(labelsize=8)
    panel.grid(color="0.92", lw=0.6)
    panel.set_axisbelow(True)
    panel.spines[["top", "right"]].set_visible(False)


def _write_sizes(panel: Axes, table: pd.DataFrame) -> None:
    """Write K beside the points of ALGA and GASVM, above the more accurate and below the other."""
    for _, of_size in table[table.method.isin([ALGA, GASVM])].groupby("K"):
        order = of_size.sort_values("V %", ascending=False)
        for k, row in enumerate(order.to_dict("records")):
            up, alignment = ((6, "bottom"), (-6, "top"))[k]
            panel.annotate(
                f"({row['K']:.0f})",
                (row["SVs"], row["V %"]),
                xytext=(0, up),
                textcoords="offset points",
                ha="center",
                va=alignment,
                fontsize=7.5,
                color=_STYLES[str(row["method"])]["color"],
                path_effects=[withStroke(linewidth=2, foreground="white")],
            )


def mean_front(fronts: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Give numbers of support vectors, and the mean over the runs of the best accuracy on V with at most so many.

    Only numbers for which every run has a point.

    Parameters
    ----------
    fronts : DataFrame
        Columns fold, run, support_vectors and validation, a row a point.

    Examples
    --------
    >>> fronts = pd.DataFrame({"fold": 0, "run": [0, 0, 1], "support_vectors": [2, 9, 4], "validation": [0.6, 0.8, 0.7]})
    >>> [values.tolist() for values in mean_front(fronts)]
    [[4, 9], [0.65, 0.75]]
    """
    wide = fronts.pivot_table(index="support_vectors", columns=["fold", "run"], values="validation", aggfunc="max").sort_index()
    best = wide.ffill().cummax().dropna()
    return best.index.to_numpy(), best.mean(axis=1).round(12).to_numpy()

"""The figures of the study `alga`: accuracy against the number of support vectors, and SVMs in the plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.patheffects import withStroke
from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter
from numpy.typing import NDArray

from spotsvm.common.drawing import COLOURS
from spotsvm.studies.alga.runs import ALGA, GA_MODEL, GASVM, GRID, GROWN, INHERITING, NSGA2, RANDOM, REFITTED, TUNED, machine_of
from spotsvm.studies.alga.sets import Parts
from spotsvm.studies.alga.tables import by_method

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
    REFITTED: {"color": "black", "marker": "P", "ls": "none", "ms": 8},
}
_ALL: dict[str, Any] = {"ms": 5, "lw": 1.3, "mec": "white", "mew": 0.6}
_COLUMNS = 3


def draw_fronts(runs: pd.DataFrame) -> Figure:
    """Draw the means over the runs, a line per method over its K, and the mean front of NSGA-II."""
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
    """Return numbers of support vectors, and the mean over the runs of the best accuracy on V with at most this number.

    Only numbers for which every run has a point; a row of `fronts` is a point.
    """
    wide = fronts.pivot_table(index="support_vectors", columns=["fold", "run"], values="validation", aggfunc="max").sort_index()
    best = wide.ffill().cummax().dropna()
    return best.index.to_numpy(), best.mean(axis=1).round(12).to_numpy()


_GRID = 220
_SHADES = ("#f6d9a8", "#bcd9ee")  # where the machine says -1 and 1
_DOTS = ("#b06a00", "#00507f")
_SHOWN = 2500  # rows of V at most


class Machine(NamedTuple):
    """An SVM to draw: its split, its title, and the rows of T that it was trained on."""

    parts: Parts
    title: str
    svc: Any
    chosen: NDArray[np.intp]


def draw_machines(rows: Sequence[Sequence[Machine]]) -> Figure:
    """Draw SVMs on sets of two columns, a row per set, a panel per SVM.

    Shades are predictions, the line is the boundary, small dots are rows of V (at most 2500). Crosses are the chosen vectors; if
    all of T was chosen, only support vectors are shown. Support vectors are ringed.
    """
    from matplotlib.figure import Figure

    columns = max(len(row) for row in rows)
    figure = Figure(figsize=(3.3 * columns, 3.6 * len(rows)), layout="constrained")
    panels = figure.subplots(len(rows), columns, squeeze=False)
    for line, row in zip(panels, rows, strict=True):
        for panel, machine in zip(line, row, strict=False):
            _draw(panel, machine)
        line[0].set_ylabel(row[0].parts.name, fontsize=10)
        for panel in line[len(row) :]:
            panel.set_visible(False)
    return figure


def _draw(panel: Axes, machine: Machine) -> None:
    parts = machine.parts
    low, high = parts.X.min(axis=0) - 0.02, parts.X.max(axis=0) + 0.02
    across, up = np.meshgrid(np.linspace(low[0], high[0], _GRID), np.linspace(low[1], high[1], _GRID))
    value = machine.svc.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    panel.contourf(across, up, value, levels=[-np.inf, 0.0, np.inf], colors=_SHADES)
    panel.contour(across, up, value, levels=[0.0], colors="black", linewidths=1.1)
    shown = slice(None, None, max(1, -(-len(parts.validation_y) // _SHOWN)))
    colours = np.where(parts.validation_y[shown] > 0, _DOTS[1], _DOTS[0])
    size = float(np.clip(3000 / len(colours), 1.5, 7))
    across_V, up_V = parts.validation_X[shown].T
    panel.scatter(across_V, up_V, s=size, c=colours, linewidths=0, alpha=0.6, rasterized=True)
    vectors = parts.X[machine.chosen]
    few = len(machine.chosen) < len(parts.y)
    if few:
        panel.plot(*vectors.T, "x", color="black", ms=3.5, mew=0.9, rasterized=True)
    ring, width = (5.5, 0.9) if few else (2.2, 0.5)
    panel.plot(*vectors[machine.svc.support_].T, "o", color="black", mfc="none", ms=ring, mew=width, rasterized=True)
    panel.set_title(machine.title, fontsize=8.5)
    panel.set_xticks([])
    panel.set_yticks([])
    panel.set_xlim(low[0], high[0])
    panel.set_ylim(low[1], high[1])
    panel.set_aspect("equal")


_ENOUGH = 1.0  # points of accuracy on V below the best K


def selected_size(runs: pd.DataFrame, name: str) -> int:
    """Return the smallest K at which ALGA's mean accuracy on V is within a point of its best; 0 if it has not run on the set."""
    table = by_method(runs)
    ours = table[(table["set"] == name) & (table.method == ALGA)]
    enough = ours[ours["V %"] >= ours["V %"].max() - _ENOUGH]
    return int(enough["K"].min()) if len(enough) else 0


def selected_machines(parts: Parts, runs: pd.DataFrame) -> list[Machine]:
    """Train again the machines of run 0: of grid search, GA-model, and of GASVM and ALGA at `selected_size`."""
    size = selected_size(runs, parts.name)
    of_split = runs[(runs["set"] == parts.name) & (runs.fold == parts.fold) & (runs.run == 0)]
    machines = []
    for method, wanted in ((GRID, 0), (GA_MODEL, 0), (GASVM, size), (ALGA, size)):
        for row in of_split[(of_split.method == method) & (of_split["K"] == wanted)].to_dict("records"):
            machines.append(_machine(parts, {str(key): value for key, value in row.items()}))
    return machines


def _machine(parts: Parts, row: dict[str, Any]) -> Machine:
    svc, chosen = machine_of(parts, row)
    of_size = f", K = {row['K']}" if row["K"] else ""
    scores = f"V {100 * row['validation']:.1f} %, Psi {100 * row['test']:.1f} %, {row['support_vectors']} SVs"
    return Machine(parts, f"{row['method']}{of_size}\n{scores}", svc, chosen)

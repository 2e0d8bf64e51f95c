"""Fig. 1 (a) to (d) of Williams et al. 2005: a training set, both discriminant functions, and the magnification."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spotsvm.reports.colours import COLOURS
from studies.conformal_toy import Reading, draw_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]

_GRID = 121
_BELOW, _ABOVE = COLOURS[1], COLOURS[0]


def draw_passes(reading: Reading, seed: int, draw: int) -> Figure:
    """Draw the four panels for one draw of the toy experiment.

    Parameters
    ----------
    reading : Reading
        What is run.
    seed, draw : int
        Of the points.
    """
    from matplotlib.figure import Figure

    X = reading.side * draw_points(seed, draw)[0]
    y = reading.labels(X)
    machine = reading.fitted(X, y)
    ticks = np.linspace(-reading.side, reading.side, _GRID)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=2).reshape(-1, 2)
    path = machine.discriminant_path(grid)
    figure = Figure(figsize=(8.4, 8.0), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    panels[0].plot(ticks, reading.height_at(ticks), color="black", lw=1.4)
    _draw_points(panels[0], X, y, 1.0)
    panels[0].set_title(f"(a) {len(X)} training points, y = {reading.curve}", fontsize=10)
    _draw_levels(panels[1], ticks, path[0], "(b) first pass: f")
    _draw_magnification(panels[2], ticks, machine.magnification(grid))
    _draw_levels(panels[3], ticks, path[-1], "(d) last pass: f")
    for panel in panels[1:]:
        panel.plot(ticks, reading.height_at(ticks), color="0.45", lw=0.9, ls="--")
        _draw_points(panel, X, y, 0.3)
    for panel in panels:
        panel.set_aspect("equal")
        panel.set_xlim(-reading.side, reading.side)
        panel.set_ylim(-reading.side, reading.side)
        panel.tick_params(labelsize=8)
    return figure


def _draw_points(panel: Axes, X: Floats, y: Floats, alpha: float) -> None:
    for label, marker, colour in ((1.0, "+", _ABOVE), (-1.0, "_", _BELOW)):
        chosen = X[y == label]
        panel.plot(chosen[:, 0], chosen[:, 1], marker, color=colour, ms=6, alpha=alpha)


def _draw_levels(panel: Axes, ticks: Floats, f: Floats, title: str) -> None:
    """Draw contours of f, a unit apart, or half of one where f is small; that of 0 is thick."""
    values = f.reshape(len(ticks), len(ticks))
    largest = float(np.abs(values).max())
    step = 1.0 if largest > 2.5 else 0.5
    most = max(int(largest / step), 1)
    levels = [step * level for level in range(-most, most + 1) if level]
    lines = panel.contour(ticks, ticks, values, levels=levels, cmap="coolwarm_r", linewidths=0.9, linestyles="solid")
    panel.contour(ticks, ticks, values, levels=[0], colors="black", linewidths=1.8)
    panel.clabel(lines, fontsize=7)
    panel.set_title(title, fontsize=10)


def _draw_magnification(panel: Axes, ticks: Floats, found: Floats) -> None:
    values = found.reshape(len(ticks), len(ticks))
    lines = panel.contour(ticks, ticks, values, levels=8, cmap="viridis", linewidths=1.1)
    panel.clabel(lines, fontsize=7)
    panel.set_title("(c) magnification of the last pass's kernel, eq. 15", fontsize=10)

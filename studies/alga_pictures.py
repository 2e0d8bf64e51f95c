"""Pictures of machines in the plane: the boundary, the rows of V, the vectors chosen, and which of them are support vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.alga_parts import Parts

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_GRID = 220
_SHADES = ("#f6d9a8", "#bcd9ee")  # where the machine says -1 and 1
_DOTS = ("#b06a00", "#00507f")
_SHOWN = 2500  # rows of V at most


class Machine(NamedTuple):
    """A machine to draw.

    Parameters
    ----------
    parts : Parts
        The split.
    title : str
        What is written above it.
    svc : SVC
        The machine.
    chosen : ndarray of int
        The rows of T that it was trained on.
    """

    parts: Parts
    title: str
    svc: Any
    chosen: NDArray[np.intp]


def draw_machines(rows: Sequence[Sequence[Machine]]) -> Figure:
    """Draw machines on sets of two columns: a row a set, a panel a machine.

    Shades are what the machine says, the line its boundary; small dots are rows of V (2500 at most). Crosses are the vectors that
    were chosen; where all of T was, there are too many, and only support vectors are shown. Support vectors are ringed.

    Parameters
    ----------
    rows : sequence of sequences of Machine
        What to draw.
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

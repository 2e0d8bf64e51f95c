"""The figure of an oversearching matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spotsvm.reports.drawing import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spotsvm.optimism.set_matrix import OversearchingMatrix


def plot_set_matrix(matrix: OversearchingMatrix, ax: Axes | None = None) -> Axes:
    """Draw the matrix; see `OversearchingMatrix.plot`."""
    size = 2.2 + 0.9 * len(matrix.names)
    ax = new_axes(ax, size + 1.2, size)
    own = np.diagonal(matrix.mean)
    worse = 100 * (matrix.mean - own) / own * (1 if matrix.direction == "minimize" else -1)
    top = max(float(worse.max()), 1e-9)
    image = ax.imshow(worse, cmap="Blues", vmin=min(float(worse.min()), 0.0), vmax=top)
    for v, t in np.ndindex(worse.shape):
        spread = "" if np.isnan(matrix.std[v, t]) else f"\n({matrix.std[v, t]:.2g})"
        colour = "white" if worse[v, t] > 0.6 * top else "black"
        ax.text(t, v, f"{matrix.mean[v, t]:.4g}{spread}", ha="center", va="center", color=colour)
    labels = [f"{name}\nV = {100 * v:.1f} %" for name, v in zip(matrix.names, matrix.V, strict=True)]
    ax.set_xticks(range(len(matrix.names)), labels)
    ax.set_yticks(range(len(matrix.names)), matrix.names)
    ax.set_xlabel("applied to")
    ax.set_ylabel("tuned on")
    ax.figure.colorbar(image, ax=ax, label="worse than tuned on the set itself (%)")
    return ax

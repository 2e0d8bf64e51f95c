"""The toy experiment of Williams et al. 2005: points on either side of a curve in [-1, 1]^2, and the paper's figure.

The rivals of the paper, Amari and Wu's factors, run beside it, also on points that are dense in one half of the square.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spotsvm.common.drawing import COLOURS
from spotsvm.estimators.conformal.conformal_svc import ConformalSVC
from spotsvm.studies.common.data import Floats
from spotsvm.studies.common.jobs import Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


C, SIGMA = 10.0, 0.5
N_TRAIN, N_TEST = 100, 1000
#: the printed relative improvement, in percent
PRINTED = 14.5


CURVE = "2 exp(-4 x^2) - 1"


def height_at(x: Floats) -> Floats:
    """Return the y of the curve; the paper gives exp(-4 x^2) "up to a linear transform"."""
    y: Floats = 2.0 * np.exp(-4.0 * x**2) - 1.0
    return y


def labels_of(X: Floats) -> Floats:
    """Return 1 above the curve and -1 below."""
    return np.where(X[:, 1] > height_at(X[:, 0]), 1.0, -1.0)


PAPER, GLOBAL, LOCAL = "boundary", "support vectors", "support vectors, local"
#: the paper's factor, eq. 8; eq. 7 with one kappa (Amari and Wu 1999); and with a kappa for each (Wu and Amari 2001)
FACTORS = (PAPER, GLOBAL, LOCAL)
#: share of the training points in the left half of the square
EVEN, DENSE_LEFT = 0.5, 0.9


def two_passes(factor: str, bias: bool, C: float, sigma: float, n_features: int) -> ConformalSVC:
    """Return the SVM of a factor, with or without the threshold b of eq. 1.

    The one kappa is that of Amari and Wu, whose bells have the width sigma / sqrt(n) in n dimensions.
    """
    kappa: float | str = n_features / (2.0 * sigma**2) if factor == GLOBAL else "auto"
    return ConformalSVC(C=C, sigma=sigma, factor="boundary" if factor == PAPER else "support", kappa=kappa, bias=bias)


def draw_points(seed: int, draw: int, n_train: int = N_TRAIN, n_test: int = N_TEST, left: float = EVEN) -> tuple[Floats, Floats]:
    """Draw the training and the test points of one draw in [-1, 1]^2, a share `left` of the training points in the left half."""
    rng = np.random.default_rng([seed, draw])
    X, X_test = rng.uniform(-1.0, 1.0, size=(n_train, 2)), rng.uniform(-1.0, 1.0, size=(n_test, 2))
    if left != EVEN:
        side = np.where(np.arange(n_train) < round(left * n_train), -1.0, 1.0)
        X[:, 0] = side * np.abs(X[:, 0])
    return X, X_test


def run_toy(factor: str, bias: bool, left: float, seed: int, draw: int) -> Row:
    """Run one draw; return its test errors as shares of the test points, nan if all training points are on one side.

    `before` and `after` are the first and the second pass, `far_` outside the first's margin, |f| > 1; `max_f` its largest |f|.
    """
    X, X_test = draw_points(seed, draw, left=left)
    y, y_test = labels_of(X), labels_of(X_test)
    row: Row = {"draw": draw} | dict.fromkeys(("before", "after", "far_before", "far_after", "max_f"), np.nan)
    if abs(y.sum()) < len(y):
        machine = two_passes(factor, bias, C, SIGMA, X.shape[1]).fit(X, y)
        f = machine.staged_decision_function(X_test)
        wrong = (f[[0, -1]] >= 0) != (y_test > 0)
        far = np.abs(f[0]) > 1
        row |= dict(zip(("before", "after"), wrong.mean(axis=1).tolist(), strict=True))
        row |= dict(zip(("far_before", "far_after"), (wrong & far).mean(axis=1).tolist(), strict=True))
        row["max_f"] = float(np.abs(machine.first_pass_.decision_function(X)).max())
    return row


_GRID = 121
_BELOW, _ABOVE = COLOURS[1], COLOURS[0]


def draw_passes(seed: int, draw: int) -> Figure:
    """Draw the four panels of Fig. 1 for one draw, without a bias."""
    from matplotlib.figure import Figure

    X = draw_points(seed, draw)[0]
    y = labels_of(X)
    machine = two_passes(PAPER, False, C, SIGMA, X.shape[1]).fit(X, y)
    ticks = np.linspace(-1.0, 1.0, _GRID)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=2).reshape(-1, 2)
    path = machine.staged_decision_function(grid)
    figure = Figure(figsize=(8.4, 8.0), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    panels[0].plot(ticks, height_at(ticks), color="black", lw=1.4)
    _draw_points(panels[0], X, y, 1.0)
    panels[0].set_title(f"(a) {len(X)} training points, y = {CURVE}", fontsize=10)
    _draw_levels(panels[1], ticks, path[0], "(b) first pass: f")
    _draw_magnification(panels[2], ticks, machine.magnification(grid))
    _draw_levels(panels[3], ticks, path[-1], "(d) last pass: f")
    for panel in panels[1:]:
        panel.plot(ticks, height_at(ticks), color="0.45", lw=0.9, ls="--")
        _draw_points(panel, X, y, 0.3)
    for panel in panels:
        panel.set_aspect("equal")
        panel.set_xlim(-1.0, 1.0)
        panel.set_ylim(-1.0, 1.0)
        panel.tick_params(labelsize=8)
    return figure


def _draw_points(panel: Axes, X: Floats, y: Floats, alpha: float) -> None:
    for label, marker, colour in ((1.0, "+", _ABOVE), (-1.0, "_", _BELOW)):
        chosen = X[y == label]
        panel.plot(chosen[:, 0], chosen[:, 1], marker, color=colour, ms=6, alpha=alpha)


def _draw_levels(panel: Axes, ticks: Floats, f: Floats, title: str) -> None:
    """Draw contours of f in steps of 1, or of 0.5 if |f| is at most 2.5; the contour of 0 is thick."""
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

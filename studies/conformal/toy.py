"""The toy experiment of Williams et al. 2005: points on either side of a curve, readings of the paper, and its figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from spotsvm.common.drawing import COLOURS
from spotsvm.estimators.conformal.conformal_svc import ConformalSVC
from spotsvm.studies.common.data import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


C, SIGMA = 10.0, 0.5
N_TRAIN, N_TEST = 100, 1000
#: the printed relative improvement, in percent
PRINTED = 14.5


@dataclass(frozen=True)
class Reading:
    """One reading of the experiment: the square, the curve in it, and the SVM.

    The paper has the curve as exp(-4 x^2) "up to a linear transform" and the points "in the square".

    Parameters
    ----------
    bias : bool
        Whether the SVMs have a threshold b, as in eq. 1.
    height, offset : float, default=2, -1
        The curve in the square [-1, 1]^2: y = height exp(-4 x^2) + offset.
    side : float, default=1
        Scale of the square and the curve; sigma stays the same.
    kappa : float, default=1
        Multiple of 1 / max|f|.
    n_passes : int, default=2
        Number of passes.
    """

    bias: bool
    height: float = 2.0
    offset: float = -1.0
    side: float = 1.0
    kappa: float = 1.0
    n_passes: int = 2

    @property
    def curve(self) -> str:
        """The curve as a formula, in the square [-1, 1]^2."""
        height = "" if self.height == 1 else f"{self.height:g} "
        offset = "" if self.offset == 0 else f" {'-' if self.offset < 0 else '+'} {abs(self.offset):g}"
        return f"{height}exp(-4 x^2){offset}"

    def labels(self, X: Floats) -> Floats:
        """Return 1 above the curve and -1 below."""
        return np.where(X[:, 1] > self.height_at(X[:, 0]), 1.0, -1.0)

    def height_at(self, x: Floats) -> Floats:
        """Return the curve's y."""
        y: Floats = self.side * (self.height * np.exp(-4.0 * (x / self.side) ** 2) + self.offset)
        return y

    def machine(self) -> ConformalSVC:
        """Return the machine, with kappa "auto"."""
        return ConformalSVC(C=C, sigma=SIGMA, kappa="auto", bias=self.bias, n_passes=self.n_passes)

    def fitted(self, X: Floats, y: Floats) -> ConformalSVC:
        """Return the machine fitted, with its multiple of 1 / max|f|."""
        machine = self.machine().fit(X, y)
        if self.kappa != 1.0:
            machine.set_params(kappa=self.kappa * float(machine.kappa_[0, 0])).fit(X, y)
        return machine


#: the one that the printed 14.5 % goes with
MAIN = Reading(bias=False)
#: the same with the threshold that eq. 1 has
WITH_BIAS = Reading(bias=True)
OTHERS = tuple(
    Reading(bias=bias, **options)
    for options in (
        {"height": 1.0, "offset": -0.5},
        {"height": 1.0, "offset": 0.0},
        {"side": 0.5},
        {"side": 2.0},
        {"side": 4.0},
        {"height": 1.0, "offset": 0.0, "side": 4.0},
        {"kappa": 0.5},
        {"kappa": 0.25},
        {"n_passes": 3},
    )
    for bias in (False, True)
)


def draw_points(seed: int, draw: int, n_train: int = N_TRAIN, n_test: int = N_TEST) -> tuple[Floats, Floats]:
    """Draw the points of one draw in [-1, 1]^2: to train on, and to test on; the same for all readings."""
    rng = np.random.default_rng([seed, draw])
    return rng.uniform(-1.0, 1.0, size=(n_train, 2)), rng.uniform(-1.0, 1.0, size=(n_test, 2))


def run_toy(reading: Reading, seed: int, draw: int) -> dict[str, Any]:
    """Run one draw, and return its test errors as shares of the test points.

    They are those of the first and the last pass, `before` and `after`; `far_before` and `far_after` of them outside the first
    pass's margin, |f| > 1; and the first pass's largest |f|, `max_f`. nan throughout if all points to train on are on one side of
    the curve.
    """
    X, X_test = (reading.side * points for points in draw_points(seed, draw))
    y, y_test = reading.labels(X), reading.labels(X_test)
    found = dict.fromkeys(("before", "after", "far_before", "far_after", "max_f"), np.nan)
    if abs(y.sum()) < len(y):
        machine = reading.fitted(X, y)
        path = machine.staged_decision_function(X_test)
        wrong = (path[[0, -1]] >= 0) != (y_test > 0)
        far = np.abs(path[0]) > 1
        found |= dict(zip(("before", "after"), wrong.mean(axis=1).tolist(), strict=True))
        found |= dict(zip(("far_before", "far_after"), (wrong & far).mean(axis=1).tolist(), strict=True))
        found["max_f"] = reading.kappa / float(machine.kappa_[0, 0])
    return {"draw": draw} | found


_GRID = 121
_BELOW, _ABOVE = COLOURS[1], COLOURS[0]


def draw_passes(reading: Reading, seed: int, draw: int) -> Figure:
    """Draw the four panels for one draw of the toy experiment."""
    from matplotlib.figure import Figure

    X = reading.side * draw_points(seed, draw)[0]
    y = reading.labels(X)
    machine = reading.fitted(X, y)
    ticks = np.linspace(-reading.side, reading.side, _GRID)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=2).reshape(-1, 2)
    path = machine.staged_decision_function(grid)
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

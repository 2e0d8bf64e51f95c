"""The figure of a comparison: the value that each search had reached after each evaluation, with a band over the seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.drawing import COLOURS, tidy
from spotsvm.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Centre = Literal["median", "mean"]
Band = Literal["interquartile", "range", "bootstrap"]
_STYLES = ("-", "--", ":", "-.")
_RESAMPLES = 2000


def band_over_seeds(
    curves: Floats, centre: Centre = "median", band: Band | None = "interquartile", confidence: float = 0.95
) -> tuple[Floats, Floats, Floats]:
    """Return the centre of curves (n_seeds, n_points), and the edges of a band around it; nan where a run has no value.

    The band is between the quartiles, from the best to the worst seed, or a bootstrap interval of the centre (Efron 1979).
    """
    if centre not in ("median", "mean"):
        raise ArgumentError(f"centre={centre!r} is unknown; use 'median' or 'mean'")
    middle_of = np.median if centre == "median" else np.mean
    middle: Floats = middle_of(curves, axis=0)
    if band is None:
        return middle, middle, middle
    if band == "interquartile":
        low, high = np.quantile(curves, [0.25, 0.75], axis=0)
    elif band == "range":
        low, high = curves.min(axis=0), curves.max(axis=0)
    elif band == "bootstrap":
        drawn = np.random.default_rng(0).integers(len(curves), size=(_RESAMPLES, len(curves)))
        middles = middle_of(curves[drawn], axis=1)
        low, high = np.quantile(middles, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    else:
        raise ArgumentError(f"band={band!r} is unknown; use 'interquartile', 'range', 'bootstrap' or None")
    return middle, low, high


def draw_curves(
    evaluations: NDArray[np.intp],
    curves: Mapping[str, Floats],
    ax: Axes,
    *,
    sign: float = 1.0,
    centre: Centre = "median",
    band: Band | None = "interquartile",
    confidence: float = 0.95,
    log: bool = False,
    steps: bool = True,
) -> None:
    """Draw a line and a band for each search, from the values that it had reached by seed and number of evaluations.

    `sign` is 1 if a smaller value is better, else -1. With `steps` a value holds until the next number of evaluations; otherwise
    the points are joined. ArgumentError is raised if the axis is logarithmic and a value is negative, or no value is positive.
    """
    from matplotlib.ticker import LogFormatter, MaxNLocator  # on use: matplotlib takes half a second

    every = np.concatenate([curve.ravel() for curve in curves.values()])
    every = every[np.isfinite(every)]
    if log and len(every) and not (every.min() >= 0 < every.max()):
        raise ArgumentError(
            f"log=True needs positive values, but the smallest is {every.min():g}; pass a known optimum, or a bound, as optimum="
        )
    for k, (label, curve) in enumerate(curves.items()):
        middle, low, high = band_over_seeds(curve, centre, band, confidence)
        colour, style = COLOURS[k % len(COLOURS)], _STYLES[k // len(COLOURS) % len(_STYLES)]
        if band is not None:
            ax.fill_between(evaluations, low, high, step="post" if steps else None, color=colour, alpha=0.15, lw=0)
        drawn: dict[str, Any] = {"drawstyle": "steps-post", "markevery": [-1]} if steps else {}
        ax.plot(evaluations, middle, style, color=colour, label=label, lw=1.6, marker="o", ms=3.5, **drawn)
    if log:
        ax.set_yscale("log", nonpositive="clip")
        for axis_formatter in (ax.yaxis.set_major_formatter, ax.yaxis.set_minor_formatter):
            axis_formatter(LogFormatter(minor_thresholds=(1.5, 0.4)))
    else:
        _leave_out_the_beginning(ax, curves, sign)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.set_xlim(0, 1.02 * float(evaluations[-1]))
    tidy(ax)


def _leave_out_the_beginning(ax: Axes, curves: Mapping[str, Floats], sign: float) -> None:
    """Limit the axis to the values after a tenth of the evaluations: earlier values can be worse by orders of magnitude."""
    every = sign * np.concatenate([curve[:, curve.shape[1] // 10 :].ravel() for curve in curves.values()])
    every = every[np.isfinite(every)]
    if not len(every) or not np.ptp(every) > 0:
        return
    best, worst = float(every.min()), float(np.quantile(every, 0.98))
    room = 0.06 * (worst - best)
    if room > 0:
        limits = sorted((sign * (best - room), sign * (worst + room)))
        ax.set_ylim(limits[0], limits[1])

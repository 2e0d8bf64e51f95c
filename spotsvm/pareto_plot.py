"""The figure of the trials of several objectives and their front."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import ArgumentError
from spotsvm.objectives import Objectives
from spotsvm.pareto_front import pareto_trials
from spotsvm.reports.drawing import plain
from spotsvm.trial import Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_pareto(
    trials: Sequence[Trial], objectives: Objectives, ax: Axes | Sequence[Axes] | None = None, most: int | None = None
) -> Any:
    """Draw the trials and their front, each with at most `most` points, evenly spread; see `Study.plot_pareto`."""
    objectives.require_several("plot_pareto()")
    front = pareto_trials(trials, objectives)
    on_it = {t.number for t in front}
    others = [t for t in trials if t.values is not None and t.number not in on_it]
    pairs = list(combinations(range(len(objectives)), 2))
    for one, (first, second) in zip(axes := _axes(ax, len(pairs)), pairs, strict=True):
        _draw(one, front, others, first, second, staircase=len(pairs) == 1, most=most)
        one.set_xlabel(plain(objectives.labels[first]))
        one.set_ylabel(plain(objectives.labels[second]))
    axes[0].legend()
    return axes[0] if len(pairs) == 1 else np.array(axes, dtype=object)


def _axes(given: Any, number: int) -> list[Axes]:
    if given is None:
        from matplotlib import pyplot  # on use: it takes half a second

        return list(np.ravel(pyplot.subplots(1, number, figsize=(5.5 * number, 4.5), layout="constrained")[1]))
    axes = list(np.ravel(given))
    if len(axes) != number:
        raise ArgumentError(f"ax has {len(axes)} axes; use {number}, one per pair of objectives, or None")
    return axes


def _draw(
    ax: Axes, front: Sequence[Trial], others: Sequence[Trial], first: int, second: int, *, staircase: bool, most: int | None
) -> None:
    """Draw one pair of objectives; only a front of two objectives is a staircase."""
    x, y = _columns(front, first, second)
    grey_x, grey_y = _columns(others, first, second)
    (low_x, high_x), (low_y, high_y) = _range(x, grey_x), _range(y, grey_y)
    beyond = sum(not (low_x <= u <= high_x and low_y <= v <= high_y) for u, v in zip(grey_x, grey_y, strict=True))
    label = f"dominated ({len(others)} trials" + (f", {beyond} beyond the axes)" if beyond else ")")
    some, dots = _spread(len(front), most), _spread(len(others), most)
    ax.plot(np.array(grey_x)[dots], np.array(grey_y)[dots], ".", ms=6, color="0.7", label=label, zorder=1)
    if staircase:  # the front is ordered: each step first worsens one objective, then improves the other
        ax.step(np.array(x)[some], np.array(y)[some], where="post", color="tab:blue", lw=1, alpha=0.6, zorder=2)
    ax.plot(np.array(x)[some], np.array(y)[some], "o", ms=5, color="tab:blue", label=f"front ({len(front)} trials)", zorder=3)
    if beyond and np.isfinite([low_x, high_x, low_y, high_y]).all():  # the difference of 1e308 and -1e308 is not finite
        ax.set_xlim(low_x, high_x)
        ax.set_ylim(low_y, high_y)


def _spread(n: int, most: int | None) -> NDArray[np.intp]:
    return np.linspace(0, n - 1, n if most is None else min(n, most)).astype(np.intp)


def _range(front: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Return the limits of an axis: all points, or, if the front fills less than a fifth, only its surroundings."""
    low, high = min([*front, *others]), max([*front, *others])
    width = max(front) - min(front)
    if 0 < width < (high - low) / 5:
        low, high = max(low, min(front) - width), min(high, max(front) + width)
    margin = 0.05 * (high - low)
    return low - margin, high + margin


def _columns(trials: Sequence[Trial], first: int, second: int) -> tuple[list[float], list[float]]:
    values = [t.values for t in trials if t.values is not None]
    return [v[first] for v in values], [v[second] for v in values]

"""The Pareto front of several objectives: the non-dominated trials, their hypervolume, and their figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from spotsvm.common.drawing import axes_array, name_trials, plain
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.solvers.pareto import non_dominated
from spotsvm.trials.objectives import Objectives
from spotsvm.trials.recommendation import why_none
from spotsvm.trials.trial import FINISHED, Trial, holds_bounds

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.1


def pareto_trials(trials: Sequence[Trial], objectives: Objectives) -> tuple[Trial, ...]:
    """Return the non-dominated trials, from the best in the first objective on; see `Study.pareto`."""
    objectives.require_several("pareto()")
    done = [t for t in trials if t.values is not None and holds_bounds(t)]
    if not done:
        raise NoCompletedTrialError(why_none(trials))
    return tuple(done[k] for k in non_dominated(objectives.turned([t.values for t in done])))


def hypervolume_curve(
    trials: Sequence[Trial],
    objectives: Objectives,
    reference: Sequence[float] | Mapping[str, float] | None,
    at: Sequence[int] | None = None,
) -> pd.Series[float]:
    """Return the dominated hypervolume after each finished trial, or after those at some positions; see `Study.hypervolume`."""
    objectives.require_several("hypervolume()")
    from pymoo.indicators.hv import HV  # on use: it takes half a second

    finished = [t for t in trials if t.state in FINISHED]
    values = np.array([t.values for t in finished if t.values is not None and holds_bounds(t)], dtype=float)
    known = objectives.turned(values.reshape(-1, len(objectives)))
    if reference is not None:
        bound = objectives.turned(_checked(reference, objectives))
    elif len(known):
        spread = np.ptp(_MARGIN * known, axis=0)
        with np.errstate(over="ignore"):  # near the largest float the bound is infinite, and so is the volume
            bound = known.max(axis=0) + np.where(spread > 0, spread, 1.0)
    else:
        bound = np.zeros(len(objectives))
    volume = HV(ref_point=bound)
    asked = set(range(len(finished)) if at is None else at)
    front, reached, grown, curve = known[:0], 0.0, False, []
    for k, t in enumerate(finished):
        if t.values is not None and holds_bounds(t):
            point = objectives.turned(t.values)
            if (point < bound).all() and not (front <= point).all(axis=1).any():
                front, grown = np.vstack([front[(front < point).any(axis=1)], point]), True
        if k in asked:
            if grown:
                reached, grown = float(volume(front)), False
            curve.append(reached)
    index = pd.Index([t.number for k, t in enumerate(finished) if k in asked], name="number", dtype="int64")
    return pd.Series(curve, index=index, name="hypervolume", dtype="float64")


def _checked(reference: Any, objectives: Objectives) -> list[float]:
    given = reference
    if isinstance(reference, Mapping):
        if set(reference) != set(objectives.names):
            raise ArgumentError(f"reference={reference!r}; use a number for each of {', '.join(objectives.names)}")
        given = [reference[name] for name in objectives.names]
    numbers = list(given) if np.ndim(given) == 1 else []
    if len(numbers) != len(objectives) or not all(isinstance(x, Real) and np.isfinite(float(x)) for x in numbers):
        raise ArgumentError(f"reference={reference!r} is not {len(objectives)} finite numbers, one per objective")
    return [float(x) for x in numbers]


def plot_pareto(
    trials: Sequence[Trial], objectives: Objectives, ax: Axes | Sequence[Axes] | None = None, most: int | None = None
) -> Any:
    """Draw the trials and their front, each with at most `most` points, evenly spread; see `Study.plot_pareto`."""
    objectives.require_several("plot_pareto()")
    front = pareto_trials(trials, objectives)
    on_it = {t.number for t in front}
    others = [t for t in trials if t.values is not None and t.number not in on_it and holds_bounds(t)]
    outside = [t for t in trials if t.values is not None and not holds_bounds(t)]
    pairs = list(combinations(range(len(objectives)), 2))
    for one, (first, second) in zip(axes := _axes(ax, len(pairs)), pairs, strict=True):
        _draw(one, front, others, first, second, staircase=len(pairs) == 1, most=most)
        if outside:
            x, y = _columns(outside, first, second)
            dots = _spread(len(outside), most)
            ends = one.get_xlim(), one.get_ylim()
            one.plot(x[dots], y[dots], "x", ms=4, color="0.8", label=f"outside the bounds ({len(outside)} trials)", zorder=0)
            one.set(xlim=ends[0], ylim=ends[1])
        one.set_xlabel(plain(objectives.labels[first]))
        one.set_ylabel(plain(objectives.labels[second]))
    axes[0].legend()
    return axes[0] if len(pairs) == 1 else axes_array(axes)


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
    (low_x, high_x), (low_y, high_y) = _range(x.tolist(), grey_x.tolist()), _range(y.tolist(), grey_y.tolist())
    seen = (low_x <= grey_x) & (grey_x <= high_x) & (low_y <= grey_y) & (grey_y <= high_y)
    beyond = int(np.sum(~seen))
    label = f"dominated ({len(others)} trials" + (f", {beyond} beyond the axes)" if beyond else ")")
    some = _spread(len(front), most)
    dots = np.flatnonzero(seen)[_spread(int(seen.sum()), most)]
    (points,) = ax.plot(grey_x[dots], grey_y[dots], ".", ms=6, color="0.55", label=label, zorder=1)
    name_trials(points, [others[k].number for k in dots])
    if staircase:  # the front is ordered: each step first worsens one objective, then improves the other
        ax.step(x[some], y[some], where="post", color="tab:blue", lw=1, alpha=0.6, zorder=2)
    (points,) = ax.plot(x[some], y[some], "o", ms=5, color="tab:blue", label=f"front ({len(front)} trials)", zorder=3)
    name_trials(points, [front[k].number for k in some])
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


def _columns(trials: Sequence[Trial], first: int, second: int) -> NDArray[np.float64]:
    values = [(t.values[first], t.values[second]) for t in trials if t.values is not None]
    return np.array(values, dtype=float).reshape(-1, 2).T

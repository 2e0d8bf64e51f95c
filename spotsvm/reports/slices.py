"""Where the trials are: slices of the model, and parallel coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from spotsvm.common.drawing import (
    LEVELS,
    ORANGE,
    drawing,
    level_map,
    name_chosen,
    name_trial,
    name_trials,
    panels,
    plain,
    set_ticks,
)
from spotsvm.common.text import short
from spotsvm.reports.axes import StudyAxis, cut_name
from spotsvm.reports.effects import draw_effect
from spotsvm.reports.evaluations import evaluations_picture
from spotsvm.reports.html.page import Part, Picture
from spotsvm.reports.model import Floats, StudyModel
from spotsvm.reports.view import MainEffect, StudyView
from spotsvm.trials.recommendation import losses_of
from spotsvm.trials.trial import Trial, holds_bounds

_GRID = 33
_LEVELS = 9


def slices_parts(view: StudyView) -> list[Part]:
    """Return the slices, if there is one objective and a model, and parallel coordinates."""
    model = view.models[0]
    if view.recommended is None or isinstance(model, str):
        return [parallel_picture(view), *_evaluations(view)]
    parts: list[Part] = [slices_picture(view, model, apart=True)]
    if len(view.axes) > 1 and len(_active(view)) > 1:
        parts.append(parallel_picture(view))
    return [*parts, *_evaluations(view)]


def _evaluations(view: StudyView) -> list[Part]:
    return [evaluations_picture(view)] if len(view.axes) > 1 else []


def slices_picture(view: StudyView, model: StudyModel, apart: bool = False) -> Picture:
    """Draw the model along the most important parameters of the recommended configuration, with the trials.

    All pairs of parameters are in one figure; `apart` makes a figure for each, to show them side by side or below each other.
    """
    pairs = _pairs(view)
    if not pairs:
        active = _active(view)
        return _curve_picture(view, model, active[0] if active else view.axes[0])
    maps = [_map(model, view.chosen_point, x, y) for x, y in pairs]
    edges, cut_off = level_edges(view.possible(np.concatenate([values.ravel() for _, _, values in maps])), model.sign)
    maps = [(u, v, np.clip(values, edges[0], edges[-1])) for u, v, values in maps]
    groups = [slice(k, k + 1) for k in range(len(pairs))] if apart else [slice(None)]
    figures = [_pairs_figure(view, model, pairs[group], maps[group], edges) for group in groups]
    rest = [axis.short for axis in view.axes if all(axis not in pair for pair in pairs)]
    others = " All other parameters are those of this configuration; those of the trials differ." if rest else ""
    worse = " Values worse than the scale have its last colour." if cut_off else ""
    named = "; ".join(f"{x.short} and {y.short}" for x, y in pairs)
    return Picture(
        figures[0],
        f"Slices of the model through the {view.chosen_words} configuration, by the most important parameters.{others}{worse}"
        f"{view.thinned_words}",
        f"Maps of the predicted value over {named}, with the trials as dots and the {view.chosen_words} trial as a ring.",
        others=figures[1:],
        zoomable=True,
    )


def _pairs(view: StudyView) -> list[tuple[StudyAxis, StudyAxis]]:
    active = _active(view)
    if len(active) < 2:
        return []
    # the choice between dictionaries is left out if possible
    some = [axis for axis in active if axis.parameter is not None or len(active) == 2][:3]
    return list(combinations(some, 2)) or [(active[0], active[1])]


def _active(view: StudyView) -> list[StudyAxis]:
    """Return the axes of the recommended configuration, the most important first."""
    exists = view.study.space.domain.active(view.chosen_point)[0]
    shares = view.importances[0]
    order = range(len(view.axes)) if shares is None else shares.order
    return [view.axes[j] for j in order if exists[j]]


def _pairs_figure(view: StudyView, model: StudyModel, pairs: Any, maps: Any, edges: Floats) -> Any:
    columns = len(pairs)
    with drawing(3.1 * columns if columns > 1 else 3.5, 3.6 if columns > 1 else 3.7) as figure:
        axes = panels(figure, columns, columns)
        for ax, (x, y), (u, v, values) in zip(axes, pairs, maps, strict=True):
            drawn = _draw_map(ax, x, y, u, v, values, edges, model.sign)
            _draw_trials(ax, view, x, y)
            set_ticks(ax, "x", *x.ticks())
            set_ticks(ax, "y", *y.ticks())
            ax.set_xlabel(plain(cut_name(x.short, 30)))
            ax.set_ylabel(plain(cut_name(y.short, 30)))
            ax.set_xlim(0.0, 1.0)
            ax.set_ylim(0.0, 1.0)
        bar = figure.colorbar(drawn, ax=axes, orientation="horizontal", shrink=0.6 if columns > 1 else 0.95, aspect=35, pad=0.03)
        bar.set_label(f"predicted {view.study.objectives.labels[0]}")
        bar.set_ticks(edges[:: 1 if len(edges) < 7 else 2].tolist())
        bar.outline.set_visible(False)
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper left", ncols=3, columnspacing=1.0, handletextpad=0.3)
    return figure


def level_edges(values: Floats, sign: float) -> tuple[Floats, bool]:
    """Return round edges of the levels of a map, and whether the worst values are beyond them.

    If the better half of the values takes up less than half of their range, the levels are chosen for that half.
    """
    from matplotlib.ticker import MaxNLocator

    best, middle, worst = (float(np.quantile(sign * values, q)) for q in (0.0, 0.5, 1.0))
    cut_off = 0 < middle - best < (worst - best) / 2
    low, high = sorted((sign * best, sign * (best + 1.5 * (middle - best) if cut_off else worst)))
    if not high > low:
        low, high = low - 0.5, high + 0.5
    for number in range(_LEVELS, 1, -1):
        edges = np.asarray(MaxNLocator(number, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high), dtype=float)
        if len(edges) <= _LEVELS + 1:  # the locator's edges exceed both ends
            break
    # the locator's rounding errors could leave an end out
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)
    return edges, cut_off


def _map(model: StudyModel, chosen: Floats, x: StudyAxis, y: StudyAxis) -> tuple[Floats, Floats, Floats]:
    """Return the grids u and v of two coordinates, and the predictions of shape (len(v), len(u))."""
    u, v = x.grid(_GRID), y.grid(_GRID)
    points = np.tile(chosen, (len(v), len(u), 1))
    points[:, :, x.column] = u[None, :]
    points[:, :, y.column] = v[:, None]
    return u, v, model.mean(points.reshape(-1, len(chosen))).reshape(len(v), len(u))


def _draw_map(ax: Any, x: StudyAxis, y: StudyAxis, u: Floats, v: Floats, values: Floats, edges: Floats, sign: float) -> Any:
    """Draw a map, and return the object for its colour bar."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm
    from matplotlib.patches import Rectangle

    colours = level_map(sign)
    norm = BoundaryNorm(edges, colours.N)
    if x.levels == 0 and y.levels == 0:
        drawn = ax.contourf(u, v, values, levels=edges, cmap=colours, norm=norm)
        drawn.set_edgecolor("face")  # hides gaps between the patches
        drawn.set_linewidth(0.4)
        return drawn
    drawn = ScalarMappable(norm, colours)
    shades = drawn.to_rgba((edges[1:] + edges[:-1]) / 2)
    cells = np.clip(np.digitize(values, edges[1:-1]), 0, len(edges) - 2)
    across, along = (_borders(u, x), _borders(v, y)) if y.levels else (_borders(v, y), _borders(u, x))
    for k, row in enumerate(cells if y.levels else cells.T):
        # neighbours of the same shade are one bar, without gaps between them
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        for i, j in zip(starts, [*starts[1:], len(row)], strict=True):
            corner, size = (across[i], along[k]), (across[j] - across[i], along[k + 1] - along[k])
            place, (width, height) = (corner, size) if y.levels else (corner[::-1], size[::-1])
            ax.add_patch(Rectangle(place, width, height, color=shades[row[i]], lw=0.4))
    return drawn


def _borders(grid: Floats, axis: StudyAxis) -> Floats:
    """Return the borders of the cells around the points of a grid."""
    if axis.levels and len(grid) == axis.levels:
        return np.linspace(0.0, 1.0, axis.levels + 1)
    return np.concatenate([[0.0], (grid[1:] + grid[:-1]) / 2, [1.0]])


def _draw_trials(ax: Any, view: StudyView, x: StudyAxis, y: StudyAxis) -> None:
    """Draw the trials that have both parameters; trials at the same value of a discrete parameter are spread a little."""
    domain = view.study.space.domain
    styles: Any = {
        "trial": {"marker": "o", "ms": 3.6, "mfc": "#1b1b1b", "mec": "1.0", "mew": 0.5},
        "out of bounds": {"marker": "x", "ms": 4.0, "mec": "#1b1b1b", "mew": 1.0},
        "stopped early": {"marker": "o", "ms": 3.6, "mfc": "none", "mec": "#1b1b1b", "mew": 0.8},
        "failed trial": {"marker": "x", "ms": 4.5, "mec": "#d62728", "mew": 1.3},
    }
    for label, style in styles.items():
        trials = [t for t in view.drawn if _kind(t) == label]
        points = np.array([t.point for t in trials])
        if not trials:
            continue
        active = domain.active(points)
        exists = active[:, x.column] & active[:, y.column]
        if exists.any():
            u, v = (_spread(points[exists, axis.column], axis) for axis in (x, y))
            (dots,) = ax.plot(u, v, ls="", label=label, zorder=3, clip_on=False, **style)
            name_trials(dots, [t.number for t, is_there in zip(trials, exists, strict=True) if is_there])
    chosen = view.chosen_point
    ring = {"marker": "o", "ms": 10, "mfc": "none", "ls": "", "zorder": 4, "clip_on": False}
    ax.plot(chosen[x.column], chosen[y.column], mec="1.0", mew=4.0, **ring)  # sets the ring off from dark colours of the map
    (mark,) = ax.plot(chosen[x.column], chosen[y.column], mec=ORANGE, mew=2.0, label=view.chosen_words, **ring)
    places = (f"{axis.short} = {axis.value_at(float(chosen[axis.column]))}" for axis in (x, y))
    name_chosen(mark, f"{view.chosen_words}: {', '.join(places)}")


def _kind(trial: Trial) -> str:
    if trial.state == "stopped":
        return "stopped early"
    return "failed trial" if trial.state != "ok" else "trial" if holds_bounds(trial) else "out of bounds"


def _spread(column: Floats, axis: StudyAxis) -> Floats:
    if not axis.levels or axis.levels > 12:
        return column
    # multiples of the golden ratio are evenly spread and reproducible
    shifts = (np.arange(len(column)) * 0.6180339887498949) % 1.0 - 0.5
    return column + 0.5 * shifts / axis.levels


def _curve_picture(view: StudyView, model: StudyModel, axis: StudyAxis) -> Picture:
    """Draw the model along the only parameter, with the trials."""
    places = axis.grid(101)
    curve = MainEffect(axis, places, *model.along(view.chosen_point, axis.column, places))
    shown = [t for t in view.drawn if t.value is not None]
    own = [t.point[axis.column] for t in shown]
    with drawing(4.4, 3.2) as figure:
        ax = figure.subplots()
        draw_effect(ax, curve, "model, with a 95 % band")
        (dots,) = ax.plot(own, np.array([t.value for t in shown], dtype=float), "o", ms=3.6, color="0.25", label="trial")
        name_trials(dots, [t.number for t in shown])
        line = ax.axvline(view.chosen_point[axis.column], color=ORANGE, ls="--", lw=1.2, label=view.chosen_words)
        name_chosen(line, f"{view.chosen_words}: {axis.short} = {axis.value_at(float(view.chosen_point[axis.column]))}")
        set_ticks(ax, "x", *axis.ticks())
        ax.set_xlabel(plain(cut_name(axis.short, 40)))
        ax.set_ylabel(plain(view.study.objectives.labels[0]))
        ax.legend(loc="best")
    return Picture(
        figure,
        f"The model along {axis.short}, and the trials.{view.thinned_words}",
        f"The predicted value at each {axis.short}, with {len(view.done)} trials as dots; the recommended trial is at "
        f"{axis.value_at(view.chosen_point[axis.column])}.",
    )


_MOST = 12
_BEST = 0.1
#: maximum length of a name below an axis
_SHORT = 12
#: shades of lines from the worst to the best; the lightest shades of a map are hard to see as lines
_SHADES = LEVELS[3:]


def parallel_picture(view: StudyView) -> Picture:
    """Draw the successful trials over the objectives and the most important parameters, coloured by the first objective."""
    several = view.study.objectives.several
    axes = _chosen_axes(view)
    best = {t.number for t in view.front} if several else _best(view)
    done = [t for t in view.drawn if t.values is not None]
    exists = view.study.space.domain.active(np.array([t.point for t in done]))
    scales = [_Scale.of(view, k, done) for k in range(len(view.study.objectives))]
    first = np.array([scales[0].places([t])[0] for t in done])
    ranks = np.argsort(np.argsort(first, kind="stable"), kind="stable") / max(len(done) - 1, 1)
    n = len(scales) + len(axes)
    with drawing(max(4.4, 0.8 * n + 0.9), 3.5) as figure:
        ax = figure.subplots()
        for k in sorted(range(len(done)), key=lambda k: (done[k].number in best, ranks[k])):  # the best on top
            t, in_front = done[k], done[k].number in best
            u = [scale.places([t])[0] for scale in scales]
            u += [t.point[axis.column] if exists[k, axis.column] else np.nan for axis in axes]
            shade = ORANGE if several and in_front else _SHADES[min(int(ranks[k] * len(_SHADES)), len(_SHADES) - 1)]
            (line,) = ax.plot(u, color=shade, lw=1.6 if in_front else 0.7, alpha=0.95 if in_front else 0.7)
            name_trial(line, t.number)
        _draw_scales(ax, scales, axes)
        names = [scale.name for scale in scales] + [cut_name(axis.short, 18) for axis in axes]
        leaning: Any = {"rotation": 25, "ha": "right", "rotation_mode": "anchor"} if max(map(len, names)) > _SHORT else {}
        ax.set_xticks(range(n), [plain(name) for name in names], **leaning)
        ax.set_yticks([])
        ax.set_xlim(-0.25, n - 0.45)
        ax.set_ylim(-0.03, 1.03)
        ax.spines[:].set_visible(False)
        ax.tick_params(axis="x", length=0)
    which = "the front is orange" if several else "the best tenth is thick"
    some = f" The {len(axes)} most important parameters of {len(view.axes)}." if len(axes) < len(view.axes) else ""
    gaps = " A line has a gap where a parameter does not exist." if not exists.all() else ""
    beyond = " Much worse values are drawn at the end of their axis." if any(scale.cut_off for scale in scales) else ""
    return Picture(
        figure,
        f"Each line is a trial, each axis an objective, with its best values at the top, or a parameter, the most important "
        f"first. A darker line (in the dark scheme, a lighter line) has a better {scales[0].name}; {which}."
        f"{some}{gaps}{beyond}{view.thinned_words}",
        f"Parallel coordinates of {len(done)} trials, {sum(t.number in best for t in done)} of them highlighted; the table of "
        "trials has their values.",
    )


@dataclass(frozen=True)
class _Scale:
    """An objective as an axis: 0 is the worst value shown, 1 the best."""

    name: str
    objective: int
    worst: float
    best: float
    cut_off: bool

    @classmethod
    def of(cls, view: StudyView, k: int, done: Sequence[Trial]) -> _Scale:
        sign = float(view.study.objectives.signs[k])
        losses = sign * np.array([t.values[k] for t in done if t.values is not None])
        best, middle, worst = (float(np.quantile(losses, q)) for q in (0.0, 0.5, 1.0))
        # a few far worse values would squeeze the others into a point
        cut_off = 0 < middle - best < (worst - best) / 6
        return cls(view.objective_name(k), k, sign * (best + 4 * (middle - best) if cut_off else worst), sign * best, cut_off)

    @property
    def end(self) -> str:
        """The worst value shown as text, with a sign if some values are worse."""
        return ("" if not self.cut_off else "≤ " if self.worst < self.best else "≥ ") + short(self.worst, 3)

    def places(self, trials: Sequence[Trial]) -> Floats:
        values = np.array([t.values[self.objective] for t in trials if t.values is not None])
        if self.best == self.worst:
            return np.full(len(values), 0.5)
        return np.clip((values - self.worst) / (self.best - self.worst), 0.0, 1.0)


def _draw_scales(ax: Any, scales: Sequence[_Scale], axes: Sequence[StudyAxis]) -> None:
    told: list[tuple[list[float], list[str]]] = [
        ([0.0, 0.5, 1.0], [scale.end, *(short(value, 3) for value in ((scale.worst + scale.best) / 2, scale.best))])
        if scale.best != scale.worst
        else ([0.5], [short(scale.best, 3)])
        for scale in scales
    ]
    for axis in axes:
        places, labels = axis.ticks()
        # a range of very small numbers has no ticks
        some = range(len(places)) if axis.levels or not len(places) else sorted({0, len(places) // 2, len(places) - 1})
        told.append(([places[k] for k in some], [labels[k] for k in some]))
    for j, (places, labels) in enumerate(told):
        ax.axvline(j, color="0.75", lw=0.8, zorder=0)
        for place, label in zip(places, labels, strict=True):
            text = ax.text(j + 0.05, place, plain(label), fontsize=7.5, va="center", ha="left", color="0.15", zorder=5)
            text.set_bbox({"facecolor": "1.0", "edgecolor": "none", "alpha": 0.9, "pad": 0.8})


def _chosen_axes(view: StudyView) -> list[StudyAxis]:
    shares = [importance.total for importance in view.importances if importance is not None]
    order = np.argsort(-np.max(shares, axis=0), kind="stable") if shares else np.arange(len(view.axes))
    return [view.axes[j] for j in order[:_MOST].tolist()]


def _best(view: StudyView) -> set[int]:
    losses = losses_of(view.done, view.sign)
    n = int(np.isfinite(losses).sum())
    return {view.done[k].number for k in np.argsort(losses, kind="stable")[: min(n, max(1, round(_BEST * n)))].tolist()}

"""The picture of all trials at once: a line a trial, across an axis a parameter."""

from __future__ import annotations

import numpy as np

from spotsvm.reports.axes import StudyAxis, cut_name
from spotsvm.reports.drawing import drawing, plain
from spotsvm.reports.parts import Picture
from spotsvm.reports.study_view import StudyView

_MOST = 14
_BEST = 0.1


def parallel_picture(view: StudyView) -> Picture:
    """Draw the trials that succeeded over the most important parameters, the best tenth in colour.

    Of several objectives the front is in colour.
    """
    several = view.study.objectives.several
    axes = _chosen_axes(view)
    best = {t.number for t in view.front} if several else _best(view)
    with drawing(max(5.0, 0.95 * len(axes) + 1.2), 3.7) as figure:
        ax = figure.subplots()
        done = [t for t in view.drawn if t.values is not None]
        exists = view.study.space.domain.active(np.array([t.point for t in done]))
        for front in (False, True):
            for k, t in enumerate(done):
                if (t.number in best) == front:
                    u = np.array([t.point[axis.column] if exists[k, axis.column] else np.nan for axis in axes])
                    colour = "#D55E00" if front else "0.65"
                    ax.plot(
                        u, color=colour, lw=1.1 if front else 0.6, alpha=0.9 if front else 0.5, marker=".", ms=4 if front else 2
                    )
        for j, axis in enumerate(axes):
            ax.axvline(j, color="0.75", lw=0.8, zorder=0)
            _write_ticks(ax, j, axis)
        ax.set_xticks(
            range(len(axes)), [plain(cut_name(axis.name, 22)) for axis in axes], rotation=30, ha="right", rotation_mode="anchor"
        )
        ax.set_yticks([])
        ax.set_xlim(-0.35, len(axes) - 0.45)
        ax.set_ylim(-0.03, 1.03)
        ax.spines[:].set_visible(False)
    which = "those of the front" if several else "the best tenth"
    some = f" The {len(axes)} most important parameters of {len(view.axes)}." if len(axes) < len(view.axes) else ""
    gaps = " A line has a gap where a parameter does not exist." if not exists.all() else ""
    return Picture(
        figure,
        f"The trials: a line a trial, an axis a parameter, from its lowest value to its highest; {which} in colour."
        f"{some}{gaps}{view.thinned_words}",
        f"Parallel coordinates of {len(done)} trials, {sum(t.number in best for t in done)} in colour; the table of trials "
        "has their values.",
    )


def _chosen_axes(view: StudyView) -> list[StudyAxis]:
    if len(view.axes) <= _MOST:
        return view.axes
    shares = [one.total for one in view.importances if one is not None]
    order = np.argsort(-np.max(shares, axis=0), kind="stable") if shares else np.arange(len(view.axes))
    return [view.axes[j] for j in sorted(order[:_MOST].tolist())]


def _best(view: StudyView) -> set[int]:
    losses = float(view.study.objectives.signs[0]) * view.values()
    number = max(1, round(_BEST * len(losses)))
    return {view.done[k].number for k in np.argsort(losses, kind="stable")[:number]}


def _write_ticks(ax: object, j: int, axis: StudyAxis) -> None:
    places, labels = axis.ticks()
    keep = range(len(places)) if axis.levels else sorted({0, len(places) // 2, len(places) - 1})
    for k in keep:
        ax.text(  # type: ignore[attr-defined]
            j + 0.04, places[k], plain(labels[k]), fontsize=7, va="center", ha="left", color="0.25", zorder=5
        )

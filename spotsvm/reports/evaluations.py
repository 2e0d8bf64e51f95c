"""The evaluation matrix: where trials were evaluated, for each pair of parameters, in the order of the trials."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.common.drawing import BLUE, LEVELS, ORANGE, drawing, name_chosen, name_trials, plain, set_ticks
from spotsvm.reports.axes import StudyAxis, cut_name
from spotsvm.reports.html.page import Picture
from spotsvm.reports.model import Floats
from spotsvm.reports.view import StudyView

_MOST = 5  # parameters
_BINS = 12
_SHADES = LEVELS[3:]


def evaluations_picture(view: StudyView) -> Picture:
    """Draw a histogram of the trials for each of the most important parameters, and the trials for each pair of them."""
    shares = view.importances[0] if len(view.study.objectives) == 1 else None
    order = range(len(view.axes)) if shares is None else shares.order
    axes = [view.axes[j] for j in order][:_MOST]
    trials = view.drawn
    points = np.array([t.point for t in trials])
    exists = view.study.space.domain.active(points)
    shade = np.array([_SHADES[min(k * len(_SHADES) // max(len(trials), 1), len(_SHADES) - 1)] for k in range(len(trials))])
    n = len(axes)
    with drawing(max(1.55 * n + 0.6, 3.4), max(1.45 * n + 0.5, 2.4)) as figure:
        grid = figure.subplots(n, n, squeeze=False)
        for i, row in enumerate(axes):
            for j, column in enumerate(axes):
                ax = grid[i, j]
                if j > i:
                    ax.remove()
                    continue
                there = exists[:, row.column] & exists[:, column.column]
                if i == j:
                    _histogram(ax, row, points[there, row.column])
                else:
                    _scatter(ax, view, row, column, points, there, shade)
                _edges(ax, row, column, is_last=i == n - 1, is_first=j == 0, is_diagonal=i == j)
    few = f" The {n} most important of {len(view.axes)} parameters." if n < len(view.axes) else ""
    chosen = f" The ring is the {view.chosen_words} trial." if view.chosen_number is not None else ""
    return Picture(
        figure,
        f"Where the search has looked: how often each value was evaluated, and the trials by pairs of parameters; a later trial "
        f"is darker (in the dark scheme, lighter).{chosen}{few}{view.thinned_words}",
        f"Histograms and scatter plots of {len(trials)} trials over {', '.join(axis.short for axis in axes)}.",
        zoomable=True,
    )


def _histogram(ax: Any, axis: StudyAxis, places: Floats) -> None:
    bins = axis.levels if 0 < axis.levels <= _BINS else _BINS
    ax.hist(places, bins=np.linspace(0.0, 1.0, bins + 1).tolist(), color=BLUE, alpha=0.6)
    ax.yaxis.tick_right()
    ax.spines["left"].set_visible(False)
    ax.spines["right"].set_visible(True)


def _scatter(
    ax: Any, view: StudyView, row: StudyAxis, column: StudyAxis, points: Floats, there: NDArray[np.bool_], shade: NDArray[Any]
) -> None:
    for colour in _SHADES:
        some = np.flatnonzero(there & (shade == colour))
        if len(some):
            (drawn,) = ax.plot(points[some, column.column], points[some, row.column], "o", color=colour, ms=3.2)
            name_trials(drawn, [view.drawn[k].number for k in some])
    chosen = [k for k, t in enumerate(view.drawn) if t.number == view.chosen_number and there[k]]
    for k in chosen:
        x, y = points[k, column.column], points[k, row.column]
        (ring,) = ax.plot(x, y, "o", ms=8, mfc="none", mec=ORANGE, mew=1.4)
        name_chosen(ring, view.chosen_words)


def _edges(ax: Any, row: StudyAxis, column: StudyAxis, *, is_last: bool, is_first: bool, is_diagonal: bool) -> None:
    ax.set_xlim(-0.04, 1.04)
    places, labels = column.ticks()
    ax.set_xticks(places, [plain(label) if is_last else "" for label in labels], rotation=90, fontsize=6.5)
    if is_last:
        ax.set_xlabel(plain(cut_name(column.short, 16)))
    if is_diagonal:
        ax.tick_params(axis="y", labelsize=6.5)
        ax.set_ylabel(plain(cut_name(row.short, 16)) if is_first else "")
        return
    ax.set_ylim(-0.05, 1.05)
    set_ticks(ax, "y", *row.ticks())
    ax.tick_params(axis="y", labelsize=6.5, labelleft=is_first)
    if is_first:
        ax.set_ylabel(plain(cut_name(row.short, 16)))

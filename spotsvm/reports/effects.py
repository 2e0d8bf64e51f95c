"""The effects of the parameters: importance and main effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import BLUE, ORANGE, drawing, name_chosen, name_trials, plain, set_ticks
from spotsvm.common.text import short
from spotsvm.reports.axes import StudyAxis, cut_name
from spotsvm.reports.html.page import Highlight, Part, Picture, Section, Table
from spotsvm.reports.model import StudyModel
from spotsvm.reports.view import SURE, Importance, MainEffect, StudyView, main_effects

_MOST = 12
_POOR = 0.5
#: maximum number of trials shown below an effect
_STROKES = 150


def effects_parts(view: StudyView) -> list[Part]:
    """Return importance and main effects from the models of the trials, with a section for each of several objectives."""
    several = view.study.objectives.several
    parts: list[Part] = []
    for k, model in enumerate(view.models):
        shown = _of_one(view, k, model)
        parts += [Section(f"On {view.objective_name(k)}", shown)] if several else shown
    return parts


def _of_one(view: StudyView, k: int, model: StudyModel | str) -> list[Part]:
    if isinstance(model, str):
        return [Highlight(f"No effects can be shown. {model}", "note")]
    parts: list[Part] = [_trust(model), left_out_picture(model, view.study.objectives.labels[k])]
    shares = view.importances[k]
    order = list(range(len(view.axes)))
    if shares is not None:
        order = shares.order
        if len(view.axes) > 1:
            parts += _importance_parts(view.axes, shares)
    effects = main_effects(model, [view.axes[j] for j in order[:_MOST]], view.study.seed)
    return [*parts, _effects_picture(view, effects, view.study.objectives.labels[k])]


def left_out_picture(model: StudyModel, label: str) -> Picture:
    """Draw the value of each configuration against its prediction from the others, with intervals."""
    seen, predicted, error = model.left_out
    half = SURE * error
    inside = int((np.abs(seen - predicted) <= half).sum())
    with drawing(4.4, 3.8) as figure:
        ax = figure.subplots()
        ends = [float(min(seen.min(), predicted.min())), float(max(seen.max(), predicted.max()))]
        ax.plot(ends, ends, color="0.6", lw=1.0)
        ax.hlines(seen, predicted - half, predicted + half, color=BLUE, lw=1.2, alpha=0.35)
        ax.plot(predicted, seen, "o", color=BLUE, ms=3.5)
        room = 0.05 * (ends[1] - ends[0]) or 1.0
        ax.set(xlim=(ends[0] - room, ends[1] + room), ylim=(ends[0] - room, ends[1] + room))
        ax.set(xlabel="predicted from the other configurations", ylabel=plain(label))
        ax.grid(axis="y", color="0.9", lw=0.6)
    caption = (
        "Leave-one-out predictions: the value of each configuration, and what the model predicts from all others with the same "
        f"hyperparameters. A line is a 95 % interval; {inside} of {len(seen)} contain the value."
    )
    return Picture(figure, caption, f"{len(seen)} values against their predictions from the others.")


def _trust(model: StudyModel) -> Part:
    share = max(model.explained, 0.0)
    text = (
        f"This is what a Kriging model of the trials shows. It explains {100 * share:.0f} % of the variance of the values if it "
        "predicts each configuration from the others"
    )
    if share >= _POOR:
        return text + "."
    return Highlight(
        f"{text}. This is little, so the effects are only hints. More trials or less noise would make them clearer.", "warning"
    )


def _importance_parts(axes: Sequence[StudyAxis], shares: Importance) -> list[Part]:
    order = shares.order
    frame = pd.DataFrame(
        {
            "parameter": [axes[j].short for j in order],
            "alone (first order)": [float(shares.first[j]) for j in order],
            "with others (total)": [float(shares.total[j]) for j in order],
        }
    )
    return [
        "Importance is the share of the model's variance over the search space that a parameter explains, alone or together with "
        "others (Sobol indices). The variance that several parameters explain together counts for each of them. Configurations "
        "are drawn uniformly on the scale of each parameter.",
        importance_picture(axes, shares),
        Table(frame, "Sobol indices, the most important parameter first", 3, one_kind=True),
    ]


def importance_picture(axes: Sequence[StudyAxis], shares: Importance) -> Picture:
    """Draw the importances of the parameters as bars."""
    order = shares.order
    shown = order[: 2 * _MOST]
    with drawing(4.4, 0.8 + 0.27 * len(shown)) as figure:
        ax = figure.subplots()
        places = np.arange(len(shown))[::-1]
        first, total = shares.first[shown], shares.total[shown]
        ax.barh(places, first, color=BLUE, height=0.62, label="alone")
        ax.barh(places, total - first, left=first, color=BLUE, alpha=0.35, height=0.62, label="together with others")
        set_ticks(ax, "y", places.tolist(), [cut_name(axes[j].short, 24) for j in shown])
        ax.set_xlabel("share of the variance of the value")
        ax.set_xlim(0.0, max(1.0, float(total.max())))
        figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    told = ", ".join(f"{axes[j].short} {shares.total[j]:.0%}" for j in order[:5])
    return Picture(figure, "Importance of the parameters.", f"Bars, the total share of each parameter: {told}.")


def _effects_picture(view: StudyView, effects: Sequence[MainEffect], label: str) -> Picture:
    limits = _common_limits(effects)
    figures = []
    for effect in effects:
        with drawing(*((3.0, 2.4) if len(effects) > 1 else (4.4, 2.9))) as figure:
            ax = figure.subplots()
            draw_effect(ax, effect)
            _draw_places(ax, view, effect, limits)
            set_ticks(ax, "x", *effect.axis.ticks())
            ax.set_xlim(0.0, 1.0)
            ax.set_ylim(*limits)
            ax.set_xlabel(plain(cut_name(effect.axis.short, 30)))
            ax.set_ylabel(plain(label.partition(" (")[0]))
            ax.grid(axis="y", color="0.9", lw=0.6)
        figures.append(figure)
    number = len(view.axes)
    some = f"The {len(effects)} most important parameters of {number}. " if len(effects) < number else ""
    over = ", averaged over all other parameters" if number > 1 else ""
    branches = {len(effect.axis.branches) for effect in effects}
    conditional = " A conditional parameter is averaged over the configurations that have it." if len(branches) > 1 else ""
    chosen = f" The dashed line is the {view.chosen_words} value." if view.recommended is not None else ""
    return Picture(
        figures[0],
        f"Main effects. {some}Each line is the predicted value{over}, with a 95 % confidence band; the strokes below are the "
        f"trials.{chosen}{conditional}",
        "; ".join(_told(effect) for effect in effects[:6]) + ".",
        others=figures[1:],
    )


def draw_effect(ax: Any, effect: MainEffect, label: str = "") -> None:
    """Draw predictions along a parameter with their band: a line, or a point for each category."""
    if effect.axis.levels and not effect.axis.ordered:
        ax.vlines(effect.places, *effect.band, color=BLUE, alpha=0.4, lw=5)
        ax.plot(effect.places, effect.mean, "o", color=BLUE, ms=5, label=label)
    else:
        ax.fill_between(effect.places, *effect.band, color=BLUE, alpha=0.2, lw=0)
        ax.plot(effect.places, effect.mean, color=BLUE, marker="o" if effect.axis.levels else "", ms=3.5, label=label)


def _draw_places(ax: Any, view: StudyView, effect: MainEffect, limits: tuple[float, float]) -> None:
    """Draw a stroke at the bottom for each of some trials that have the parameter, and a line at the recommended value."""
    column = effect.axis.column
    trials = [view.trials[k] for k in view.rows(_STROKES) if view.trials[k].state == "ok"]
    exists = view.study.space.domain.active(np.array([t.point for t in trials]))[:, column]
    some = [t for t, is_there in zip(trials, exists, strict=True) if is_there]
    at = np.full(len(some), limits[0] + 0.03 * (limits[1] - limits[0]))
    (strokes,) = ax.plot([t.point[column] for t in some], at, "|", color="0.45", ms=6, mew=0.8)
    name_trials(strokes, [t.number for t in some])
    if view.recommended is not None and view.study.space.domain.active(view.chosen_point)[0, column]:
        line = ax.axvline(view.chosen_point[column], color=ORANGE, ls="--", lw=1.2)
        name_chosen(line, f"{view.chosen_words}: {effect.axis.value_at(float(view.chosen_point[column]))}")


def _common_limits(effects: Sequence[MainEffect]) -> tuple[float, float]:
    low, high = min(float(e.band[0].min()) for e in effects), max(float(e.band[1].max()) for e in effects)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _told(effect: MainEffect) -> str:
    low, high = (
        f"{short(float(effect.mean[k]), 3)} at {effect.axis.value_at(float(effect.places[k]))}"
        for k in (np.argmin(effect.mean), np.argmax(effect.mean))
    )
    return f"{effect.axis.short}: from {low} to {high}"

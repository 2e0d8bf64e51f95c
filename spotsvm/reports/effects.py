"""The section on the effects of the parameters: importance and main effects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from spotsvm.common.drawing import drawing, panels, plain, set_ticks
from spotsvm.reports.axes import StudyAxis, cut_name
from spotsvm.reports.model import StudyModel
from spotsvm.reports.page import Notice, Part, Picture, Section, Table, short
from spotsvm.reports.view import Importance, MainEffect, StudyView, main_effects

_MOST = 12
_POOR = 0.5


def effects_section(view: StudyView) -> Section | None:
    """Return the section, or None if no trial has succeeded."""
    if not view.done:
        return None
    several = view.study.objectives.several
    parts: list[Part] = []
    for k, model in enumerate(view.models):
        found = _of_one(view, k, model)
        parts += [Section(f"On {view.objective_name(k)}", found)] if several else found
    return Section("What the parameters do", parts)


def _of_one(view: StudyView, k: int, model: StudyModel | str) -> list[Part]:
    if isinstance(model, str):
        return [Notice(f"No effects can be shown. {model}", "note")]
    parts: list[Part] = [_trust(model)]
    shares = view.importances[k]
    order = list(range(len(view.axes)))
    if shares is not None:
        order = shares.order
        if len(view.axes) > 1:
            parts += _importance_parts(view.axes, shares)
    effects = main_effects(model, [view.axes[j] for j in order[:_MOST]], view.study.seed)
    return [*parts, _effects_picture(effects, view.study.objectives.labels[k], len(view.axes))]


def _trust(model: StudyModel) -> Part:
    share = max(model.explained, 0.0)
    text = (
        f"This is what a Kriging model of the trials shows. It explains {100 * share:.0f} % of the variance of the values if it "
        "predicts each configuration from the others"
    )
    if share >= _POOR:
        return text + "."
    return Notice(
        f"{text}: that is little, so take the effects as hints. More trials, or less noise, would make them clearer.", "warning"
    )


def _importance_parts(axes: Sequence[StudyAxis], shares: Importance) -> list[Part]:
    order = shares.order
    frame = pd.DataFrame(
        {
            "parameter": [axes[j].name for j in order],
            "alone (first order)": [round(float(shares.first[j]), 3) for j in order],
            "with others (total)": [round(float(shares.total[j]), 3) for j in order],
        }
    )
    return [
        "Importance is the share of the model's variance over the search space that a parameter explains, alone or together with "
        "others (Sobol indices). What several parameters explain together counts for each of them. Configurations are drawn "
        "uniformly on the scale of each parameter.",
        importance_picture(axes, shares),
        Table(frame, "Sobol indices, the most important parameter first"),
    ]


def importance_picture(axes: Sequence[StudyAxis], shares: Importance) -> Picture:
    """Draw the importances of the parameters as bars."""
    order = shares.order
    shown = order[: 2 * _MOST]
    with drawing(7.2, 0.7 + 0.27 * len(shown)) as figure:
        ax = figure.subplots()
        places = np.arange(len(shown))[::-1]
        first, total = shares.first[shown], shares.total[shown]
        ax.barh(places, first, color="#0072B2", height=0.62, label="alone")
        ax.barh(places, total - first, left=first, color="#0072B2", alpha=0.35, height=0.62, label="together with others")
        set_ticks(ax, "y", places.tolist(), [cut_name(axes[j].name, 32) for j in shown])
        ax.set_xlabel("share of the variance of the value")
        ax.set_xlim(0.0, max(1.0, float(total.max())))
        ax.legend(loc="lower right")
    told = ", ".join(f"{axes[j].name} {shares.total[j]:.0%}" for j in order[:5])
    return Picture(figure, "Importance of the parameters.", f"Bars, the total share of each parameter: {told}.")


def _effects_picture(effects: Sequence[MainEffect], label: str, number: int) -> Picture:
    columns = min(3, len(effects))
    rows = -(-len(effects) // columns)
    with drawing(2.45 * columns + 0.3 if columns > 1 else 4.5, 2.0 * rows + 0.3 if columns > 1 else 3.0) as figure:
        for k, (ax, effect) in enumerate(zip(panels(figure, len(effects), columns), effects, strict=True)):
            low, high = effect.mean - 1.96 * effect.error, effect.mean + 1.96 * effect.error
            if effect.axis.levels and not effect.axis.ordered:
                ax.vlines(effect.places, low, high, color="#0072B2", alpha=0.4, lw=5)
                ax.plot(effect.places, effect.mean, "o", color="#0072B2", ms=5)
            else:
                ax.fill_between(effect.places, low, high, color="#0072B2", alpha=0.2, lw=0)
                ax.plot(effect.places, effect.mean, color="#0072B2", marker="o" if effect.axis.levels else "", ms=3.5)
            set_ticks(ax, "x", *effect.axis.ticks())
            ax.set_xlim(0.0, 1.0)
            ax.set_ylim(*_common_limits(effects))
            ax.set_xlabel(plain(cut_name(effect.axis.name, 30)))
            ax.grid(axis="y", color="0.9", lw=0.6)
            if k % columns:
                ax.tick_params(labelleft=False)
        figure.supylabel(label, fontsize=9)
    some = f"The {len(effects)} most important parameters of {number}. " if len(effects) < number else ""
    over = ", averaged over all other parameters" if number > 1 else ""
    branches = {len(effect.axis.branches) for effect in effects}
    conditional = " A parameter that exists for some configurations only is averaged over those." if len(branches) > 1 else ""
    return Picture(
        figure,
        f"Main effects. {some}Each line is the predicted value{over}, with a 95 % confidence band.{conditional}",
        "; ".join(_told(effect) for effect in effects[:6]) + ".",
    )


def _common_limits(effects: Sequence[MainEffect]) -> tuple[float, float]:
    low = min(float((e.mean - 1.96 * e.error).min()) for e in effects)
    high = max(float((e.mean + 1.96 * e.error).max()) for e in effects)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def _told(effect: MainEffect) -> str:
    low, high = (
        f"{short(float(effect.mean[k]), 3)} at {effect.axis.value_at(float(effect.places[k]))}"
        for k in (np.argmin(effect.mean), np.argmax(effect.mean))
    )
    return f"{effect.axis.name}: from {low} to {high}"

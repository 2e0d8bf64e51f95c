"""The section that says which trial to use: recommended and best seen, or the front of several objectives."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spotsvm.recommendation import Recommendation
from spotsvm.reports.cells import MISSING, short
from spotsvm.reports.drawing import drawing
from spotsvm.reports.page import Part, Section
from spotsvm.reports.parts import Notice, Picture, Table
from spotsvm.reports.study_view import StudyView
from spotsvm.reports.thinned import MOST
from spotsvm.reports.tuned import counted


def recommended_section(view: StudyView) -> Section | None:
    """Give the section; None if no trial has succeeded."""
    if not view.done:
        return None
    if view.study.objectives.several:
        return Section("Which trials to choose from", _front(view))
    found = view.recommended
    assert found is not None
    there = view.trials[found.best_seen_number].point
    table = recommended_table(found, sum(t.point == there for t in view.done))
    return Section("What is recommended", [Notice(_words(found), "finding"), Table(table, _caption(found), digits=6)])


def recommended_table(found: Recommendation, best_seen_evaluations: int) -> pd.DataFrame:
    """Give a frame with a column for the recommended trial and one for the best seen, if that is another one.

    Parameters
    ----------
    found : Recommendation
        What `Study.recommend` gave.
    best_seen_evaluations : int
        How often the configuration of the best value seen was evaluated.
    """
    names = list(dict.fromkeys([*found.params, *found.best_seen_params]))
    noisy = found.basis == "predicted"
    rows = ["trial", "value", "known as", "standard error of the value", "evaluations", *names]
    recommended = [found.number, found.value, "predicted" if noisy else "seen", found.standard_error, found.n_evaluations]
    seen = [found.best_seen_number, found.best_seen_value, "seen", found.best_seen_standard_error, best_seen_evaluations]
    columns = {
        "recommended": [*recommended, *(found.params.get(name, MISSING) for name in names)],
        "best seen": [*seen, *(found.best_seen_params.get(name, MISSING) for name in names)],
    }
    frame = pd.DataFrame({"": rows, **{key: pd.Series(column, dtype=object) for key, column in columns.items()}})
    if found.number == found.best_seen_number and not noisy:
        frame = frame.drop(columns="best seen").rename(columns={"recommended": "recommended, and best seen"})
    return frame


def _words(found: Recommendation) -> str:
    if found.basis == "observed":
        return (
            f"Use trial {found.number}, the best that was seen, with the value {short(found.value, 6)}. Equal configurations "
            "have given equal values, or nothing speaks of noise, so the best value seen needs no correction for it."
        )
    same = dict(found.params) == dict(found.best_seen_params)
    text = (
        f"Use trial {found.number}: {short(found.value, 6)} is to be expected of it, with a standard error of "
        f"{short(found.standard_error, 2)}. "
    )
    if same:
        return text + (
            f"It is the configuration of the best value seen, too ({short(found.best_seen_value, 6)}), but a single value has a "
            f"standard error of about {short(found.best_seen_standard_error, 2)}, and the best of many is partly luck."
        )
    return text + (
        f"The best value seen is {short(found.best_seen_value, 6)}, at trial {found.best_seen_number}; a single value has a "
        f"standard error of about {short(found.best_seen_standard_error, 2)}, and the best of many is partly luck."
    )


def _caption(found: Recommendation) -> str:
    how = "the best predicted among the evaluated ones" if found.basis == "predicted" else "the best seen"
    return f"The recommended trial is {how}"


def _front(view: StudyView) -> list[Part]:
    from spotsvm.pareto_plot import plot_pareto

    front, objectives = view.front, view.study.objectives
    pairs = len(objectives) * (len(objectives) - 1) // 2
    columns = min(pairs, 3)
    rows = -(-pairs // columns)
    with drawing(6.5 if pairs == 1 else 3.5 * columns, 4.2 if pairs == 1 else 3.2 * rows) as figure:
        axes = figure.subplots(rows, columns, squeeze=False).ravel()
        for unused in axes[pairs:]:
            unused.remove()
        plot_pareto(view.trials, objectives, list(axes[:pairs]), MOST)
    table = [
        {"trial": t.number}
        | dict(zip((view.objective_name(k) for k in range(len(objectives))), t.values or (), strict=True))
        | {name: t.params.get(name) for name in view.study.space.names}
        for t in front
    ]
    named = " and ".join(objectives.labels)
    thin = f" Where they are more, {MOST} of the front and {MOST} others are drawn." if len(view.done) > MOST else ""
    return [
        Notice(
            f"No trial is the best in everything: {counted(len(front), 'trial')} of {len(view.done)} are not beaten by another "
            "one in every objective. Which of them to use depends on what each objective is worth to you.",
            "finding",
        ),
        Picture(
            figure,
            f"The trials by {named}; the front is what no other trial beats.{thin}",
            f"Scatter plot of {len(view.done)} trials, {len(front)} of them on the front; the table of the front follows.",
        ),
        Table(
            pd.DataFrame(table),
            "The front, from the best in the first objective on",
            rows_shown=np.linspace(0, len(table) - 1, min(len(table), MOST)).astype(np.intp),
        ),
    ]

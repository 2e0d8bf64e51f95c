"""The first section: the result of a study in a sentence, and its scores as a picture with intervals."""

from __future__ import annotations

from math import nan

import numpy as np

from spotsvm.common.drawing import drawing, panels
from spotsvm.common.text import counted, duration, short
from spotsvm.luck.sentences import expectation
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.html.cells import cell_of
from spotsvm.reports.html.findings import findings_of
from spotsvm.reports.html.page import Highlight, Part, Picture, Section
from spotsvm.reports.verdict import interval_picture, verdict_parts
from spotsvm.reports.view import MOST, SURE, StudyView
from spotsvm.trials.findings import ROWS
from spotsvm.trials.ledger import finished_counts
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.objectives import BETTER
from spotsvm.trials.recommendation import Recommendation, why_none
from spotsvm.trials.trial import holds_bounds


def facts(view: StudyView) -> list[tuple[str, str]]:
    """Return the facts about the study for the head of a page."""
    table = view.findings.table
    named = [(name, cell_of(value)[0]) for name, value in table.items() if isinstance(value, str | int | float)]
    objectives = view.study.objectives
    if not table and objectives.several:
        named += [(name, BETTER[way]) for name, way in zip(objectives.names, objectives.directions, strict=True)]
    elif not table:
        way = BETTER[objectives.directions[0]]
        named.append(("Value", way) if view.unit is None else ("Score", f"{view.unit.title}; {way}"))
    named += [("Search", view.search), ("Trials", _counts(view))]
    named += [("Failed", str(len(view.failed)))] if view.failed else []
    return [*named, ("Time of the trials", duration(view.seconds))] if view.seconds >= 1e-3 else named


def _counts(view: StudyView) -> str:
    ended, values = finished_counts(view.trials)
    below = "; each value has its own number and is called a trial below"
    return str(ended) if ended == values else f"{ended}, with {values} values in their sweeps{below}"


def fitted_parts(model: FittedModel) -> list[Part]:
    """Return what to know before a score is trusted, and the verdict on tuning."""
    parts: list[Part] = [Highlight(sentence, "warning") for sentence in model.notices]
    return parts if model.verdict is None else [*parts, Highlight(str(model.verdict), "finding")]


def outcome_section(view: StudyView) -> Section:
    """Return the section."""
    notices: list[Part] = [Highlight(sentence, "warning") for sentence in view.findings.notices]
    parts = notices if view.fitted is None or view.verdict is not None else fitted_parts(view.fitted)
    if view.has_unread_verdict:
        parts.append(
            Highlight(
                "The verdict on tuning in this record was written by another version of spotsvm, and is not shown. The command "
                "that made the record makes the verdict anew, without a new evaluation.",
                "warning",
            )
        )
    if view.n_running:
        parts.append(
            Highlight(
                f"{counted(view.n_running, 'trial')} had no result when this report was made: the study was running, or had been "
                "interrupted. The report is about the finished trials.",
                "warning",
            )
        )
    if not view.done:
        parts.append(Highlight("No trial has succeeded yet, so there is no recommendation, and no effects are shown.", "warning"))
    elif view.study.objectives.several and view.front:
        parts += _front(view)
    elif view.recommended is None:
        parts.append(Highlight(f"There is no recommendation yet: {why_none(view.trials)}.", "warning"))
    elif view.verdict is not None:
        parts += verdict_parts(view.verdict)
    else:
        parts += [Highlight(_words(view, view.recommended), "finding"), *_interval_of(view, view.recommended)]
    return Section("Result", [*parts, *findings_of(view.findings, ROWS)])


def _around(view: StudyView, value: float, error: float) -> tuple[float, float]:
    low, high = view.possible(np.array([value - SURE * error, value + SURE * error]))
    return float(low), float(high)


def _interval_of(view: StudyView, best: Recommendation) -> list[Part]:
    """Return a picture of the recommended value, the best seen and the expected score, if an error is known."""
    rows: list[tuple[str, float, float, float]] = []
    expected = view.expected
    if best.basis == "predicted" and best.standard_error > 0:
        rows = [
            ("recommended, expected", best.value, *_around(view, best.value, best.standard_error)),
            ("best seen", best.best_seen_value, *_around(view, best.best_seen_value, best.best_seen_standard_error or nan)),
        ]
    elif expected is not None and expected.known:
        unit = ScoreUnit(expected.metric)
        # with nested searches, the tuned score is a mean over outer folds, and not a score of this trial
        rows = [("on the folds", float(view.trials[best.number].value or 0.0), nan, nan)]
        rows.append(("to expect", unit.value(expected.value), *unit.interval(expected.interval)))
    if not rows:
        return []
    return [interval_picture(rows, view.study.objectives.labels[0], "The recommended configuration.")]


def _words(view: StudyView, found: Recommendation) -> str:
    best = short(found.best_seen_value, 6)
    value = short(float(view.trials[found.number].value or 0.0), 6)
    other = view.trials[found.number].value != found.best_seen_value
    seen = f" The best {view.objective_name(0)} seen is {best}, in trial {found.best_seen_number}." if other else ""
    model = view.fitted
    if model is not None and model.expected is not None and (model.average or dict(model.best_params) != dict(found.params)):
        fitted = f"the {model.members_words('candidate')}" if model.average else "another trial"
        return (
            f"The fitted model is {fitted}: on new data {expectation(model.expected)}. Trial {found.number} alone is the best on "
            f"the given folds; its {view.score_name} there, {value}, is optimistic.{seen}"
        )
    if (expected := view.expected) is not None:
        return (
            f"Use trial {found.number}: its {view.score_name} on the given folds is {value}.{seen} The best of many is "
            f"optimistic: on new data {expectation(expected)}."
        )
    if found.basis == "observed":
        out = sum(not holds_bounds(t) for t in view.done)
        held = f" of those that hold the bounds ({counted(out, 'trial')} of {len(view.done)} did not)" if out else ""
        noise = ", and no noise was found between evaluations" if view.noise == "deterministic" else ""
        return f"Use trial {found.number}: its value, {value}, is the best seen{held}{noise}."
    if found.basis == "verdict":
        return f"Use trial {found.number}, as recommended by the comparison with the default. Its value is {value}.{seen}"
    if dict(found.params) == dict(found.best_seen_params):
        told = f"Its configuration also has the best value seen, {best}"
    else:
        told = f"The best value seen is {best}, in trial {found.best_seen_number}"
    return (
        f"Use trial {found.number}: its expected value is {short(found.value, 6)}, with a standard error of "
        f"{short(found.standard_error, 2)}. {told}; but a single value has a standard error of about "
        f"{short(found.best_seen_standard_error, 2)}, and the best of many is too good on average."
    )


def _front(view: StudyView) -> list[Part]:
    from spotsvm.trials.pareto import plot_pareto

    front, objectives = view.front, view.study.objectives
    pairs = len(objectives) * (len(objectives) - 1) // 2
    columns = min(pairs, 3)
    with drawing(4.4 if pairs == 1 else 3.2 * columns, 3.6 if pairs == 1 else 3.0 * -(-pairs // columns)) as figure:
        axes = panels(figure, pairs, columns)
        plot_pareto(view.trials, objectives, axes, MOST)
    named = " and ".join(objectives.labels)
    thin = f" At most {MOST} trials of the front and {MOST} others are drawn." if len(view.done) > MOST else ""
    return [
        Highlight(
            f"The front has {counted(len(front), 'trial')} of {len(view.done)}: no other trial is better in one objective and at "
            "least as good in all others. Which of them to use depends on how much each objective matters to you.",
            "finding",
        ),
        Picture(
            figure,
            f"The trials by {named}, and their front.{thin}",
            f"Scatter plot of {len(view.done)} trials, {len(front)} of them on the front; the table of the front follows.",
        ),
    ]

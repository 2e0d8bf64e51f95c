"""The sections of a page on a fitted model: its score to expect, its answers for judged rows, its members and its columns."""

from __future__ import annotations

import pandas as pd

from spotsvm.common.text import short
from spotsvm.luck.bootstrap import N_DRAWS
from spotsvm.reports.fitted_methods import LEARNED, score_rows
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.html.page import Highlight, Part, Section, Table
from spotsvm.reports.judged_classes import calibration_parts, confusion_parts, curves_parts, sets_parts, worst_classes
from spotsvm.reports.judged_numbers import errors_parts, worst_numbers
from spotsvm.reports.members import members_parts

_WORST = 10  # rows that are listed
_DRAWN = {"rows": "rows", "groups": "groups", "blocks": "blocks of consecutive rows"}


def fitted_facts(model: FittedModel, with_score: bool = True) -> list[tuple[str, str]]:
    """Return the facts about a model for the head of a page, and for a notebook."""
    named = [
        ("Model", model.members_words("candidate") or ("the best candidate" if model.chosen == "best" else "a single candidate"))
    ]
    named += [("Class weights", model.class_weights)] if model.class_weights else []
    named += [("Threshold", model.threshold)] if model.threshold else []
    named.append(("Rows used", f"{model.fitted_on} fitted; judged by models that had not seen them: {model.judged_words}"))
    if model.expected is not None and with_score:
        named.append((f"Expected {model.score_title}", model.expected.text()))
    return [*named, ("Time of the fit", model.times)] if model.times else named


def expected_section(model: FittedModel) -> Section | None:
    """Return the section on the scores to expect of the model, the default and a constant; None without one."""
    expected, unit = model.expected, model.unit
    if expected is None:
        return None
    ends = {True: "rows too few", False: ""}
    rows = [
        (name, value, f"{short(low)} to {short(high)}" if score.known else ends[score.too_few])
        for (name, value, low, high), (_, score) in zip(score_rows(model), model.expected_scores, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["model", unit.title, f"{100 * expected.confidence:g} % interval"])
    held = f"The {model.n_held_out} held-out rows were scored by the fitted models; each row counts the same. "
    parts: list[Part] = [
        Table(frame, "Scores to expect on new rows", one_kind=True),
        f"{model.score_title}: {unit.better}. Each score is the mean over {N_DRAWS} draws of {_DRAWN[model.drawn]}. In each draw "
        "the choice among all candidates, of an average their weights, is made again on the drawn rows, and the result is judged "
        "on the others, by answers of models that have not seen them; the mean is corrected by the .632 rule for the smaller "
        f"number of rows. So the choice among candidates does not bias it. {held * (model.n_held_out > 0)}The interval is for "
        "the score on many new rows of the same kind, drawn as these were; it does not cover rows of another time or place, nor "
        "rows that depend on each other without groups to say so.",
    ]
    if model.default is not None:
        parts.append(f"The default model is {model.default_is.replace('`', '')}.")
    if expected.too_few:
        parts.insert(0, Highlight(f"The {unit.title} to expect is {expected.text()}.", "warning"))
    if not model.complete:
        parts.append(
            Highlight("The timeout ended the fit before all candidates were scored or all members were fitted.", "warning")
        )
    return Section("Expected score", parts)


def answers_section(model: FittedModel) -> Section | None:
    """Return the section on the predictions for judged rows: right and wrong ones, and the worst; None without any."""
    judged = model.judged()
    if judged is None:
        return None
    if model.classes is None:
        parts = errors_parts(judged)
        places, worst = worst_numbers(judged, _WORST)
    else:
        parts = [*confusion_parts(model, judged), *curves_parts(model, judged, model.classes)]
        places, worst = worst_classes(judged, model.classes, _WORST)
    if len(places):
        rows = judged.rows[places]
        worst.insert(0, "row", rows if model.row_names is None else [model.row_names[k] for k in rows])
        caption = f"The {len(places)} rows predicted worst, out of fold. {model.rows_counted}"
        parts.append(Table(worst, caption))
    return Section("Predictions", parts) if parts else None


def probabilities_section(model: FittedModel) -> Section | None:
    """Return the section on probabilities and sets of classes for judged rows; None without any."""
    judged = None if model.classes is None else model.judged()
    if judged is None or model.classes is None or judged.probabilities is None:
        return None
    return Section("Probabilities", [*calibration_parts(model, judged, model.classes), *sets_parts(judged, model.classes)])


def members_section(model: FittedModel) -> Section | None:
    """Return the section on the members of an average, and on all settings; None without a table of them."""
    if model.settings is None:
        return None
    of_loss = ", with a minus, as that of a loss" if model.unit.is_error else ""
    text = f"{model.about_settings} weight is the share in the model"
    if "score" in model.settings:
        text += (
            f"; score is the {model.score_title} of the candidate alone on all judged rows{of_loss}. The best of many such "
            "scores is too good to be expected on new rows"
        )
    parts: list[Part] = [f"{text}."]
    parts += members_parts(model)
    return Section("Members", [*parts, Table(model.settings, f"All {len(model.settings)} settings", folded=True)])


def columns_section(model: FittedModel) -> Section | None:
    """Return the section on the treatment of the columns; None if it is unknown."""
    if model.columns is None:
        return None
    parts: list[Part] = [Table(model.columns, "Columns of X"), LEARNED]
    if model.relevance is not None:
        frame = model.relevance.sort_values(ascending=False).rename_axis("number").reset_index()
        parts.append(Table(frame, "Learned relevance, 1 in the root mean square", folded=len(frame) > 20))
    return Section("Columns", parts)

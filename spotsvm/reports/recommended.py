"""The section on the choice: the recommended parameters with their plausible ranges, or the front of several objectives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.text import MISSING, headings_apart, short, short_names, value_text
from spotsvm.reports.axes import StudyAxis
from spotsvm.reports.html.page import Highlight, Part, Section, Table
from spotsvm.reports.model import StudyModel
from spotsvm.reports.view import MOST, SURE, StudyView
from spotsvm.trials.edges import edges_of
from spotsvm.trials.recommendation import Recommendation

_HOW = {
    "predicted": "the best predicted among the evaluated trials",
    "observed": "the best seen",
    "verdict": "the trial that the comparison with the default recommends",
}
_GRID = 101
#: text if all values are plausible
WHOLE = "the score does not depend on it here"
_WHAT_IS_PLAUSIBLE = (
    "A value of a parameter is plausible if the Kriging model of the trials, with all other parameters as recommended, predicts "
    "nearly the same result as at the recommended configuration: within {width}."
)


def recommended_section(view: StudyView) -> Section | None:
    """Return the section; None without a successful trial that holds the bounds."""
    if view.study.objectives.several:
        return Section("Which trials to choose from", _front(view)) if view.front else None
    best = view.recommended
    if best is None:
        return None
    params = view.params
    ranges, width = plausible_ranges(view)
    table = parameter_table(view, params, ranges)
    verdict = view.verdict
    other = verdict is not None and bool(verdict.rival)
    parts: list[Part] = [Table(table, "The parameters of the better SVM" if other else "The parameters to use", 6)]
    if verdict is not None and other:
        parts.insert(0, f"Recommended in place of the SVM is {verdict.recommended_name}; this section is about the SVM.")
    if view.chosen_number is not None:
        parts.append(
            Table(recommended_table(view, best), f"The recommended trial{' of the SVM' * other} is {_HOW[best.basis]}", 6)
        )
    else:
        parts.append("These are the default parameters, which are not a trial of the search.")
    if shortened := [f"{short_name} is {name}" for name, short_name in short_names(params).items() if short_name != name]:
        parts.append(f"Full names: {', '.join(shortened)}.")
    if ranges:
        parts.append(_WHAT_IS_PLAUSIBLE.format(width=width))
    parts += [Highlight(str(edge), "note") for edge in edges_of(params, view.study.space)]
    return Section("Recommended parameters", parts)


def parameter_table(view: StudyView, params: Mapping[str, Any], ranges: Mapping[str, str]) -> pd.DataFrame:
    """Return a frame with a row per parameter: short name, recommended value, plausible range, and searched range."""
    rows = []
    for name, short_name in short_names(params).items():
        axes = [axis for axis in view.axes if axis.full == name]
        searched = " or ".join(dict.fromkeys(map(_searched, axes)))
        rows.append((short_name, value_text(params[name], 6), ranges.get(name, MISSING), searched or "fixed"))
    return pd.DataFrame(rows, columns=["parameter", "recommended", "plausible range", "searched"])


def _searched(axis: StudyAxis) -> str:
    if axis.levels and not axis.ordered:
        return ", ".join(axis.labels) if axis.labels else f"{axis.levels} values"
    return f"{axis.value_at(0.0)} to {axis.value_at(1.0 - 1e-12)}"


def plausible_ranges(view: StudyView) -> tuple[dict[str, str], str]:
    """Return the plausible range of each parameter of the recommended trial, and the tolerance in words.

    A value is plausible if the predicted mean, all else as recommended, is worse by at most the standard error: of the folds'
    mean, else of the recommended value under noise, else of the model's prediction.
    """
    model = view.models[0]
    if isinstance(model, str) or view.recommended is None or not view.is_in_space:
        return {}, ""
    allowed, width = _allowed(view)
    point = view.chosen_point
    exists = view.study.space.domain.active(point)[0]
    ranges = {}
    for axis in view.axes:
        if axis.parameter is None or not exists[axis.column] or axis.levels == 1:
            continue
        places = np.union1d(axis.grid(_GRID), point[axis.column])
        ranges[axis.full] = _range_words(axis, places, _plausible(model, axis, places, point, allowed), point[axis.column])
    return ranges, width


def _allowed(view: StudyView) -> tuple[float, str]:
    """Return the tolerance of plausible values (0 if the model's standard error decides), and the same in words."""
    luck, best = view.luck, view.recommended
    assert best is not None
    if not isinstance(luck, str) and luck.expected_score.error > 0:
        error = luck.expected_score.error
        return error, f"{short(error, 2)}, the standard error of the score over folds"
    if best.basis == "predicted" and best.standard_error > 0:
        return best.standard_error, f"{short(best.standard_error, 2)}, the standard error of the recommended value"
    return 0.0, f"{SURE} standard errors of the model's prediction"


def _plausible(model: StudyModel, axis: StudyAxis, places: Any, point: Any, allowed: float) -> Any:
    mean, error = model.along(point, axis.column, places)
    here = int(np.argmin(np.abs(places - point[axis.column])))
    with np.errstate(over="ignore"):  # values near the largest number
        worse = model.sign * (mean - mean[here])
    return (worse <= allowed + (0.0 if allowed else SURE * error)) | (np.arange(len(places)) == here)


def _range_words(axis: StudyAxis, places: Any, plausible: Any, own: float) -> str:
    """Return the plausible values in words: categories, the range around the recommended value, or that all are plausible."""
    if plausible.all():
        return WHOLE
    if axis.levels and not axis.ordered:
        return ", ".join(dict.fromkeys(axis.value_at(place) for place in places[plausible]))
    here = int(np.argmin(np.abs(places - own)))
    low = here - int(np.argmin(np.append(plausible[here::-1], False))) + 1
    high = here + int(np.argmin(np.append(plausible[here:], False))) - 1
    ends = [axis.value_at(float(places[k])) for k in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def recommended_table(view: StudyView, best: Recommendation) -> pd.DataFrame:
    """Return a frame with a column for the recommended trial, and a column for the best seen if this is another trial."""
    there = view.trials[best.best_seen_number].point
    expected = best.basis == "predicted"
    cells: list[tuple[str, Any, Any]] = [
        ("trial", best.number, best.best_seen_number),
        (f"{view.objective_name(0)} seen", view.trials[best.number].value, best.best_seen_value),
        *([(f"expected {view.objective_name(0)}", best.value, np.nan)] if expected else []),
    ]
    # if there are intervals of the score on new data, they are the relevant errors
    if isinstance(view.luck, str) and (best.standard_error or best.best_seen_standard_error):
        cells.append(("standard error", best.standard_error or np.nan, best.best_seen_standard_error or np.nan))
    cells.append(("evaluations", best.n_evaluations, sum(t.point == there for t in view.done)))
    rows, recommended, seen = (list(column) for column in zip(*cells, strict=True))
    frame = pd.DataFrame({"": rows, "recommended": pd.Series(recommended, dtype=object)})
    if best.number != best.best_seen_number or best.basis == "predicted":
        frame["best seen"] = pd.Series(seen, dtype=object)
    return frame


def _front(view: StudyView) -> list[Part]:
    front, objectives = view.front, view.study.objectives
    values = headings_apart((view.objective_name(k) for k in range(len(objectives))), ["trial"], "value_")
    shown = short_names(view.study.space.names)
    apart = headings_apart(shown.values(), ["trial", *values.values()], "param_")
    names = {name: apart[one] for name, one in shown.items()}
    table = [
        {"trial": t.number}
        | dict(zip(values.values(), t.values or (), strict=True))
        | {names[name]: t.params.get(name) for name in names}
        for t in front
    ]
    return [
        Table(
            pd.DataFrame(table),
            "The front, the best trials in the first objective first",
            rows_shown=np.linspace(0, len(table) - 1, min(len(table), MOST)).astype(np.intp),
            trials=[t.number for t in front],
            names={one: name for name, one in names.items()},
        )
    ]

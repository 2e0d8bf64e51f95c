"""The section on oversearching: how much of the best value is luck, by the best estimate available."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import count_axis, drawing, plain
from spotsvm.common.errors import ArgumentError, NoCompletedTrialError
from spotsvm.common.text import printable_line
from spotsvm.reports.convergence import best_so_far
from spotsvm.reports.page import Notice, Part, Picture, Section, Table, cut_text, short
from spotsvm.reports.view import StudyView
from spotsvm.trials.recommendation import CONFIRM
from spotsvm.trials.scores.fold_bias import optimism_of_trials, tuned_metric
from spotsvm.trials.scores.fresh_partitions import optimism_of_partitions
from spotsvm.trials.scores.optimism import Optimism
from spotsvm.trials.trial import Trial

_TEST = re.compile(r"(?:test|holdout|held_out|outer)(?:_.*)?|.*_(?:test|holdout|held_out)", re.IGNORECASE)
_MOST_ROWS = 2000
_CAPTIONS = {
    "nested": "Tuned scores of the inner searches, and scores of what they chose on the outer folds.",
    "repeats": "Tuned scores of the winner and the runners-up, and their scores on fresh splits.",
    "partitions": "The tuned score of the chosen candidate, and its score on each partition that had no part in the choice.",
    "folds": "The score of each fold's own best candidate, and that of the winner of all folds, fold by fold.",
}
_HOW_TO_KNOW = (
    "To measure it, run spotsvm.oversearching(search, X, y, outer=5) with the SpotSearchCV of this study, and store the result "
    'by study.add_finding("oversearching", found.to_dict()); or let the objective return a score on rows that the search does '
    'not use, as {"value": ..., "test_score": ...}.'
)


def oversearching_section(view: StudyView) -> Section | None:
    """Return the section, or None if there is no best trial and no finding."""
    found = view.findings.get("oversearching")
    further = other_findings(view.findings)
    known = bool(view.done) if view.study.objectives.several else view.recommended is not None
    if not known and found is None and not further:
        return None
    parts: list[Part] = []
    if found is not None:
        parts += _measured(found)
    elif known:
        parts += _from_trials(view)
    return Section("How much of it is luck", [*parts, *further])


def _measured(found: Mapping[str, Any]) -> list[Part]:
    try:
        if any(isinstance(value, list) and len(value) > _MOST_ROWS for value in found.values()):
            raise ValueError(f"it has more than {_MOST_ROWS} rows")
        return _optimism_parts(Optimism.from_dict(found))
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        return [Notice(f"The finding on oversearching cannot be read: {printable_line(str(error), 200)}", "warning")]


def _optimism_parts(optimism: Optimism) -> list[Part]:
    with drawing(6.4, 3.7) as figure:
        optimism.plot(figure.subplots())
    frame = optimism.frame()
    parts: list[Part] = [
        Notice(optimism.summary(), "finding"),
        Picture(
            figure,
            _CAPTIONS[optimism.method],
            f"The tuned score is {short(optimism.tuned_score)}, and {short(optimism.outer_score)} is to be expected on new data.",
        ),
    ]
    return [*parts, Table(frame, "What it comes from")] if len(frame) else parts


def _from_trials(view: StudyView) -> list[Part]:
    if view.study.objectives.several:
        return ["For several objectives this page has no estimate of how much of the front is luck. " + _HOW_TO_KNOW]
    metric = tuned_metric(view.done[:5])
    if metric is not None:
        found = view.recommended
        chosen = found.number if found is not None and found.basis in ("confirmed", "criterion", "verdict") else None
        if "fresh folds" in view.findings.get(CONFIRM, {}) and found is not None and found.basis == "confirmed":
            tuned = float(view.trials[found.number].value or 0.0)
            optimism = optimism_of_partitions(view.findings[CONFIRM], tuned, len(view.trials), params=found.params, metric=metric)
            return [*_optimism_parts(optimism), "This estimate takes no further evaluations. " + _HOW_TO_KNOW]
        try:
            return [
                *_optimism_parts(optimism_of_trials(view.trials, metric, chosen=chosen)),
                "This estimate takes no further evaluations, and is rough. " + _HOW_TO_KNOW,
            ]
        except (ArgumentError, NoCompletedTrialError):
            pass  # one fold only, or races that ended early: nothing can be said from the folds
    if name := _test_score(view.done):
        return _tuned_and_test(view, name)
    return [*_models_view(view), _HOW_TO_KNOW]


def _test_score(done: list[Trial]) -> str:
    """Return the name of a number that all trials have and that is called like a test score; empty if there is none."""
    common = [name for name in done[0].extra if all(name in t.extra for t in done)]
    return next((name for name in common if _TEST.fullmatch(name)), "")


def _tuned_and_test(view: StudyView, name: str) -> list[Part]:
    """Return the value of the best trial so far and its test score, over the trials."""
    sign = float(view.study.objectives.signs[0])
    tuned = best_so_far(view.done, sign)
    values = view.values()
    better = np.diff(tuned, prepend=np.nan) != 0
    leader = np.maximum.accumulate(np.where(better, np.arange(len(values)), 0))
    test = np.array([t.extra[name] for t in view.done])[leader]
    gap = sign * (test[-1] - tuned[-1])
    numbers = np.arange(1, len(values) + 1)
    with drawing(6.8, 3.5) as figure:
        ax = figure.subplots()
        ax.step(numbers, tuned, where="post", color="#0072B2", lw=1.8, label="value of the best trial so far")
        ax.step(numbers, test, where="post", color="#D55E00", lw=1.5, ls="--", label=plain(f"its {name}"))
        count_axis(ax)
        ax.set_xlabel("trials that succeeded")
        ax.set_ylabel(plain(view.study.objectives.labels[0]))
        ax.legend(loc="best")
    verdict = f"the value is too good by {short(float(gap))}" if gap > 0 else "the value is not too good"
    return [
        Notice(
            f"The best trial has the value {short(float(tuned[-1]))} and the {name} {short(float(test[-1]))}: {verdict}. This "
            f"assumes that {name} is the same kind of score as the value, on data that the search has not used.",
            "finding",
        ),
        Picture(
            figure,
            f"The value of the best trial so far, and its {name}.",
            f"Two lines: the value goes from {short(float(tuned[0]))} to {short(float(tuned[-1]))}, the {name} of the same trial "
            f"from {short(float(test[0]))} to {short(float(test[-1]))}.",
        ),
    ]


def _models_view(view: StudyView) -> list[Part]:
    """Return how much of the best value seen is luck according to the model."""
    found = view.recommended
    assert found is not None
    if found.basis != "predicted":
        return [
            "No noise was found, so another evaluation of the best configuration would give the same value. New data can differ: "
            "if the value is a score on some rows, the best of many such scores is too good."
        ]
    model = view.models[0]
    sign, expected = float(view.study.objectives.signs[0]), found.value
    if not isinstance(model, str):
        expected = float(model.mean(np.array(view.trials[found.best_seen_number].point)[None])[0])
    gap = sign * (expected - found.best_seen_value)
    seen, predicted = short(found.best_seen_value), short(found.best_seen_value + sign * gap)
    much = f"{short(gap, 3)} of the best value seen, {seen}, is luck" if gap > 0 else f"the best value seen, {seen}, is not luck"
    return [
        Notice(
            f"According to the Kriging model, {much}: it predicts {predicted} for the same configuration, and a single value has "
            f"a standard error of about {short(found.best_seen_standard_error, 2)}. This is the noise between evaluations only; "
            "new data can differ by more.",
            "finding",
        )
    ]


#: headings of the library's own findings
_HEADINGS = {
    "stop": "Whether to go on",
    "timeout": "Time limit",
    "rows": "Rows that the machine was fitted on",
    "confirm": "What further partitions say",
    "judgement": "Whether the recommendation holds on fresh data",
}
_MOST_CELLS = 1_000_000


def other_findings(findings: Mapping[str, Mapping[str, Any]]) -> list[Part]:
    """Return a section for each finding but that on oversearching: its sentence, and its numbers as tables.

    Examples
    --------
    >>> [section.heading for section in other_findings({"stop": {"sentence": "It went on."}, "oversearching": {}})]
    ['Whether to go on']
    """
    return [_section(name, finding) for name, finding in findings.items() if name != "oversearching"]


def _section(name: str, finding: Mapping[str, Any]) -> Section:
    parts: list[Part] = []
    for key in ("sentence", "summary"):
        if isinstance(text := finding.get(key), str):
            parts.append(Notice(cut_text(text), "finding"))
    single = [(key, _text(value)) for key, value in finding.items() if key not in ("sentence", "summary") and not _rows(value)]
    if single:
        parts.append(Table(pd.DataFrame(single, columns=["what", "value"]), cut_text(f"The finding {name!r}")))
    for key, value in finding.items():
        if _rows(value):
            # rows of one kind have few columns; those of a record may each have others
            names = list(dict.fromkeys(k for row in value for k in row))
            rows = value[: max(_MOST_CELLS // max(len(names), 1), 1)]
            frame = pd.DataFrame([{k: _cell(v) for k, v in row.items()} for row in rows], columns=names)
            left = "" if len(rows) == len(value) else f" (the first {len(rows)} of {len(value)} rows)"
            parts.append(Table(frame, cut_text(f"{name}: {key}") + left))
    return Section(_HEADINGS.get(name, cut_text(f"Finding: {name}")), parts)


def _rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _cell(value: Any) -> Any:
    return _text(value) if isinstance(value, list | Mapping) else value


def _text(value: Any) -> Any:
    """Return a list or a mapping as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(str(_text(one)) for one in value)
    return f"{value:.6g}" if isinstance(value, float) else value

"""The section on oversearching: how much of the best value is luck, by the best estimate available."""

from __future__ import annotations

import re
from math import isclose

import numpy as np
import pandas as pd

from spotsvm.common.drawing import BLUE, ORANGE, count_axis, drawing, plain
from spotsvm.common.text import short, short_names
from spotsvm.luck.optimism import Optimism
from spotsvm.reports.convergence import best_so_far
from spotsvm.reports.html.findings import findings_of
from spotsvm.reports.html.page import Highlight, Part, Picture, Section, Table
from spotsvm.reports.view import StudyView
from spotsvm.trials.findings import JUDGEMENT, OVERSEARCHING
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.trial import Trial

_TEST = re.compile(r"(?:test|holdout|held_out|outer)(?:_.*)?|.*_(?:test|holdout|held_out)", re.IGNORECASE)
_HEADING = "How optimistic is it"
_CAPTIONS = {
    "nested": "Tuned scores of the inner searches, and scores of their winners on the outer folds.",
    "folds": "The score of each fold's own best candidate, and of the winner over all folds, fold by fold.",
}
_HOW_TO_KNOW = (
    "To measure it, run spotsvm.oversearching(search, X, y, outer=5) with the SpotSearchCV of this study, and store the result "
    'by study.add_finding("oversearching", found.to_dict()); or let the objective return a score on rows that the search does '
    'not use, as {"value": ..., "test_score": ...}.'
)


def oversearching_section(view: StudyView) -> Section | None:
    """Return the section, or None if there is no best trial and no finding."""
    has_best = bool(view.done) if view.study.objectives.several else view.recommended is not None
    further = findings_of(view.findings, JUDGEMENT)
    luck = view.luck
    if OVERSEARCHING not in view.findings and view.fitted is not None and view.fitted.expected is not None:
        return Section(_HEADING, further) if further else None  # the page has a better estimate than that of the folds
    if isinstance(luck, str):
        if not (has_best or luck or further):
            return None
        parts = [Highlight(luck, "warning")] if luck else _from_trials(view) if has_best else []
    else:
        parts = [*_of_default(view, luck), *_optimism_parts(luck)]
        if OVERSEARCHING not in view.findings:
            rough = ", and is rough" if luck.how == "folds" else ""
            parts.append(f"This estimate takes no further evaluations{rough}. {_HOW_TO_KNOW}")
    return Section(_HEADING, [*parts, *further])


def _of_default(view: StudyView, luck: Optimism) -> list[Part]:
    verdict = view.verdict
    if verdict is None or (
        verdict.replaced is None
        and not verdict.rival
        and (verdict.recommended == "tuned" or isclose(verdict.default_on_folds, luck.tuned_score))
    ):
        return []
    return [
        "The recommended model is not the one that the search chose by its scores. This section is about the search's choice."
    ]


def _optimism_parts(optimism: Optimism) -> list[Part]:
    unit = ScoreUnit(str(optimism.metric))
    tuned, new = (short(unit.value(score)) for score in (optimism.tuned_score, optimism.expected_score.value))
    with drawing(4.4, 3.3) as figure:
        ax = optimism.plot(figure.subplots())
        ax.set_title("")  # the sentence beside it says as much
        ax.set_ylabel(plain(unit.title))
        if (legend := ax.get_legend()) is not None:
            legend.remove()  # it may hide points
        figure.legend(*ax.get_legend_handles_labels(), loc="outside upper left", ncols=2)
    frame = _readable(optimism.frame())
    frame = frame.assign(**{name: frame[name].map(unit.value) for name in ("tuned", "outer") if name in frame})
    parts: list[Part] = [
        Highlight(optimism.summary(), "finding"),
        Picture(
            figure,
            _CAPTIONS[optimism.how],
            f"The tuned score is {tuned}, and {new} is to be expected on new data.",
        ),
    ]
    return [*parts, Table(frame, "Scores behind this estimate")] if len(frame) else parts


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the resamples, numbered from 1 as in the picture, with the parameters that differ under short names."""
    params = [str(name) for name in frame.columns if str(name).startswith("param_")]
    differ = [name for name in params if frame[name].map(repr).nunique() > 1]
    frame = frame.drop(columns=[name for name in params if name not in differ])
    if len(frame) and frame.iloc[:, 0].tolist() == list(range(len(frame))):
        frame.isetitem(0, np.arange(1, len(frame) + 1))
    short_ones = short_names(name.removeprefix("param_") for name in differ)
    return frame.rename(columns={f"param_{name}": one for name, one in short_ones.items() if one not in frame.columns})


def _from_trials(view: StudyView) -> list[Part]:
    if view.study.objectives.several:
        return ["For several objectives this page has no estimate of how optimistic the front is. " + _HOW_TO_KNOW]
    if name := _test_score(view.done):
        return _tuned_and_test(view, name)
    return [*_models_view(view), _HOW_TO_KNOW]


def _test_score(done: list[Trial]) -> str:
    """Return the name of a test score that all trials have; empty if there is none."""
    common = [name for name in done[0].extra if all(name in t.extra for t in done)]
    return next((name for name in common if _TEST.fullmatch(name)), "")


def _tuned_and_test(view: StudyView, name: str) -> list[Part]:
    """Return the value of the best trial so far and its test score, over the trials."""
    tuned = best_so_far(view.done, view.sign)
    values = view.values()
    better = np.diff(tuned, prepend=np.nan) != 0
    leader = np.maximum.accumulate(np.where(better, np.arange(len(values)), 0))
    test = np.array([t.extra[name] for t in view.done])[leader]
    gap = view.sign * (test[-1] - tuned[-1])
    numbers = np.arange(1, len(values) + 1)
    with drawing(4.4, 3.1) as figure:
        ax = figure.subplots()
        ax.step(numbers, tuned, where="post", color=BLUE, lw=1.8, label="value of the best trial so far")
        ax.step(numbers, test, where="post", color=ORANGE, lw=1.5, ls="--", label=plain(f"its {name}"))
        count_axis(ax)
        ax.set_xlabel("trials that succeeded")
        ax.set_ylabel(plain(view.study.objectives.labels[0]))
        ax.legend(loc="best")
    verdict = f"the value is too good by {short(float(gap))}" if gap > 0 else "the value is not too good"
    return [
        Highlight(
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


_SAME = "another evaluation of the best configuration would give the same value."
#: sentences about the noise if no model of it was fitted, or the model shows no noise
_WITHOUT_MODEL = {
    "deterministic": f"No noise was found where a configuration was evaluated again, so {_SAME}",
    "declared deterministic": f"The objective was declared to be without noise, so {_SAME}",
    "noisy": (
        "The values differ between evaluations of one configuration; there are too few to say by how much the best is too good."
    ),
    "declared noisy": "The objective was declared noisy; there are too few values to say by how much the best is too good.",
    "unknown": "No configuration was evaluated twice, so it is unknown whether another evaluation would give the same value.",
}


def _models_view(view: StudyView) -> list[Part]:
    """Return how much of the best value seen is luck according to the model."""
    best = view.recommended
    assert best is not None
    if best.basis != "predicted":
        new = "New data can differ: if the value is a score on some rows, the best of many such scores is too good."
        return [f"{_WITHOUT_MODEL[view.noise]} {new}"]
    model = view.models[0]
    expected = best.value
    if not isinstance(model, str):
        expected = float(model.mean(np.array(view.trials[best.best_seen_number].point)[None])[0])
    gap = view.sign * (expected - best.best_seen_value)
    seen, predicted = short(best.best_seen_value), short(best.best_seen_value + view.sign * gap)
    much = (
        f"the best value seen, {seen}, is too good by {short(gap, 3)}"
        if gap > 0
        else f"the best value seen, {seen}, is not too good"
    )
    return [
        Highlight(
            f"According to the Kriging model, {much}: it predicts {predicted} for the same configuration, and a single value has "
            f"a standard error of about {short(best.best_seen_standard_error, 2)}. This is the noise between evaluations only; "
            "new data can differ by more.",
            "finding",
        )
    ]

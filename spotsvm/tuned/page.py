"""The report page of a fitted TunedSVC or TunedSVR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, drawing, tidy
from spotsvm.common.fingerprint import versions
from spotsvm.common.text import duration, short, shown_value
from spotsvm.luck.calibration import conformal_limit
from spotsvm.luck.sentences import rows_words
from spotsvm.reports.html.page import Code, Notice, Page, Part, Picture, Section, Table
from spotsvm.space.description import parameter_code
from spotsvm.space.space import Space
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuned.fit_facts import FitFacts
from spotsvm.tuned.methods import svc_text


class _Written(str):
    """Code that appears without quotes in the repr of an estimator."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


_COVERAGES = (0.8, 0.9, 0.95, 0.99)  # of the sets and intervals that are shown
_MOST_CLASSES = 8  # whose sets are shown one by one
_BINS = 8  # bins of probabilities, with equally many rows


def page_of(
    model: Any,
    title: str = "",
    about: Sequence[tuple[str, str]] = (),
    first: Sequence[Part] = (),
    repeat: Sequence[Code] = (),
) -> Page:
    """Return the page.

    `first` replaces the model's verdict in the first section, `about` are facts about the rows, and `repeat` replaces the code
    for X and y.
    """
    name, facts_of_fit = type(model).__name__, model.fit_facts_
    members = f"average of {len(model.members_)} of {len(model.settings_)} settings" if model.average else "the best setting"
    judged = rows_words(model.verdict_.counted_rows)
    facts = [
        ("Model", members),
        *_classes_facts(model),
        ("Rows used", f"{model.n_rows_} fitted; judged by models that had not seen them: {judged}{facts_of_fit.of_distinct}"),
        (f"Expected {facts_of_fit.score_title}", model.expected_score_.text()),
        ("Time of the fit", duration(model.fit_seconds_)),
    ]
    notices = [Notice(notice.sentence, "warning") for notice in model.notices_]
    found = first or [*notices, Notice(str(model.verdict_), "finding")]
    sections = [
        Section("Results", found), _expected(model), _quality(model), _members(model), _columns(model), _repeat(model, repeat)
    ]  # fmt: skip
    return Page(title or f"{name}: a tuned support vector machine", sections, facts=[*about, *facts])


def _classes_facts(model: Any) -> list[tuple[str, str]]:
    """Return the class weights and the threshold, if there are some."""
    weights, threshold = getattr(model, "class_weight", None), getattr(model, "threshold", None)
    facts = [] if weights is None else [("Class weights", shown_value(weights))]
    return facts if threshold is None else [*facts, ("Threshold", model.fit_facts_.threshold_text)]


def _expected(model: Any) -> Section:
    unit = ScoreUnit(model.scoring_)
    default = f"StandardScaler and {svc_text(model)}" if _classifies(model) else "SVR(), columns and target standardised"
    scores = [
        (f"this {type(model).__name__}", model.expected_score_),
        (f"default: {default}", model.default_score_),
        ("a constant", model.constant_score_),
    ]
    rows = [
        (
            name,
            unit.value(score.value),
            " to ".join(map(short, unit.interval(score.interval))) if score.known else "rows too few" if score.too_few else "",
        )
        for name, score in scores
    ]
    parts: list[Part] = [
        Table(pd.DataFrame(rows, columns=["model", unit.title, "95 % interval"]), "Scores to expect on new rows", one_kind=True),
        f"{model.fit_facts_.score_title}: {unit.better}. Each score is the mean over 200 draws of rows. In each draw the weights "
        "of all settings are chosen again on the drawn rows, and the average is judged on the others, by decisions of models "
        "that have not seen them; the mean is corrected by the .632 rule for the smaller number of rows. So the choice among "
        f"settings does not bias it. {_held_out_words(model)}The interval is for the score on many new rows of the same kind, "
        "drawn as these were; it does not cover rows of another time or place, nor rows that depend on each other without groups "
        "to say so.",
    ]
    if model.expected_score_.too_few:
        parts.insert(0, Notice(f"The {unit.title} to expect is {model.expected_score_.text()}.", "warning"))
    if not model.complete_:
        parts.append(Notice("The timeout ended the fit before all settings were scored or all members were fitted.", "warning"))
    return Section("Expected score", parts)


def _held_out_words(model: Any) -> str:
    held = model.verdict_.rows.get("held out")
    return f"The {held} held-out rows were scored by the fitted models; each row counts the same. " if held else ""


def _quality(model: Any) -> Section:
    return _probabilities(model) if _classifies(model) else _predictions(model)


def _classifies(model: Any) -> bool:
    return hasattr(model, "classes_")


def reliability(probability: Any, happened: Any, weights: Any) -> pd.DataFrame:
    """Return mean probabilities and observed shares, in bins with equally many rows, which count for their weights."""
    order = np.argsort(probability, kind="stable")
    parts = [part for part in np.array_split(order, _BINS) if len(part)]
    rows = [(*(np.average(one[part], weights=weights[part]) for one in (probability, happened)), len(part)) for part in parts]
    return pd.DataFrame(rows, columns=["mean probability", "share of rows that have the class", "rows"])


def _probabilities(model: Any) -> Section:
    facts = model.fit_facts_
    p, y = model.oof_predict_proba_[facts.judged], facts.target
    two = len(model.classes_) == 2
    probability = p[:, 1] if two else p.max(axis=1)
    happened = (y == 1 if two else p.argmax(axis=1) == y).astype(float)
    weights = facts.calibration_weights
    table = reliability(probability, happened, weights)
    what = f"class {model.classes_[1]!s}" if two else "the most probable class"
    with drawing(4.5, 4.0) as figure:
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
        ax.plot(table.iloc[:, 0], table.iloc[:, 1], "o-", color=COLOURS[0], clip_on=False)
        ax.set(xlabel=f"probability of {what}", ylabel="share of rows that have it", xlim=(0, 1), ylim=(0, 1))
        tidy(ax)
    logs = float(np.average(np.log(np.clip(p[np.arange(len(y)), y], 1e-15, None)), weights=weights))
    brier = float(np.average(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1), weights=weights)) / (2.0 if two else 1.0)
    weighted = " Rows count for their weights and those of their classes, as in the probabilities." * bool(np.ptp(weights) > 0)
    text = (
        f"Out-of-fold probabilities of {what}, in {len(table)} bins with equally many rows: log loss {short(-logs)}, Brier score "
        f"{short(brier)}. On the grey line probabilities are right; a bin of {int(table['rows'].min())} rows is off it by "
        f"{short(0.5 / np.sqrt(table['rows'].min()), 2)} at most in about two of three cases by chance alone.{weighted}"
    )
    picture = Picture(figure, "Probabilities and what was observed", f"Observed shares against probabilities of {what}")
    return Section("Probabilities", [text, picture, Table(table, "The same as numbers"), *_sets(model, y)])


def _sets(model: Any, y: Any) -> list[Part]:
    """Return how often sets of `predict_set` hold the class of rows, out of fold, for each class."""
    names = [str(label) for label in model.classes_][:_MOST_CLASSES]
    facts = model.fit_facts_
    odds = np.asarray(model.oof_decision_function_)[facts.judged]
    odds = odds[:, None] if odds.ndim == 1 else odds
    held = {share: facts.sets(odds, share) for share in _COVERAGES}
    w = facts.weights
    rows = [
        (
            f"{share:g}",
            np.average(sets[np.arange(len(y)), y], weights=w),
            *(np.average(sets[y == c, c], weights=w[y == c]) if (y == c).any() else np.nan for c in range(len(names))),
            np.average(sets.sum(axis=1), weights=w),
        )
        for share, sets in held.items()
    ]
    table = pd.DataFrame(rows, columns=["coverage", "all rows", *(f"rows of {name}" for name in names), "classes in a set"])
    with drawing(4.5, 4.0) as figure:
        ax = figure.subplots()
        ax.plot([_COVERAGES[0], 1], [_COVERAGES[0], 1], color="0.6", linewidth=1)
        for name, colour in zip(names, (*COLOURS, *COLOURS), strict=False):
            ax.plot(_COVERAGES, table[f"rows of {name}"], "o-", color=colour, label=name)
        ax.set(xlabel="coverage of predict_set", ylabel="share of rows whose class is in the set", ylim=(None, 1.02))
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
    text = (
        "Sets of classes, as predict_set gives them: the most probable class, and each class that cannot be ruled out. The "
        "coverage is that of all rows together; where the line of a class is far below the grey one, by_class=True gives this "
        "class a level of its own."
    )
    return [text, Picture(figure, "Sets that hold the class, out of fold", "Shares of rows by class"), Table(table, "As numbers")]


def _predictions(model: Any) -> Section:
    facts = model.fit_facts_
    y, predicted = facts.target, model.average_oof_[facts.judged]
    error = y - predicted
    with drawing(4.5, 4.0) as figure:
        ax = figure.subplots()
        ends = [min(y.min(), predicted.min()), max(y.max(), predicted.max())]
        ax.plot(ends, ends, color="0.6", linewidth=1)
        ax.plot(predicted, y, "o", color=COLOURS[0], markersize=3)
        if np.isfinite(half := _half_length(facts)):
            for side in (-half, half):
                ax.plot(ends, [end + side for end in ends], "--", color=COLOURS[1], linewidth=1)
        ax.set(xlabel="prediction of models that have not seen the row", ylabel="target")
        tidy(ax)
    text = (
        "Errors of predictions for rows that the models have not seen: root mean square "
        f"{short(float(np.sqrt(np.average(error**2, weights=facts.weights))))}, median of absolute values "
        f"{short(float(np.median(np.abs(error))))}. predict_interval takes its width from them: "
        + (f"+- {short(half)} for 90 % of new rows, between the dashed lines." if np.isfinite(half) else "the rows are too few.")
    )
    return Section(
        "Predictions",
        [text, Picture(figure, "Predictions and targets", "Targets against predictions of models that have not seen the row")],
    )


def _half_length(facts: FitFacts) -> float:
    """Return half the length of an interval that holds 90 % of new targets."""
    return conformal_limit(facts.unusual, facts.weights, 0.9)


def _members(model: Any) -> Section:
    title = model.fit_facts_.score_title
    of_loss = ", with a minus, as that of a loss" if ScoreUnit(model.scoring_).is_error else ""
    text = (
        "Kernels: rbf is exp(-(d / width)^2) with d the Euclidean distance, laplacian exp(-d / width) with d the sum of absolute "
        "differences; widths are in units of the typical distance of rows. The families with relevance multiply each column by "
        f"its learned relevance first. weight is the share in the average; score is the {title} of the setting "
        f"alone on all judged rows{of_loss}. The best of many such scores is too good to be expected on new rows."
    )
    every = Table(model.settings_, f"All {len(model.settings_)} settings", folded=True)
    return Section("Members", [text, Table(model.members_, f"{len(model.members_)} members, largest weight first"), every])


def _columns(model: Any) -> Section:
    parts: list[Part] = [Table(model.columns_, "Columns of X"), "In each fold this is learned from its training rows alone."]
    if hasattr(model, "relevance_"):
        frame = model.relevance_.sort_values(ascending=False).rename_axis("number").reset_index()
        parts.append(Table(frame, "Learned relevance, 1 in the root mean square", folded=len(frame) > 20))
    return Section("Columns", parts)


def _repeat(model: Any, instead: Sequence[Code]) -> Section:
    name = type(model).__name__
    parameters = {**model.get_params(deep=False), "random_state": model.seed_, "path": None}
    needed = ""
    if model.space:
        codes = [f"{key!r}: {parameter_code(one)}" for key, one in Space(model.space).branches[0].items()]
        parameters["space"] = _Written(f"{{{', '.join(codes)}}}")
        needed = "from scipy.stats import loguniform, randint, uniform\n"
    code = f"{needed}from spotsvm import {name}\n\nmodel = {type(model)(**parameters)!r}.fit(X, y)\nprint(model.verdict_)\n"
    frame = pd.DataFrame(list(versions().items()), columns=["package", "version"])
    parts = instead or [Code(code, "With the same rows this gives the same model")]
    return Section("How to repeat it", [*parts, Table(frame, "Versions")])

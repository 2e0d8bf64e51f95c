"""The sections of a page on a fitted model: its score to expect, its answers for judged rows, its members and its columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, drawing, tidy
from spotsvm.common.text import counted, short
from spotsvm.luck.bootstrap import N_DRAWS
from spotsvm.reports.fitted_methods import LEARNED, score_rows
from spotsvm.reports.fitted_model import Array, FittedModel, Floats, JudgedAnswers
from spotsvm.reports.html.page import Highlight, Part, Picture, Section, Table

_COVERAGES = (0.8, 0.9, 0.95, 0.99)  # of the sets and intervals that are shown
_MOST_CLASSES = 8  # whose sets are shown one by one
_MOST_CONFUSED = 30  # classes in a confusion matrix
_BINS = 8  # bins of probabilities, with equally many rows
_DRAWN = {"rows": "rows", "groups": "groups", "blocks": "blocks of consecutive rows"}


def fitted_facts(model: FittedModel, with_score: bool = True) -> list[tuple[str, str]]:
    """Return the facts about a model for the head of a page, and for a notebook."""
    named = [("Model", model.members_words("setting") or ("the best setting" if model.chosen == "best" else "a single setting"))]
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
        "the choice among all settings, of an average their weights, is made again on the drawn rows, and the result is judged "
        "on the others, by answers of models that have not seen them; the mean is corrected by the .632 rule for the smaller "
        f"number of rows. So the choice among settings does not bias it. {held * (model.n_held_out > 0)}The interval is for the "
        "score on many new rows of the same kind, drawn as these were; it does not cover rows of another time or place, nor rows "
        "that depend on each other without groups to say so.",
    ]
    if model.default is not None:
        parts.append(f"The default model is {model.default_is.replace('`', '')}.")
    if expected.too_few:
        parts.insert(0, Highlight(f"The {unit.title} to expect is {expected.text()}.", "warning"))
    if not model.complete:
        parts.append(
            Highlight("The timeout ended the fit before all settings were scored or all members were fitted.", "warning")
        )
    return Section("Expected score", parts)


def answers_section(model: FittedModel) -> Section | None:
    """Return the section on the answers for judged rows: probabilities or errors, and the confusion matrix; None without any."""
    judged = model.judged()
    if judged is None:
        return None
    if model.classes is None:
        return None if judged.predictions is None else Section("Predictions", _errors(judged, judged.predictions))
    parts = [*_probabilities(model, judged, model.classes), *_sets(judged, model.classes), *_confusion(judged)]
    return Section("Predictions" if judged.probabilities is None else "Probabilities", parts) if parts else None


def reliability(probability: Array, happened: Array, weights: Array) -> pd.DataFrame:
    """Return mean probabilities and observed shares, in bins with equally many rows, which count for their weights."""
    order = np.argsort(probability, kind="stable")
    parts = [part for part in np.array_split(order, _BINS) if len(part)]
    rows = [(*(np.average(one[part], weights=weights[part]) for one in (probability, happened)), len(part)) for part in parts]
    return pd.DataFrame(rows, columns=["mean probability", "share of rows that have the class", "rows"])


def _probabilities(model: FittedModel, judged: JudgedAnswers, classes: Array) -> list[Part]:
    p, y = judged.probabilities, judged.target
    if p is None:
        return []
    two = len(classes) == 2
    probability = p[:, 1] if two else p.max(axis=1)
    happened = (y == 1 if two else p.argmax(axis=1) == y).astype(float)
    weights = judged.weights if judged.calibration_weights is None else judged.calibration_weights
    table = reliability(probability, happened, weights)
    what = f"class {classes[1]!s}" if two else "the most probable class"
    with drawing(4.5, 4.0) as figure:
        ax = figure.subplots()
        ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
        ax.plot(table.iloc[:, 0], table.iloc[:, 1], "o-", color=COLOURS[0], clip_on=False)
        ax.set(xlabel=f"probability of {what}", ylabel="share of rows that have it", xlim=(0, 1), ylim=(0, 1))
        tidy(ax)
    logs = float(np.average(np.log(np.clip(p[np.arange(len(y)), y], 1e-15, None)), weights=weights))
    brier = float(np.average(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1), weights=weights)) / (2.0 if two else 1.0)
    counts = " Rows count for their weights and those of their classes, as in the probabilities."
    text = (
        f"Out-of-fold probabilities of {what}, in {len(table)} bins with equally many rows: log loss {short(-logs)}, Brier score "
        f"{short(brier)}. On the grey line probabilities are right; a bin of {int(table['rows'].min())} rows is off it by "
        f"{short(0.5 / np.sqrt(table['rows'].min()), 2)} at most in about two of three cases by chance alone."
        f"{counts * bool(np.ptp(weights) > 0)}"
    )
    picture = Picture(figure, "Probabilities and what was observed", f"Observed shares against probabilities of {what}")
    return [text, picture, Table(table, "The same as numbers")]


def _sets(judged: JudgedAnswers, classes: Array) -> list[Part]:
    """Return how often the sets of classes hold the class of rows, out of fold, for each class."""
    if judged.sets is None:
        return []
    y, w, names = judged.target, judged.weights, [str(label) for label in classes][:_MOST_CLASSES]
    held = {share: judged.sets(share) for share in _COVERAGES}
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
        for k, (name, colour) in enumerate(zip(names, (*COLOURS, *COLOURS), strict=False)):
            ax.plot(_COVERAGES, table.iloc[:, 2 + k], "o-", color=colour, label=name)
        ax.set(xlabel="coverage of predict_set", ylabel="share of rows whose class is in the set", ylim=(None, 1.02))
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
    text = (
        "Sets of classes, as predict_set gives them: the most probable class, and each class that cannot be ruled out. The "
        "coverage is that of all rows together; where the line of a class is far below the grey one, by_class=True gives this "
        "class a level of its own."
    )
    return [text, Picture(figure, "Sets that hold the class, out of fold", "Shares of rows by class"), Table(table, "As numbers")]


def _confusion(judged: JudgedAnswers) -> list[Part]:
    """Return the confusion matrix of the predictions of the judged rows."""
    matrix = judged.confusion
    if matrix is None or len(matrix) > _MOST_CONFUSED:
        return []
    frame = matrix.rename_axis(columns=None).rename(columns=lambda label: f"predicted {label}")
    frame.insert(0, "true class", [str(label) for label in matrix.index])
    return [Table(frame, "Rows by true and predicted class, out of fold")]


def _errors(judged: JudgedAnswers, predicted: Floats) -> Sequence[Part]:
    y = judged.target
    error = y - predicted
    half = np.inf if judged.half_length is None else judged.half_length(0.9)
    with drawing(4.5, 4.0) as figure:
        ax = figure.subplots()
        ends = [min(y.min(), predicted.min()), max(y.max(), predicted.max())]
        ax.plot(ends, ends, color="0.6", linewidth=1)
        ax.plot(predicted, y, "o", color=COLOURS[0], markersize=3)
        if np.isfinite(half):
            for side in (-half, half):
                ax.plot(ends, [end + side for end in ends], "--", color=COLOURS[1], linewidth=1)
        ax.set(xlabel="prediction of models that have not seen the row", ylabel="target")
        tidy(ax)
    text = (
        "Errors of predictions for rows that the models have not seen: root mean square "
        f"{short(float(np.sqrt(np.average(error**2, weights=judged.weights))))}, median of absolute values "
        f"{short(float(np.median(np.abs(error))))}."
    )
    if judged.half_length is not None:
        width = (
            f"+- {short(half)} for 90 % of new rows, between the dashed lines." if np.isfinite(half) else "the rows are too few."
        )
        text += f" predict_interval takes its width from them: {width}"
    alt = "Targets against predictions of models that have not seen the row"
    return [text, Picture(figure, "Predictions and targets", alt)]


def members_section(model: FittedModel) -> Section | None:
    """Return the section on the members of an average, and on all settings; None without a table of them."""
    if model.settings is None:
        return None
    of_loss = ", with a minus, as that of a loss" if model.unit.is_error else ""
    text = f"{model.about_settings} weight is the share in the model"
    if "score" in model.settings:
        text += (
            f"; score is the {model.score_title} of the setting alone on all judged rows{of_loss}. The best of many such scores "
            "is too good to be expected on new rows"
        )
    parts: list[Part] = [f"{text}."]
    if model.members is not None:
        parts.append(Table(model.members, f"{counted(len(model.members), 'member')}, largest weight first"))
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

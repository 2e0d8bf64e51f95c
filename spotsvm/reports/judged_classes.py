"""What a classifier says of rows that its models have not seen: confusion matrix, curves, probabilities and sets."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, LEVELS, drawing, plain, set_ticks, tidy
from spotsvm.common.text import short
from spotsvm.luck.intervals import Interval, score_interval
from spotsvm.reports.fitted_model import Array, FittedModel, Floats, JudgedAnswers, Rows
from spotsvm.reports.html.cells import cut_text
from spotsvm.reports.html.page import Part, Picture, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COVERAGES = (0.8, 0.9, 0.95, 0.99)  # of the sets and intervals that are shown
_MOST_CLASSES = 8  # that are shown one by one
_MOST_CONFUSED = 30  # classes in a confusion matrix
_BINS = 8  # bins of probabilities, with equally many rows
#: neighbouring bins closer than this are one crowd; a crowd of at least three, and of at most this range, has a panel of its own
_NEAR, _CROWD, _CROWDED_RANGE = 0.1, 3, 0.25
_CONFIDENCE = 0.95
_LONGEST = 14


def confusion_parts(model: FittedModel, judged: JudgedAnswers) -> list[Part]:
    """Return the confusion matrix as a picture and a table, with recall and precision of each class; empty without one."""
    matrix = judged.confusion
    if matrix is None or len(matrix) > _MOST_CONFUSED:
        return []
    frame = matrix.rename_axis(columns=None).rename(columns=lambda label: f"predicted {label}")
    frame.insert(0, "true class", [str(label) for label in matrix.index])
    counts = "sums of the weights of rows" if np.ptp(judged.weights) > 0 else "numbers of rows"
    size = max(4.0, 0.3 * len(matrix) + 1.5)
    with drawing(size, size - 0.4) as figure:
        draw_confusion(figure.subplots(), matrix)
    caption = f"Confusion matrix, out of fold: {counts}. The darker a cell, the larger its share of the true class."
    together = {"rows": "", "groups": " Rows of a group", "blocks": " Neighbouring rows"}[model.drawn]
    recall = (
        f"Recall and precision of each class; low and high are the ends of the {100 * _CONFIDENCE:g} % interval of the recall "
        f"(Wilson's, for rows that do not depend on each other).{together and together + ' may, and then it is too short.'}"
    )
    return [
        Picture(figure, caption, "The confusion matrix; the table has its numbers"),
        Table(recalls(judged), recall),
        Table(frame, "Rows by true and predicted class, out of fold"),
    ]


def recalls(judged: JudgedAnswers) -> pd.DataFrame:
    """Return the rows, recall with its interval, and precision of each class."""
    assert judged.confusion is not None
    cells = judged.confusion.to_numpy(dtype=float)
    rows = []
    for c, label in enumerate(judged.confusion.index):
        of_class = judged.target == c
        recall, precision = _share(cells[c, c], cells[c].sum()), _share(cells[c, c], cells[:, c].sum())
        rows.append((str(label), int(of_class.sum()), recall, *share_interval(recall, judged.weights[of_class]), precision))
    return pd.DataFrame(rows, columns=["class", "rows", "recall", "low", "high", "precision"])


def share_interval(share: float, weights: Floats) -> Interval:
    """Return Wilson's interval of a share of rows, which count for their weights."""
    n = _share(float(weights.sum()) ** 2, float((weights**2).sum()))
    return score_interval(share, share * (1.0 - share) / max(n, 1.0), n, inf, _CONFIDENCE, "recall")


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else np.nan


def draw_confusion(ax: Axes, matrix: pd.DataFrame) -> None:
    """Draw a confusion matrix, coloured by the shares of each true class."""
    from matplotlib.colors import ListedColormap
    from sklearn.metrics import ConfusionMatrixDisplay

    cells, colours = matrix.to_numpy(), ListedColormap(list(LEVELS[:6]))  # darker ones would hide the numbers
    display = ConfusionMatrixDisplay(cells, display_labels=[plain(str(label)) for label in matrix.index])
    size = max(10.0 - 0.25 * len(cells), 4.0)
    values = "d" if cells.dtype.kind in "iu" else ".3g"
    display.plot(cmap=colours, ax=ax, colorbar=False, values_format=values, text_kw={"color": "black", "fontsize": size})
    # an image would keep its colours in the dark
    display.im_.remove()
    totals = cells.sum(axis=1, keepdims=True)
    edges = np.arange(len(cells) + 1) - 0.5
    ax.pcolormesh(edges, edges, cells / np.where(totals > 0, totals, 1), cmap=colours, vmin=0.0, vmax=1.0)
    labels = [cut_text(str(label), _LONGEST) for label in matrix.index]
    for which in ("x", "y"):
        set_ticks(ax, which, list(range(len(cells))), labels)
    ax.set(xlabel="predicted class", ylabel="true class")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)


def curves_parts(model: FittedModel, judged: JudgedAnswers, classes: Array) -> list[Part]:
    """Return the ROC and precision-recall curves as two panels; empty where there are votes alone."""
    if judged.ranks is None or not shown_classes(model, judged, classes):
        return []
    figures = []
    for draw in (draw_roc, draw_precision_recall):
        with drawing(4.4, 4.0) as figure:
            draw(figure.subplots(), model, judged, classes)
        figures.append(figure)
    each = "" if len(classes) == 2 else " Each curve is of one class against all others."
    more = f" Of {len(classes)} classes the {_MOST_CLASSES} most frequent are shown." * (len(classes) > _MOST_CLASSES)
    caption = (
        "ROC and precision-recall curves, out of fold: what another threshold would give. A dot is at the predictions of the "
        f"model: {model.threshold or 'the class with the largest decision or probability'}.{each}{more}"
    )
    alt = "Curves of true against false positive rate, and of precision against recall; the table of recalls has the dots"
    return [Picture(figures[0], caption, alt, figures[1:])]


def shown_classes(model: FittedModel, judged: JudgedAnswers, classes: Array) -> list[int]:
    """Return the codes of the classes that have curves: the positive one of two, or the most frequent ones."""
    frequent = np.argsort(-np.bincount(judged.target, judged.weights, len(classes)), kind="stable")[:_MOST_CLASSES]
    codes = [model.positive] if len(classes) == 2 else sorted(frequent.tolist())
    # a class that all rows have, or none, has no curve
    return [c for c in codes if 0 < judged.weights[judged.target == c].sum() < judged.weights.sum()]


def draw_roc(ax: Axes, model: FittedModel, judged: JudgedAnswers, classes: Array) -> None:
    """Draw the ROC curves of classes, with dots at the predictions."""
    from sklearn.metrics import RocCurveDisplay

    assert judged.ranks is not None
    for c in shown_classes(model, judged, classes):
        y = judged.target == c
        name = plain(cut_text(str(classes[c]), _LONGEST))
        RocCurveDisplay.from_predictions(y, judged.ranks[:, c], sample_weight=judged.weights, name=name, ax=ax)
        if judged.confusion is not None:
            cells = judged.confusion.to_numpy(dtype=float)
            false, others = cells[:, c].sum() - cells[c, c], cells.sum() - cells[c].sum()
            _dot(ax, false / others, cells[c, c] / cells[c].sum())
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1, zorder=0)
    ax.set(xlabel="false positive rate", ylabel="true positive rate (recall)")
    ax.legend(loc="lower right")


def draw_precision_recall(ax: Axes, model: FittedModel, judged: JudgedAnswers, classes: Array) -> None:
    """Draw the precision-recall curves of classes, with dots at the predictions."""
    from sklearn.metrics import PrecisionRecallDisplay

    assert judged.ranks is not None
    codes = shown_classes(model, judged, classes)
    for c in codes:
        y = judged.target == c
        name = plain(cut_text(str(classes[c]), _LONGEST))
        PrecisionRecallDisplay.from_predictions(y, judged.ranks[:, c], sample_weight=judged.weights, name=name, ax=ax)
        if judged.confusion is not None and (predicted := judged.confusion.iloc[:, c].sum()) > 0:
            cells = judged.confusion.to_numpy(dtype=float)
            _dot(ax, cells[c, c] / cells[c].sum(), cells[c, c] / predicted)
    if len(codes) == 1:
        ax.axhline(np.average(judged.target == codes[0], weights=judged.weights), color="0.6", linewidth=1, zorder=0)
    ax.set(xlabel="recall", ylabel="precision", xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
    ax.legend(loc="lower left")


def _dot(ax: Axes, x: float, y: float) -> None:
    ax.plot(x, y, "o", color=ax.lines[-1].get_color(), markersize=6, clip_on=False, zorder=4)


def reliability(probability: Array, happened: Array, weights: Array) -> pd.DataFrame:
    """Return mean probabilities and observed shares with intervals, in bins with equally many rows, which have weights."""
    order = np.argsort(probability, kind="stable")
    parts = [part for part in np.array_split(order, _BINS) if len(part)]
    rows = []
    for part in parts:
        mean, share = (float(np.average(one[part], weights=weights[part])) for one in (probability, happened))
        rows.append((mean, share, *share_interval(share, weights[part]), len(part)))
    return pd.DataFrame(rows, columns=["mean probability", "share of rows that have the class", "low", "high", "rows"])


def observed(model: FittedModel, judged: JudgedAnswers, classes: Array) -> tuple[str, pd.DataFrame]:
    """Return which class probabilities are compared with what was observed, and the bins: of several classes the largest."""
    p, y = judged.probabilities, judged.target
    assert p is not None
    two = len(classes) == 2
    probability = p[:, model.positive] if two else p.max(axis=1)
    happened = (y == model.positive if two else p.argmax(axis=1) == y).astype(float)
    weights = judged.weights if judged.calibration_weights is None else judged.calibration_weights
    what = f"class {classes[model.positive]!s}" if two else "the most probable class"
    return what, reliability(probability, happened, weights)


def crowds(table: pd.DataFrame) -> Iterator[tuple[float, float]]:
    """Yield ranges of both axes in which several bins are close to each other."""
    places = table.iloc[:, 0].to_numpy()
    for part in np.split(np.arange(len(places)), np.flatnonzero(np.diff(places) > _NEAR) + 1):
        if len(part) >= _CROWD and np.ptp(places[part]) <= _CROWDED_RANGE:
            ends = table.iloc[part, [0, 2, 3]].to_numpy()
            room = 0.05 * float(np.ptp(ends))
            yield max(float(ends.min()) - room, 0.0), min(float(ends.max()) + room, 1.0)


def calibration_parts(model: FittedModel, judged: JudgedAnswers, classes: Array) -> list[Part]:
    """Return the probabilities beside what was observed, with a panel for each crowd of bins; empty without probabilities."""
    p, y = judged.probabilities, judged.target
    if p is None:
        return []
    what, table = observed(model, judged, classes)
    figures, ranges = [], [(0.0, 1.0), *crowds(table)]
    for ends in ranges:
        with drawing(4.5, 4.0) as figure:
            draw_calibration(figure.subplots(), what, table, ends)
        figures.append(figure)
    weights = judged.weights if judged.calibration_weights is None else judged.calibration_weights
    logs = float(np.average(np.log(np.clip(p[np.arange(len(y)), y], 1e-15, None)), weights=weights))
    halved = 2.0 if len(classes) == 2 else 1.0
    brier = float(np.average(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1), weights=weights)) / halved
    counts = " Rows count for their weights and those of their classes, as in the probabilities." * bool(np.ptp(weights) > 0)
    text = (
        f"Out-of-fold probabilities of {what}, in {len(table)} bins with equally many rows: log loss {short(-logs)}, Brier score "
        f"{short(brier)}.{counts}"
    )
    zoomed = {1: "", 2: " The second panel enlarges a part of the first."}.get(
        len(figures), " Further panels enlarge parts of it."
    )
    caption = (
        "Probabilities and what was observed. On the grey line probabilities are right; a vertical line is the "
        f"{100 * _CONFIDENCE:g} % interval (Wilson's) of the share in a bin, and should cross it in about 19 of 20 bins.{zoomed}"
    )
    picture = Picture(figures[0], caption, f"Observed shares against probabilities of {what}", figures[1:])
    return [text, picture, Table(table, "The same as numbers; low and high are the ends of the interval")]


def draw_calibration(ax: Axes, what: str, table: pd.DataFrame, ends: tuple[float, float] = (0.0, 1.0)) -> None:
    """Draw observed shares of bins against mean probabilities, with intervals, in a range of both axes."""
    mean, share, low, high = (table.iloc[:, k].to_numpy() for k in range(4))
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=1)
    ax.vlines(mean, low, high, color=COLOURS[0], linewidth=2, alpha=0.55)
    ax.plot(mean, share, "o-", color=COLOURS[0], linewidth=1, markersize=5, clip_on=ends != (0.0, 1.0))
    ax.set(xlabel=plain(f"probability of {what}"), ylabel="share of rows that have it", xlim=ends, ylim=ends)
    tidy(ax)


def sets_parts(judged: JudgedAnswers, classes: Array) -> list[Part]:
    """Return how often the sets of classes hold the class of rows, out of fold, for each class."""
    if judged.sets is None:
        return []
    y, w, names = judged.target, judged.weights, [str(label) for label in classes][:_MOST_CLASSES]
    held = {share: judged.sets(share) for share in COVERAGES}
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
        ax.plot([COVERAGES[0], 1], [COVERAGES[0], 1], color="0.6", linewidth=1)
        for k, (name, colour) in enumerate(zip(names, (*COLOURS, *COLOURS), strict=False)):
            ax.plot(COVERAGES, table.iloc[:, 2 + k], "o-", color=colour, label=name)
        ax.set(xlabel="coverage of predict_set", ylabel="share of rows whose class is in the set", ylim=(None, 1.02))
        ax.legend(frameon=False, fontsize=8)
        tidy(ax)
    text = (
        "Sets of classes, as predict_set gives them: the most probable class, and each class that cannot be ruled out. The "
        "coverage is that of all rows together; where the line of a class is far below the grey one, by_class=True gives this "
        "class a level of its own."
    )
    return [text, Picture(figure, "Sets that hold the class, out of fold", "Shares of rows by class"), Table(table, "As numbers")]


def worst_classes(judged: JudgedAnswers, classes: Array, most: int) -> tuple[Rows, pd.DataFrame]:
    """Return the places of the rows whose class the model found least likely, and what it said of them."""
    known = judged.probabilities
    y, at = judged.target, np.arange(len(judged.target))
    if known is not None:
        own, name = known[at, y], "probability of the true class"
    elif judged.ranks is not None:
        others = judged.ranks.copy()
        others[at, y] = -np.inf
        own, name = judged.ranks[at, y] - others.max(axis=1), "decision of the true class less the largest other"
    else:
        return np.empty(0, dtype=np.intp), pd.DataFrame()
    places = np.argsort(own, kind="stable")[:most]
    said = {"true class": [str(classes[k]) for k in y[places]]}
    if judged.predicted is not None:
        said["predicted"] = [str(classes[k]) for k in judged.predicted[places]]
    return places, pd.DataFrame({**said, name: own[places]})

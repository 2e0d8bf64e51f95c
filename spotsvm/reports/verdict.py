"""The verdict of a tuning on its page: sentences, scores as a picture with intervals, and the differences."""

from __future__ import annotations

from math import nan

import numpy as np
import pandas as pd

from spotsvm.common.drawing import draw_intervals, drawing, plain
from spotsvm.common.text import short
from spotsvm.luck.estimate import ExpectedScore
from spotsvm.luck.intervals import bounded
from spotsvm.luck.verdict import Verdict
from spotsvm.reports.html.page import Highlight, Part, Picture, Table
from spotsvm.reports.view import SURE
from spotsvm.trials.metrics import ScoreUnit

#: what has used the rows of each kind
_SEEN = {
    "search": "Out of fold: training rows, scored with a choice among the candidates that was made without these rows. On the "
    "folds: the same rows, with the choice that the search has optimised on them. No search has used the",
    "average": "Out of fold: training rows, scored with candidates and weights chosen without these rows. The fit has not used "
    "the",
}
#: name, value, and both ends of the interval
Row = tuple[str, float, float, float]


def verdict_parts(verdict: Verdict) -> list[Part]:
    """Return the sentences, the scores as a picture and a table, and the difference if two models were compared."""
    unit = ScoreUnit(verdict.metric)
    words = [Highlight(text, "finding") for text in (verdict.sentence, verdict.expectation) if text]
    rows: list[Row] = []

    def add(name: str, value: float, error: float) -> None:
        # rows that are all alike, such as all right, have no spread, which says nothing of their number
        ends = bounded((value - SURE * error, value + SURE * error), [value], verdict.metric) if error > 0 else (nan, nan)
        rows.extend([(name, value, *ends)] if np.isfinite(value) else [])

    for name, score in _scores(verdict):
        add(f"{name}, out of fold", score.out_of_fold, score.out_of_fold_error)
        add(f"{name}, held-out rows", score.held_out, score.held_out_error)
        rows.append((f"{name}, new rows", score.value, *score.interval))
    for rival in verdict.rivals:
        add(f"{rival.name}, held-out rows", rival.held_out, rival.error)
    return [
        *words,
        *(Highlight(text, "warning") for text in verdict.warnings),
        interval_picture(
            [(name, unit.value(value), *unit.interval((low, high))) for name, value, low, high in rows],
            unit.title,
            f"{unit.title}; {unit.better}. {_SEEN[verdict.by]} {verdict.n_held_out} held-out rows. New rows: the score to "
            "expect, from both kinds; each row counts the same.",
        ),
        Table(verdict_table(verdict), f"{unit.title} on rows that the judged models had not seen, and seconds of a fit"),
        *_differences(verdict, unit),
    ]


def _scores(verdict: Verdict) -> list[tuple[str, ExpectedScore]]:
    """Return the names and expected scores of the default model, and of the tuned one if it is another."""
    return [("default", verdict.default), *([("tuned", verdict.tuned)] if verdict.compares else [])]


def verdict_table(verdict: Verdict) -> pd.DataFrame:
    """Return a frame with a row for each model and its scores, in the unit of the metric; a constant comes first."""
    unit = ScoreUnit(verdict.metric)
    own = []
    for (name, score), on_folds in zip(_scores(verdict), (verdict.default_on_folds, verdict.tuned_on_folds), strict=False):
        title = f"{name} (recommended)" if name == verdict.recommended and not verdict.rival else name
        scores = on_folds, score.out_of_fold, score.held_out, score.held_out_error
        own.append((title, *scores, score.value, *score.interval, nan))
    rivals = []
    for r in verdict.rivals:
        recommended = verdict.of_rival is not None and r.code == verdict.rival
        ends = verdict.expected.interval if recommended else (nan, nan)
        name = f"{r.name} (recommended)" if recommended else r.name
        rivals.append((name, r.on_folds, r.out_of_fold, r.held_out, r.error, r.expected, *ends, r.seconds))
    cells = [
        (name, *map(unit.value, scores), error, unit.value(expected), *unit.interval((low, high)), seconds)
        for name, *scores, error, expected, low, high, seconds in [*rivals[:1], *own, *rivals[1:]]
    ]
    names = ["on the folds", "out of fold", "held-out", "its error", "new rows", "low", "high", "fit, s"]
    frame = pd.DataFrame(cells, columns=["model", *names])
    return frame if verdict.by == "search" else frame.drop(columns="on the folds")


def _differences(verdict: Verdict, unit: ScoreUnit) -> list[Part]:
    """Return the picture of the differences between the tuned and the default model; an empty list without a comparison."""
    if not (verdict.compares and np.isfinite(verdict.gain.value)):
        return []
    gain = verdict.gain
    kinds = ("out of fold", gain.on_training_rows), ("held-out rows", gain.on_held_out_rows), ("all of these rows", gain)
    rows = [(name, unit.value(one.value), *unit.interval(one.interval)) for name, one in kinds if np.isfinite(one.value)]
    side = "left" if unit.is_error else "right"
    caption = (
        f"The tuned model less the default: {side} of 0 the tuned one is better. The verdict is by the interval over all of "
        "these rows."
    )
    return [interval_picture(rows, "tuned minus default", caption, zero=True)]


def interval_picture(rows: list[Row], label: str, caption: str, zero: bool = False) -> Picture:
    """Draw values with their 95 % intervals, if they have one, one below the other; the caption says which have none."""
    names, values, lows, highs = zip(*rows, strict=True)
    with drawing(4.4, 0.75 + 0.28 * len(rows)) as figure:
        ax = figure.subplots()
        if zero:
            ax.axvline(0.0, color="0.5", lw=1.0)
        draw_intervals(ax, names, values, lows, highs)
        ax.set_xlabel(plain(label))
    told = "; ".join(
        f"{name} {short(value)}" + (f" ({short(low)} to {short(high)})" if np.isfinite(low) else "")
        for name, value, low, high in rows
    )
    without = [name for name, _, low, _ in rows if not np.isfinite(low)]
    none = "" if not without else f"; the point without a line ({without[0]}) has none"
    if len(without) > 1:
        none = f"; points without a line ({', '.join(without)}) have none"
    lines = "" if len(without) == len(rows) else f" A line is a 95 % interval{none}."
    return Picture(figure, f"{caption}{lines}", f"Points and intervals: {told}.")

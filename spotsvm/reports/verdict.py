"""The verdict of a tuning on its page: sentences, scores as a picture with intervals, and the differences."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import draw_intervals, drawing, plain
from spotsvm.common.text import short
from spotsvm.luck.intervals import bounded
from spotsvm.luck.verdict import CONSTANT, Verdict
from spotsvm.reports.html.page import Notice, Part, Picture, Table
from spotsvm.trials.metrics import ScoreUnit

_SURE = 1.96
#: names of the scores on training rows, and sentences on what has used these rows
_FOLDS = {"search": "on the folds", "average": "out of fold"}
_SEEN = {
    "search": "The searches have used the folds, but not the",
    "average": "Out of fold: training rows, scored with settings and weights chosen without these rows. The fit has not used the",
}
#: name, value, and both ends of the interval
Row = tuple[str, float, float, float]


def notice_parts(finding: Mapping[str, Any]) -> list[Part]:
    """Return the notices of a tuning; entries of a record that are not notices are left out."""
    found = finding.get("notices")
    pairs = [pair for pair in found if isinstance(pair, list | tuple) and len(pair) == 2] if isinstance(found, list) else []
    return [Notice(str(sentence), "warning") for _, sentence in pairs]


def verdict_parts(found: Verdict) -> list[Part]:
    """Return the sentences, the scores as a picture and a table, and the difference if two models were compared."""
    unit, folds = ScoreUnit(found.metric), _FOLDS[found.by]
    words = [Notice(text, "finding") for text in (found.sentence, found.expectation) if text]
    rows: list[Row] = []
    if (constant := found.constant) is not None:
        rows.append(
            (f"{constant.name}, held-out rows", constant.held_out, *_within(found.metric, constant.held_out, constant.error))
        )
    rows += [
        (f"default, {folds}", found.default_score, *_known(found, "default")),
        ("default, held-out rows", found.default_held_out, *_within(found.metric, found.default_held_out, found.default_error)),
    ]
    if found.compares:
        rows += [
            (f"tuned, {folds}", found.tuned_score, *_known(found, "tuned")),
            ("tuned, held-out rows", found.tuned_held_out, *_within(found.metric, found.tuned_held_out, found.tuned_error)),
        ]
    others = [rival for rival in found.rivals if rival.code != CONSTANT]
    rows += [(f"{one.name}, held-out rows", one.held_out, *_within(found.metric, one.held_out, one.error)) for one in others]
    if found.by == "search" and np.isfinite(found.expected.value):
        rows.append((f"{found.recommended}, on new rows", found.expected.value, *found.expected.interval))
    return [
        *words,
        *(Notice(text, "warning") for text in found.warnings),
        interval_picture(
            [(name, unit.value(value), *unit.interval((low, high))) for name, value, low, high in rows],
            unit.title,
            f"{unit.title}; {unit.better}. A line is a {100 * found.difference.confidence:g} % interval. {_SEEN[found.by]} "
            f"{found.n_held_out} held-out rows.",
        ),
        Table(verdict_table(found), f"{unit.title} {folds} and on held-out rows, its standard error, and seconds of a fit"),
        *_differences(found, unit),
    ]


def _known(found: Verdict, which: str) -> tuple[float, float]:
    """Return the interval of a score on the folds, if it is the score to expect."""
    return found.expected.interval if found.by == "average" and found.recommended == which else (nan, nan)


def verdict_table(found: Verdict) -> pd.DataFrame:
    """Return a frame with a row for each model: its score on the folds and on held-out rows, in the unit of the metric."""
    rows = [("default", found.default_score, found.default_held_out, found.default_error, nan)]
    rows += [("tuned", found.tuned_score, found.tuned_held_out, found.tuned_error, nan)] if found.compares else []
    rows = [(f"{row[0]} (recommended)" if row[0] == found.recommended else row[0], *row[1:]) for row in rows]
    others = [(rival.name, rival.score, rival.held_out, rival.error, rival.seconds) for rival in found.rivals]
    rows = [*others[:1], *rows, *others[1:]]
    unit = ScoreUnit(found.metric)
    cells = [(name, unit.value(score), unit.value(held_out), error, took) for name, score, held_out, error, took in rows]
    return pd.DataFrame(cells, columns=["model", _FOLDS[found.by], "held-out", "its error", "fit, s"])


def _differences(found: Verdict, unit: ScoreUnit) -> list[Part]:
    """Return the picture of the differences between the tuned and the default model; an empty list without a comparison."""
    if not (found.compares and np.isfinite(found.difference.value)):
        return []
    rows: list[Row] = [
        (_FOLDS[found.by], found.gain.value, *found.gain.interval),
        ("held-out rows", found.difference.value, *found.difference.interval),
    ]
    side = "left" if unit.is_error else "right"
    return [
        interval_picture(
            [(name, unit.value(value), *unit.interval((low, high))) for name, value, low, high in rows],
            "tuned minus default", f"The tuned model less the default: {side} of 0 the tuned one is better.", zero=True,
        )
    ]  # fmt: skip


def _within(metric: str, value: float, error: float) -> tuple[float, float]:
    """Return the interval, cut to the range of the score."""
    return bounded((value - _SURE * error, value + _SURE * error), [value], metric)


def interval_picture(rows: list[Row], label: str, caption: str, zero: bool = False) -> Picture:
    """Draw values with their intervals, one below the other."""
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
    return Picture(figure, caption, f"Points and intervals: {told}.")

"""The verdict of a tuning on its page: sentences, scores as a picture with intervals, and the differences."""

from __future__ import annotations

from collections.abc import Mapping
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.common.drawing import draw_intervals, drawing, plain
from spotsvm.common.text import short
from spotsvm.luck.intervals import NO_INTERVAL, bounded
from spotsvm.luck.verdict import Verdict
from spotsvm.reports.html.page import Notice, Part, Picture, Table
from spotsvm.reports.view import SURE
from spotsvm.trials.metrics import ScoreUnit

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


def verdict_parts(verdict: Verdict) -> list[Part]:
    """Return the sentences, the scores as a picture and a table, and the difference if two models were compared."""
    unit, folds = ScoreUnit(verdict.metric), _FOLDS[verdict.by]
    words = [Notice(text, "finding") for text in (verdict.sentence, verdict.expectation) if text]
    rows: list[Row] = []
    for code, name, score, held_out, error, _ in _models(verdict):
        if code in ("default", "tuned"):
            # the interval of a score on the folds is known if it is the score to expect
            expected = verdict.by == "average" and verdict.recommended == code
            rows.append((f"{name}, {folds}", score, *(verdict.expected.interval if expected else NO_INTERVAL)))
        ends = bounded((held_out - SURE * error, held_out + SURE * error), [held_out], verdict.metric)
        rows.append((f"{name}, held-out rows", held_out, *ends))
    if verdict.by == "search" and np.isfinite(verdict.expected.value):
        rows.append((f"{verdict.recommended}, on new rows", verdict.expected.value, *verdict.expected.interval))
    return [
        *words,
        *(Notice(text, "warning") for text in verdict.warnings),
        interval_picture(
            [(name, unit.value(value), *unit.interval((low, high))) for name, value, low, high in rows],
            unit.title,
            f"{unit.title}; {unit.better}. A line is a {100 * verdict.difference.confidence:g} % interval. {_SEEN[verdict.by]} "
            f"{verdict.n_held_out} held-out rows.",
        ),
        Table(verdict_table(verdict), f"{unit.title} {folds} and on held-out rows, its standard error, and seconds of a fit"),
        *_differences(verdict, unit),
    ]


def verdict_table(verdict: Verdict) -> pd.DataFrame:
    """Return a frame with a row for each model: its score on the folds and on held-out rows, in the unit of the metric."""
    unit = ScoreUnit(verdict.metric)
    cells = [
        (f"{name} (recommended)" if code == verdict.recommended else name, *map(unit.value, scores), error, seconds)
        for code, name, *scores, error, seconds in _models(verdict)
    ]
    return pd.DataFrame(cells, columns=["model", _FOLDS[verdict.by], "held-out", "its error", "fit, s"])


def _models(verdict: Verdict) -> list[tuple[str, str, float, float, float, float]]:
    """Return code, name, score on the folds, held-out score, its error and seconds of a fit of each model, a constant first."""
    own = [("default", "default", verdict.default_score, verdict.default_held_out, verdict.default_error, nan)]
    if verdict.compares:
        own.append(("tuned", "tuned", verdict.tuned_score, verdict.tuned_held_out, verdict.tuned_error, nan))
    rivals = [(r.code, r.name, r.score, r.held_out, r.error, r.seconds) for r in verdict.rivals]
    return [*rivals[:1], *own, *rivals[1:]]


def _differences(verdict: Verdict, unit: ScoreUnit) -> list[Part]:
    """Return the picture of the differences between the tuned and the default model; an empty list without a comparison."""
    if not (verdict.compares and np.isfinite(verdict.difference.value)):
        return []
    rows: list[Row] = [
        (_FOLDS[verdict.by], verdict.gain.value, *verdict.gain.interval),
        ("held-out rows", verdict.difference.value, *verdict.difference.interval),
    ]
    side = "left" if unit.is_error else "right"
    return [
        interval_picture(
            [(name, unit.value(value), *unit.interval((low, high))) for name, value, low, high in rows],
            "tuned minus default", f"The tuned model less the default: {side} of 0 the tuned one is better.", zero=True,
        )
    ]  # fmt: skip


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

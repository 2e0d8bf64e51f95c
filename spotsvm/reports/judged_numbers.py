"""What a regression says of rows that its models have not seen: predictions, residuals and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, drawing, tidy
from spotsvm.common.text import short
from spotsvm.reports.fitted_model import Floats, JudgedAnswers, Rows
from spotsvm.reports.html.page import Part, Picture, Table
from spotsvm.reports.judged_classes import COVERAGES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHOWN = 0.9  # coverage of the dashed lines
_MOST_POINTS = 2000


def errors_parts(judged: JudgedAnswers) -> list[Part]:
    """Return predictions and residuals as two panels, and the shares inside intervals; empty without predictions."""
    predicted = judged.predictions
    if predicted is None:
        return []
    error = judged.target - predicted
    half = half_length(judged)
    text = (
        "Errors of predictions for rows that the models have not seen: root mean square "
        f"{short(float(np.sqrt(np.average(error**2, weights=judged.weights))))}, median of absolute values "
        f"{short(float(np.median(np.abs(error))))}."
    )
    figures = []
    for draw in (draw_predictions, draw_residuals):
        with drawing(4.5, 4.0) as figure:
            draw(figure.subplots(), judged)
        figures.append(figure)
    caption = "Targets, and residuals (targets less predictions), against predictions, out of fold."
    if len(error) > _MOST_POINTS:
        caption += f" {_MOST_POINTS} of {len(error)} rows are drawn, taken at random."
    if np.isfinite(half):
        caption += f" Between the dashed lines are the intervals for {100 * _SHOWN:g} % of new rows."
    parts: list[Part] = [
        text,
        Picture(figures[0], caption, "Targets and residuals against predictions, out of fold", figures[1:]),
    ]
    return parts if judged.half_length is None else [*parts, *_intervals(judged, predicted)]


def half_length(judged: JudgedAnswers) -> float:
    """Return half the length of the intervals that are drawn; infinite if there are none."""
    return np.inf if judged.half_length is None else judged.half_length(_SHOWN)


def draw_predictions(ax: Axes, judged: JudgedAnswers) -> None:
    """Draw targets against predictions."""
    _draw(ax, judged, "actual_vs_predicted")
    assert judged.predictions is not None
    ends = np.array([min(judged.target.min(), judged.predictions.min()), max(judged.target.max(), judged.predictions.max())])
    _draw_sides(ax, ends, ends, half_length(judged))
    ax.set(xlabel="prediction, out of fold", ylabel="target")


def draw_residuals(ax: Axes, judged: JudgedAnswers) -> None:
    """Draw residuals against predictions."""
    _draw(ax, judged, "residual_vs_predicted")
    assert judged.predictions is not None
    ends = np.array([judged.predictions.min(), judged.predictions.max()])
    _draw_sides(ax, ends, np.zeros(2), half_length(judged))
    ax.set(xlabel="prediction, out of fold", ylabel="target less prediction")


def _draw(ax: Axes, judged: JudgedAnswers, kind: str) -> None:
    from matplotlib.ticker import MaxNLocator
    from sklearn.metrics import PredictionErrorDisplay

    assert judged.predictions is not None
    rows = np.random.default_rng(0).permutation(len(judged.target))[:_MOST_POINTS]
    display = PredictionErrorDisplay(y_true=judged.target[rows], y_pred=judged.predictions[rows])
    points = {"color": COLOURS[0], "s": 9, "alpha": 0.8, "linewidths": 0}
    display.plot(ax=ax, kind=kind, scatter_kwargs=points, line_kwargs={"color": "0.6", "linestyle": "-", "linewidth": 1})
    ax.set_aspect("auto")
    for axis in (ax.xaxis, ax.yaxis):  # the display has ticks at the ends of the data
        axis.set_major_locator(MaxNLocator(6))
    tidy(ax)


def _draw_sides(ax: Axes, x: Floats, y: Floats, half: float) -> None:
    for side in (-half, half) if np.isfinite(half) else ():
        ax.plot(x, y + side, "--", color=COLOURS[1], linewidth=1)


def inside(judged: JudgedAnswers) -> pd.DataFrame:
    """Return the shares of rows inside the intervals: of all, and of each third of the rows by their predictions."""
    assert judged.predictions is not None
    assert judged.half_length is not None
    error, weights = np.abs(judged.target - judged.predictions), judged.weights
    thirds = np.array_split(np.argsort(judged.predictions, kind="stable"), 3)
    rows = []
    for share in COVERAGES:
        half = judged.half_length(share)
        parts = (np.average(error[part] <= half, weights=weights[part]) if len(part) else np.nan for part in thirds)
        rows.append((f"{share:g}", half, np.average(error <= half, weights=weights), *parts))
    names = ["lowest third of predictions", "middle third", "highest third"]
    return pd.DataFrame(rows, columns=["coverage", "half length", "all rows", *names])


def _intervals(judged: JudgedAnswers, predicted: Floats) -> list[Part]:
    table, half = inside(judged), half_length(judged)
    width = f"+- {short(half)} for {100 * _SHOWN:g} % of new rows" if np.isfinite(half) else "the rows are too few"
    text = (
        f"predict_interval takes its width from these errors: {width}. So the share of all rows inside is the coverage by "
        "construction. A third of the rows far below it has larger errors than the others, and there the intervals are too short."
    )
    return [text, Table(table, "Shares of rows inside the intervals, out of fold")]


def worst_numbers(judged: JudgedAnswers, most: int) -> tuple[Rows, pd.DataFrame]:
    """Return the places of the rows with the largest errors, and these."""
    if judged.predictions is None:
        return np.empty(0, dtype=np.intp), pd.DataFrame()
    error = judged.target - judged.predictions
    places = np.argsort(-np.abs(error), kind="stable")[:most]
    said = {"target": judged.target, "prediction": judged.predictions, "target less prediction": error}
    return places, pd.DataFrame({name: values[places] for name, values in said.items()})

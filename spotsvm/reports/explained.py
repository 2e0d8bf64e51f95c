"""The section of a page on which columns matter and whether more rows would help."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, draw_intervals, drawing, plain, set_ticks, tidy
from spotsvm.common.text import duration
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.reports.html.cells import cut_text
from spotsvm.reports.html.page import Highlight, Part, Picture, Section, Table
from spotsvm.trials.metrics import ScoreUnit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_COLUMNS, _LONGEST = 15, 24


def explained_section(found: Explanation | NotExplained | None) -> Section | None:
    """Return the section; None where nobody has asked for it."""
    if found is None:
        return None
    heading = "Columns and rows"
    if isinstance(found, NotExplained):
        text = (
            "Which columns matter, and whether more rows would help, was not computed: by refits on folds it takes about "
            f"{duration(found.seconds)}, more than the {duration(found.limit)} for what nobody has asked for. "
            "report(explain=True), and --explain of the command, compute it."
        )
        return Section(heading, [text])
    unit = ScoreUnit(found.scoring)
    some = f"{found.n_rows} rows, drawn at random" if found.sampled else f"{found.n_rows} rows"
    way = "rises" if unit.is_error else "falls"
    parts: list[Part] = [
        f"By refits of the model on {found.n_folds} folds of {some}: each fold's model was fitted to the training rows of the "
        "fold, and judged on its test rows, with the members and weights of the final model. Intervals, for 95 %, are over the "
        "folds.",
        *(Highlight(note) for note in found.notes),
    ]
    if len(found.importance):
        with drawing(4.6, importance_height(found)) as figure:
            draw_importance(figure.subplots(), found)
        more = f" The {_MOST_COLUMNS} strongest of {len(found.importance)} columns." * (len(found.importance) > _MOST_COLUMNS)
        caption = (
            f"Which columns matter: by how much the {unit.title} {way} if the values of a column are permuted.{more} A line is a "
            "95 % interval; where none can be seen, it is shorter than the point, or all folds agree. Of two columns that say "
            "the same, each may look unimportant."
        )
        parts += [
            Picture(figure, caption, "Importance of columns; the table has the numbers"),
            Table(_shown(found, unit), f"{_fall(unit)} if a column is permuted", folded=len(found.importance) > _MOST_COLUMNS),
            _dependence_picture(found),
        ]
    with drawing(4.6, 3.4) as figure:
        draw_learning_curve(figure.subplots(), found)
    parts += [
        Highlight(found.sentence, "finding"),
        Picture(
            figure,
            f"Would more rows help: {unit.title} by the number of training rows. A vertical line is a 95 % interval.",
            "Learning curve",
        ),
        Table(_curve(found, unit), "The same as numbers"),
    ]
    return Section(heading, parts)


def strongest(found: Explanation) -> list[str]:
    """Return the columns whose dependence is known, the strongest first."""
    return list(dict.fromkeys(found.dependence["column"])) if len(found.dependence) else []


def importance_height(found: Explanation) -> float:
    """Return the height of the picture of the importance, in inches."""
    return 0.75 + 0.28 * min(len(found.importance), _MOST_COLUMNS)


def _fall(unit: ScoreUnit) -> str:
    return f"rise of the {unit.title}" if unit.is_error else f"fall of {unit.title}"


def draw_importance(ax: Axes, found: Explanation) -> None:
    """Draw the importance of the strongest columns."""
    shown = found.importance.head(_MOST_COLUMNS)
    ax.axvline(0.0, color="0.5", lw=1.0)
    names = [cut_text(name, _LONGEST) for name in shown["column"]]
    draw_intervals(ax, names, shown["importance"].tolist(), shown["low"].tolist(), shown["high"].tolist())
    ax.set_xlabel(plain(_fall(ScoreUnit(found.scoring))))


def draw_dependence(ax: Axes, found: Explanation, column: str) -> None:
    """Draw the mean prediction by the values of a column, thin for each fold."""
    part = found.dependence[found.dependence["column"] == column]
    answers = list(dict.fromkeys(part["answer"]))
    values = part["value"][(part["fold"] == part["fold"].iloc[0]) & (part["answer"] == answers[0])]
    number = pd.api.types.is_numeric_dtype(values.infer_objects())
    places = values.to_numpy(dtype=float) if number else np.arange(len(values), dtype=float)
    for answer, colour in zip(answers, COLOURS, strict=False):
        lines = np.array([one["mean"].to_numpy() for _, one in part[part["answer"] == answer].groupby("fold")])
        for line in lines:
            ax.plot(places, line, color=colour, linewidth=0.8, alpha=0.35)
        ax.plot(places, lines.mean(axis=0), "-" if number else "o-", color=colour, linewidth=2, markersize=5, label=plain(answer))
    if not number:
        set_ticks(ax, "x", places.tolist(), [cut_text(str(value), _LONGEST) for value in values])
    ax.set(xlabel=plain(cut_text(column, _LONGEST)), ylabel=plain(answers[0]) if len(answers) == 1 else "mean answer")
    if len(answers) > 1:
        ax.legend(fontsize=7)
    tidy(ax)


def _dependence_picture(found: Explanation) -> Picture:
    figures = []
    for column in strongest(found):
        with drawing(3.4, 3.0) as figure:
            draw_dependence(figure.subplots(), found, column)
        figures.append(figure)
    caption = (
        "Partial dependence of the strongest columns: the mean answer for the test rows if all had this value. A thin line is a "
        "fold, the thick one their mean. Values that never occur together are combined too."
    )
    return Picture(figures[0], caption, "Mean answers by the values of columns", figures[1:])


def draw_learning_curve(ax: Axes, found: Explanation) -> None:
    """Draw the score by the number of training rows, with intervals."""
    curve, unit = _curve(found, ScoreUnit(found.scoring)), ScoreUnit(found.scoring)
    known = np.isfinite(curve["low"].to_numpy(dtype=float))
    ax.vlines(curve["rows"][known], curve["low"][known], curve["high"][known], color=COLOURS[0], lw=2.4, alpha=0.55)
    ax.plot(curve["rows"], curve[unit.title], "o-", color=COLOURS[0], markersize=5.5, linewidth=1)
    ax.set(xlabel="training rows", ylabel=plain(f"{unit.title}, test rows"), xlim=(0, None))
    tidy(ax)


def _curve(found: Explanation, unit: ScoreUnit) -> pd.DataFrame:
    rows = [
        (row.rows, unit.value(float(row.score)), *unit.interval((float(row.low), float(row.high))))  # type: ignore[arg-type]
        for row in found.learning_curve.itertuples()
    ]
    return pd.DataFrame(rows, columns=["rows", unit.title, "low", "high"])


def _shown(found: Explanation, unit: ScoreUnit) -> pd.DataFrame:
    return found.importance.rename(columns={"importance": _fall(unit)})

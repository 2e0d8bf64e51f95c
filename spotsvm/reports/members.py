"""The members of an average: their weights by kind, with those that give the same answers as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spotsvm.common.drawing import COLOURS, drawing, plain, set_ticks
from spotsvm.common.text import counted, short
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.html.cells import cut_text
from spotsvm.reports.html.page import Part, Picture, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_KINDS, _LONGEST = 20, 40
_NO_KIND = ("weight", "score", "number", "state")


def members_parts(model: FittedModel) -> list[Part]:
    """Return the weights of the members by kind as a picture, and a table of the different members; empty without any."""
    if model.members is None:
        return []
    merged, n = merged_members(model), len(model.members)
    caption = f"{counted(n, 'member')}, largest weight first"
    if len(merged) < n:
        caption = f"{n} members, {len(merged)} of them different: those with the same answers for all judged rows are one line"
    parts: list[Part] = []
    if kinds_of(model) and len(weights := kind_weights(model)) > 1:
        with drawing(4.6, 0.75 + 0.28 * len(weights)) as figure:
            draw_kinds(figure.subplots(), weights)
        told = ", ".join(f"{name} {short(weight)}" for name, weight in weights.items())
        parts.append(Picture(figure, "Weight of the members by kind", f"Weights: {told}"))
    return [*parts, Table(merged, caption)]


def kinds_of(model: FittedModel) -> list[str]:
    """Return the columns of the members whose texts say of which kind a member is."""
    assert model.members is not None
    frame = model.members.drop(columns=[*_NO_KIND], errors="ignore")
    return [str(name) for name in frame if frame[name].map(lambda value: isinstance(value, str)).all()]


def kind_weights(model: FittedModel) -> pd.Series[float]:
    """Return the sum of the weights of each kind, the largest first."""
    assert model.members is not None
    frame = model.members
    names = frame[kinds_of(model)].agg(", ".join, axis=1)
    sums = frame["weight"].groupby(names.to_numpy()).sum().sort_values(ascending=False, kind="stable")
    return sums.iloc[:_MOST_KINDS]


def draw_kinds(ax: Axes, weights: pd.Series[float]) -> None:
    """Draw the weights of kinds as bars."""
    places = np.arange(len(weights))[::-1]
    ax.barh(places, weights.to_numpy(), color=COLOURS[0], height=0.65)
    set_ticks(ax, "y", places.tolist(), [plain(cut_text(str(name), _LONGEST)) for name in weights.index])
    ax.set(xlabel="weight", xlim=(0, None))
    ax.grid(axis="x", color="0.9", lw=0.6)
    ax.tick_params(axis="y", length=0)


def merged_members(model: FittedModel) -> pd.DataFrame:
    """Return the members with those of the same answers as one row, which has the sum of their weights."""
    assert model.members is not None
    frame, equal = model.members, model.equal_members
    if equal is None or len(np.unique(equal)) == len(frame):
        return frame
    rows = []
    for _, part in frame.groupby(equal, sort=False):
        row = {name: _together(values) for name, values in part.items()}
        rows.append({**row, "weight": part["weight"].sum(), "members": len(part)})
    merged = pd.DataFrame(rows, columns=[*frame.columns, "members"])
    return merged.sort_values("weight", ascending=False, kind="stable").reset_index(drop=True)


def _together(values: pd.Series) -> object:
    """Return the value of all rows, or a text of the different ones."""
    different = values.drop_duplicates().tolist()
    if len(different) == 1 or values.name == "score":  # which equal answers share but for rounding
        return different[0]
    return ", ".join(short(value) if isinstance(value, float) else str(value) for value in different)

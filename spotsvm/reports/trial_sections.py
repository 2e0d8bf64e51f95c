"""The sections that list trials: those that failed with their reasons, and all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd

from spotsvm.reports.axes import shown_params
from spotsvm.reports.page import Part, Section
from spotsvm.reports.parts import Table
from spotsvm.reports.study_view import StudyView
from spotsvm.reports.thinned import MOST, SHOWN, thinned
from spotsvm.reports.tuned import counted

_WIDEST = 13
_MOST_CELLS = 30_000
_FEWEST = 200
_FAILED = 500
_ENDS = ("origin", "note", "reason", "seed", "ask_seconds", "fit_seconds", "acquisition_seconds", "seconds", "lost")


def failures_section(view: StudyView) -> Section:
    """Give the section on failed trials; it says so where there are none."""
    if not view.failed:
        return Section("Failed trials", ["No trial has failed."])
    groups: dict[str, list[int]] = {}
    for t in view.failed:
        groups.setdefault(t.reason or "(no reason was given)", []).append(t.number)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[1][0]))
    reasons = pd.DataFrame(
        [(reason, len(numbers), _listed(numbers)) for reason, numbers in ordered], columns=["reason", "trials", "numbers"]
    )
    each = pd.DataFrame(
        [(t.number, t.state, shown_params(t.params), t.seconds, t.reason) for t in view.failed],
        columns=["number", "state", "parameters", "seconds", "reason"],
    )
    told = len(view.done) + len(view.failed)
    return Section(
        "Failed trials",
        [
            f"{counted(len(view.failed), 'trial')} of {told} failed. A search avoids where trials fail, and goes on.",
            Table(reasons, "Reasons, the commonest first"),
            Table(each, "Each failed trial", rows_shown=thinned(np.arange(len(each), dtype=float), _FAILED)),
        ],
    )


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:20])) + (", …" if len(numbers) > 20 else "")


def trials_section(view: StudyView) -> Section:
    """Give the section with all trials and all that is known of each, in as many tables as fit beside one another on paper."""
    if not view.trials:
        return Section("All trials", ["Nothing has been asked for yet."])
    frame = view.study.frame()
    values = list(view.study.objectives.columns)
    params = [name for name in frame.columns if name.startswith("param_")]
    extras = [name for name in frame.columns if name.startswith("extra_")]
    ends = [name for name in _ENDS if not _empty(frame[name])]
    first = ["number", "state", *values, *params]
    parts: list[Part] = []
    rows = view.rows(min(MOST, max(_MOST_CELLS // frame.shape[1], _FEWEST)))
    if len(rows) < len(frame):
        parts.append(
            f"Of {len(frame)} trials {len(rows)} are shown: {SHOWN}. "
            "The CSV file of study.to_csv, and of spotsvm export, has all."
        )
    for k, columns in enumerate([*_split(first), *_split(["number", *extras, *ends])]):
        what = "their parameters and values" if set(columns) & {*params, *values} else "what else is known of them"
        more = "" if k == 0 else ", continued" if what.startswith("their") else ""
        parts.append(Table(_renamed(frame[columns]), f"{counted(len(frame), 'trial')}: {what}{more}", rows_shown=rows))
    return Section("All trials", parts)


def _split(columns: list[str]) -> list[list[str]]:
    """Cut a long list of columns, each part beginning with the trial's number."""
    head, rest = columns[0], columns[1:]
    return [[head, *rest[k : k + _WIDEST]] for k in range(0, len(rest), _WIDEST)]


def _empty(column: pd.Series[str]) -> bool:
    return bool((column.isna() | (column == "") | ((column == 0) & (column.name == "lost"))).all())


def _renamed(frame: pd.DataFrame) -> pd.DataFrame:
    """Give short headings: a parameter's own name, and that of a further number."""
    out = frame.copy()
    out.columns = pd.Index([name.removeprefix("param_").removeprefix("extra_") for name in frame.columns])
    return out

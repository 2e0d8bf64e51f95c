"""The parts of the study of durability: cases that are measured one by one, and findings that follow from them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

#: what a measurement is made of, and what reads it from a file
COLUMNS: dict[str, Callable[[str], Any]] = {"part": str, "case": str, "measure": str, "value": float, "text": str}
SKIPPED = "skipped"

Measures = Mapping[str, float | str]


class CaseSkippedError(Exception):
    """A case cannot be measured here; the text says what is missing."""


@dataclass(frozen=True)
class Case:
    """Something to measure, on its own, named by all that it takes to repeat it; `measure` returns numbers and texts by name."""

    name: str
    measure: Callable[[], Measures]


@dataclass(frozen=True)
class Finding:
    """One figure of a part, with its unit; its goal, if it has one, and whether it is met (None where that cannot be told)."""

    what: str
    figure: float
    goal: str = ""
    met: bool | None = None


@dataclass(frozen=True)
class Part:
    """A part of the study.

    `cases` takes whether the form is quick, and the seed. The others take a frame with a row a measured case and a column a
    measure: `table` sums it up, `findings` returns the figures that are judged, `sentence` what it shows, in words.
    """

    name: str
    title: str
    cases: Callable[[bool, int], Sequence[Case]]
    table: Callable[[pd.DataFrame], pd.DataFrame]
    findings: Callable[[pd.DataFrame], Sequence[Finding]]
    sentence: Callable[[pd.DataFrame], str]


def measured(part: str, case: Case) -> pd.DataFrame:
    """Measure a case; return a row a measure, or one that says why it was skipped.

    Examples
    --------
    >>> measured("sums", Case("1 and 2", lambda: {"sum": 3.0, "how": "added"}))[["measure", "text"]].values.tolist()
    [['sum', ''], ['how', 'added']]
    """
    try:
        measures = case.measure()
    except CaseSkippedError as why:
        measures = {SKIPPED: str(why)}
    rows = [
        (part, case.name, name, math.nan, value) if isinstance(value, str) else (part, case.name, name, float(value), "")
        for name, value in measures.items()
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def by_case(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the measurements of one part with a row a case and a column a measure, in the order in which they were made.

    Examples
    --------
    >>> by_case(measured("sums", Case("1 and 2", lambda: {"sum": 3.0, "how": "added"})))
          case  sum    how
    0  1 and 2  3.0  added
    """
    # a text may be empty, but no number is missing from all cases
    texts = {name: bool(of_name.value.isna().all()) for name, of_name in rows.groupby("measure", sort=False)}
    wide: dict[str, dict[str, float | str]] = {}
    for case, name, value, text in rows[["case", "measure", "value", "text"]].itertuples(index=False, name=None):
        wide.setdefault(case, {"case": case})[name] = text if texts[name] else value
    return pd.DataFrame(list(wide.values()))


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table, its columns as attributes."""
    return list(table.itertuples(index=False))


def without_skipped(cases: pd.DataFrame) -> pd.DataFrame:
    """Leave out the cases that could not be measured here."""
    return cases[cases[SKIPPED].isna()].drop(columns=SKIPPED) if SKIPPED in cases else cases


def skipped_text(cases: pd.DataFrame) -> str:
    """Return in words which cases were left out, and why; nothing where none was."""
    if SKIPPED not in cases:
        return ""
    whys = cases[SKIPPED].dropna()
    return " ".join(f"Left out ({(whys == why).sum()} of {len(cases)}): {why}." for why in dict.fromkeys(whys))

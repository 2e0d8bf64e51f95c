"""The findings of a study as parts of its page: a sentence, and the numbers as tables under readable titles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from spotsvm.reports.html.cells import cut_text
from spotsvm.reports.html.page import Highlight, Part, Section, Table
from spotsvm.trials.findings import JUDGEMENT, NOTICES, OVERSEARCHING, REPEAT, ROWS, STOP, TABLE, TIMEOUT, VERDICT

#: headings of the library's own findings
_HEADINGS = {
    STOP: "Whether to continue",
    TIMEOUT: "Time limit",
    ROWS: "Number of rows that the model was fitted to",
    JUDGEMENT: "Whether the choice of the search holds on fresh data",
}
#: titles of numbers whose names are not clear
_TITLES = {
    "judgement.value": "how much better the trial judged is",
    "n_trials": "trials",
    "recommended_number": "trial judged",
    "best_seen_number": "trial with the best value seen",
    "n_fresh": "fresh evaluations",
    "n_failed": "failed evaluations",
}
#: entries that have their own part of the page
_SILENT = ("sentence", "summary")
#: findings that have their own section
_TOLD = (OVERSEARCHING, VERDICT, NOTICES, TABLE, REPEAT, *_HEADINGS)
_MOST_CELLS = 1_000_000


def findings_of(findings: Mapping[str, Mapping[str, Any]], *names: str) -> list[Part]:
    """Return a section for each of these findings that exists: its sentence, and its numbers as tables."""
    return [_section(name, findings[name]) for name in names if name in findings]


def further_section(findings: Mapping[str, Mapping[str, Any]]) -> Section | None:
    """Return the section with the findings that no other section has; None if there are none."""
    names = [name for name in findings if name not in _TOLD]
    return Section("Further findings", findings_of(findings, *names)) if names else None


def _section(name: str, finding: Mapping[str, Any]) -> Section:
    parts: list[Part] = []
    for key in ("sentence", "summary"):
        if isinstance(text := finding.get(key), str):
            parts.append(Highlight(cut_text(text), "finding"))
    single = [(_title(name, key), _text(value)) for key, value in finding.items() if key not in _SILENT and not _rows(value)]
    if single:
        parts.append(Table(pd.DataFrame(single, columns=["what", "value"]), "Its numbers"))
    for key, value in finding.items():
        if _rows(value):
            # rows of the same kind have few columns; in a record, each row may have other columns
            names = list(dict.fromkeys(k for row in value for k in row))
            rows = value[: max(_MOST_CELLS // max(len(names), 1), 1)]
            frame = pd.DataFrame([{k: _cell(v) for k, v in row.items()} for row in rows], columns=names)
            left = "" if len(rows) == len(value) else f" (the first {len(rows)} of {len(value)} rows)"
            parts.append(Table(frame, cut_text(_first_large(_title(name, key))) + left))
    return Section(_HEADINGS.get(name, cut_text(_readable(name))), parts)


def _title(finding: str, key: str) -> str:
    return _TITLES.get(f"{finding}.{key}") or _TITLES.get(key, _readable(key))


def _first_large(text: str) -> str:
    return text[:1].upper() + text[1:]


def _readable(name: str) -> str:
    return name.replace("_", " ")


def _rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _cell(value: Any) -> Any:
    return _text(value) if isinstance(value, list | Mapping) else value


def _text(value: Any) -> Any:
    """Return a list or a mapping as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(str(_text(one)) for one in value)
    return f"{value:.6g}" if isinstance(value, float) else value

"""What else was found out about a study, as parts of its report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from spotsvm.reports.cells import cut_text
from spotsvm.reports.page import Part, Section
from spotsvm.reports.parts import Notice, Table

#: headings of the findings that the library itself makes
_HEADINGS = {"stop": "Whether to go on", "judgement": "Whether the recommendation holds on fresh data"}
_MOST_CELLS = 1_000_000


def other_findings(findings: Mapping[str, Mapping[str, Any]]) -> list[Part]:
    """Give a section for each finding beside that on oversearching: its sentence, and its numbers as tables.

    Parameters
    ----------
    findings : mapping of str to mapping
        As `Study.findings` has them.

    Examples
    --------
    >>> [section.heading for section in other_findings({"stop": {"sentence": "It went on."}, "oversearching": {}})]
    ['Whether to go on']
    """
    return [_section(name, finding) for name, finding in findings.items() if name != "oversearching"]


def _section(name: str, finding: Mapping[str, Any]) -> Section:
    parts: list[Part] = []
    for key in ("sentence", "summary"):
        if isinstance(text := finding.get(key), str):
            parts.append(Notice(cut_text(text), "finding"))
    single = [(key, _text(value)) for key, value in finding.items() if key not in ("sentence", "summary") and not _rows(value)]
    if single:
        parts.append(Table(pd.DataFrame(single, columns=["what", "value"]), cut_text(f"The finding {name!r}")))
    for key, value in finding.items():
        if _rows(value):
            # rows of one kind have few columns; those of a record may each have others
            names = list(dict.fromkeys(k for row in value for k in row))
            rows = value[: max(_MOST_CELLS // max(len(names), 1), 1)]
            frame = pd.DataFrame([{k: _cell(v) for k, v in row.items()} for row in rows], columns=names)
            left = "" if len(rows) == len(value) else f" (the first {len(rows)} of {len(value)} rows)"
            parts.append(Table(frame, cut_text(f"{name}: {key}") + left))
    return Section(_HEADINGS.get(name, cut_text(f"Finding: {name}")), parts)


def _rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _cell(value: Any) -> Any:
    return _text(value) if isinstance(value, list | Mapping) else value


def _text(value: Any) -> Any:
    """Give lists and mappings as one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_text(one)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(str(_text(one)) for one in value)
    return f"{value:.6g}" if isinstance(value, float) else value

"""The section on how to repeat a study: versions, fingerprints, code."""

from __future__ import annotations

import sys
from importlib.metadata import version
from typing import Any

import pandas as pd

from spotsvm.reports.code_snippet import code_snippet
from spotsvm.reports.page import Part, Section
from spotsvm.reports.parts import Code, Notice, Table
from spotsvm.reports.study_view import StudyView
from spotsvm.versions import versions

_CONTEXT = "context: "
_NOT_RECORDED = "not recorded"


def repeat_section(view: StudyView) -> Section:
    """Give the section."""
    about = view.study.about
    then, now = about.get("versions"), versions()
    then = then if isinstance(then, dict) else {}
    frame = pd.DataFrame(
        [(name, str(then.get(name, _NOT_RECORDED)), now[name]) for name in now], columns=["", "when the study began", "now"]
    )
    parts: list[Part] = [
        _what_is_the_same(about.get("batch_size", 1)),
        Code(code_snippet(view.study), "Python code that runs the study again"),
        Table(frame, "Versions"),
    ]
    if changed := [name for name in now if name in then and then[name] != now[name]]:
        parts.append(Notice(f"Of these, {', '.join(changed)} had another version then; a repetition can differ.", "note"))
    fingerprints = [(key.removeprefix(_CONTEXT), str(value)) for key, value in sorted(about.items()) if key.startswith(_CONTEXT)]
    if fingerprints:
        frame = pd.DataFrame(fingerprints, columns=["what", "text or fingerprint"])
        parts.append(Table(frame, "What the values depend on beside the parameters; equal data have equal fingerprints"))
    else:
        parts.append(
            "The study knows nothing of the data behind its objective: give Study(..., context={...}) a checksum of them."
        )
    path: Any = getattr(view.study, "path", None)
    if path is not None:
        name = path.name
        text = f"spotsvm export {_quoted(name)} --csv trials.csv\nspotsvm report {_quoted(name)} --out report.html\n"
        parts.append(Code(text, "Commands that read the record again"))
    return Section("How to repeat it", parts)


def _what_is_the_same(batch_size: Any) -> str:
    """Say when a repetition gives the same trials; the batch size is None where workers took trials as they came free."""
    text = "The same seed, the same objective and the same versions give the same trials"
    if batch_size is None:
        return (
            f"{text} only if as many are under way whenever one is suggested. Here several workers took a trial each as they "
            "came free, or the batch size has changed on the way: that depends on how long each trial took, so the code gives "
            "other trials. A run with batch_size can be repeated; the record of this one can be resumed."
        )
    return f"{text}, whatever the number of workers, if as many are suggested together (batch_size={batch_size!s})."


def footer() -> str:
    """Say what made the report."""
    return f"Made by spotsvm {version('spotsvm')} with Python {sys.version_info.major}.{sys.version_info.minor}."


def _quoted(name: str) -> str:
    import shlex

    return shlex.quote(name)

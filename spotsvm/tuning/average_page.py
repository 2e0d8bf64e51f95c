"""The page of a tuning by TunedSVC or TunedSVR: what the held-out rows say, then what the fit knows of itself."""

from __future__ import annotations

from typing import Any

from spotsvm.reports.html.page import Code, Notice, Page
from spotsvm.reports.verdict import verdict_parts
from spotsvm.tuned.page import page_of


def average_page(result: Any) -> Page:
    """Return the page of a `HeldOutResult`."""
    what = result.facts.get("File")
    name = type(result.estimator).__name__
    first = [*(Notice(notice.sentence, "warning") for notice in result.notices), *verdict_parts(result.verdict)]
    repeat = [Code(result.command, "The command")] if result.command else []
    repeat.append(Code(result.code, "Python code that repeats it"))
    about = [(key, str(value)) for key, value in result.facts.items()]
    return page_of(result.estimator, name + (f" for {what}" if what else ""), about, first, repeat)

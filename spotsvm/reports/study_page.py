"""The report of a study as an HTML page."""

from __future__ import annotations

import sys

from spotsvm.common.checkout import library_version
from spotsvm.common.text import short_names
from spotsvm.reports.convergence import checked_baseline, convergence_section
from spotsvm.reports.effects import effects_parts
from spotsvm.reports.html.findings import further_section
from spotsvm.reports.html.page import Notice, Page, Section
from spotsvm.reports.learning_curves import learning_curves_section
from spotsvm.reports.outcome import facts, outcome_section
from spotsvm.reports.oversearching import oversearching_section
from spotsvm.reports.recommended import recommended_section
from spotsvm.reports.repeat import repeat_section
from spotsvm.reports.slices import slices_parts
from spotsvm.reports.trials import settings_section, trials_section
from spotsvm.reports.view import StudyView
from spotsvm.trials.results import StudyResults


def study_page(study: StudyResults, baseline: StudyResults | None = None) -> Page:
    """Return the page of a study or of its record, compared with a baseline, such as a random search of the same objective.

    ArgumentError if the baseline has different objectives, space or data, or no successful trial.
    """
    baseline = checked_baseline(study, baseline)
    view = StudyView(study)
    sections = [
        outcome_section(view),
        recommended_section(view),
        oversearching_section(view),
        *([Section("Convergence", [Notice(view.too_large, "warning")])] if view.too_large else _drawn(view, baseline)),
        trials_section(view),
        further_section(view.findings),
        repeat_section(view),
        settings_section(view),
    ]
    names = list(short_names(study.space.names).values())
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    what = view.findings.table.get("File")
    title = f"Tuning {listed}" + (f" for {what}" if isinstance(what, str) else "")
    footer = f"Made by spotsvm {library_version()} with Python {sys.version_info.major}.{sys.version_info.minor}."
    return Page(title, [section for section in sections if section is not None], footer=footer, facts=facts(view))


def _drawn(view: StudyView, baseline: StudyResults | None) -> list[Section | None]:
    if not view.done:
        return []
    # rows of panels come after parts that are side by side
    parts = sorted([*effects_parts(view), *slices_parts(view)], key=lambda part: bool(getattr(part, "others", ())))
    return [convergence_section(view, baseline), learning_curves_section(view), Section("What matters", parts)]

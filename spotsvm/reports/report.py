"""The report as an HTML page: of a study or its record, of a fitted model, or of a search with both."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from spotsvm.common.checkout import library_version
from spotsvm.common.text import checked_path, short_names
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.reports.convergence import checked_baseline, convergence_section
from spotsvm.reports.effects import effects_parts
from spotsvm.reports.explained import explained_section
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.fitted_sections import (
    answers_section,
    columns_section,
    expected_section,
    fitted_facts,
    members_section,
    probabilities_section,
)
from spotsvm.reports.html.findings import further_section
from spotsvm.reports.html.page import Code, Highlight, Page, Part, Section
from spotsvm.reports.learning_curves import learning_curves_section
from spotsvm.reports.outcome import facts, fitted_parts, outcome_section
from spotsvm.reports.oversearching import oversearching_section
from spotsvm.reports.recommended import recommended_section
from spotsvm.reports.repeat import repeat_section
from spotsvm.reports.slices import slices_parts
from spotsvm.reports.trials import settings_section, trials_section, version_parts
from spotsvm.reports.view import StudyView
from spotsvm.trials.results import StudyResults


def write_report(page: Callable[[], Page], path: str | Path, tables: str | Path | None = None) -> Path:
    """Write the page into a file, and its tables into a folder, if one is given; paths are checked before the page is made."""
    file = checked_path(path, such_as="report.html")
    folder = None if tables is None else checked_path(tables, "tables", "tables")
    made = page()
    if folder is not None:
        made.write_tables(folder)
    return made.write(file)


def study_page(
    study: StudyResults,
    baseline: StudyResults | None = None,
    model: FittedModel | None = None,
    explanation: Explanation | NotExplained | None = None,
    answers: FittedModel | None = None,
) -> Page:
    """Return the page of a study or of its record, and of the `model` that a search has fitted, or answers and what explains one.

    It is compared with a baseline, such as a random search of the same objective. ArgumentError if the baseline has different
    objectives, space or data, or no successful trial.
    """
    baseline = checked_baseline(study, baseline)
    view = StudyView(study, model if model is not None and model.is_fitted else None)
    names = list(short_names(study.space.names).values())
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    what = view.findings.table.get("File")
    title = f"Tuning {listed}" + (f" for {what}" if isinstance(what, str) else "")
    return _page(title, facts(view), outcome_section(view), view, baseline, explanation=explanation, answers=answers)


def model_page(
    model: FittedModel,
    title: str = "",
    about: Sequence[tuple[str, str]] = (),
    first: Sequence[Part] = (),
    repeat: Sequence[Code] = (),
) -> Page:
    """Return the page of a fitted model without a study.

    `about` are facts about the rows; `first` replaces the notices and the verdict, and `repeat` the code for X and y.
    """
    result = Section("Result", first or fitted_parts(model))
    return _page(title or f"{model.name}: a tuned support vector machine", about, result, model, repeat=repeat)


def _page(
    title: str,
    facts: Sequence[tuple[str, str]],
    result: Section,
    of: StudyView | FittedModel,
    baseline: StudyResults | None = None,
    repeat: Sequence[Code] = (),
    explanation: Explanation | NotExplained | None = None,
    answers: FittedModel | None = None,
) -> Page:
    """Return a page with the sections that have something to say."""
    view = of if isinstance(of, StudyView) else None
    model = of.fitted if isinstance(of, StudyView) else of
    sections: list[Section | None] = [result]
    if view is not None:
        sections.append(recommended_section(view))
    if model is not None:
        sections.append(expected_section(model))
    if (answering := answers or model) is not None:
        found = answers_section(answering)
        if found is not None and model is None:
            found = replace(
                found,
                parts=["The answers are those of the tuned SVM for rows that its fit on a fold had not seen.", *found.parts],
            )
        sections += [found, probabilities_section(answering)]
    if model is not None:
        sections += [explained_section(model.explanation), members_section(model), columns_section(model)]
    sections.append(explained_section(explanation))
    if view is not None:
        sections.append(oversearching_section(view))
        too_large = [Section("Convergence", [Highlight(view.too_large, "warning")])] if view.too_large else _drawn(view, baseline)
        sections += [
            *too_large,
            trials_section(view),
            further_section(view.findings),
            repeat_section(view),
            settings_section(view),
        ]
    elif model is not None:
        code = repeat or [Code(model.code, "With the same rows this gives the same model")]
        sections.append(Section("How to repeat it", [*code, *version_parts(model.versions, "at the fit")]))
    footer = f"Made by spotsvm {library_version()} with Python {sys.version_info.major}.{sys.version_info.minor}."
    known = [*facts, *(() if model is None else fitted_facts(model))]
    return Page(title, [section for section in sections if section is not None], footer=footer, facts=known)


def _drawn(view: StudyView, baseline: StudyResults | None) -> list[Section | None]:
    if not view.done:
        return []
    # rows of panels come after parts that are side by side
    parts = sorted([*effects_parts(view), *slices_parts(view)], key=lambda part: bool(getattr(part, "others", ())))
    return [convergence_section(view, baseline), learning_curves_section(view), Section("What matters", parts)]

"""The report of a study as an HTML page."""

from __future__ import annotations

from spotsvm.common.errors import ArgumentError
from spotsvm.reports.convergence import check_baseline, convergence_section
from spotsvm.reports.effects import effects_section
from spotsvm.reports.oversearching import oversearching_section
from spotsvm.reports.page import Notice, Page, Section
from spotsvm.reports.repeat import footer, repeat_section
from spotsvm.reports.slices import slices_section
from spotsvm.reports.tuned import counted, failures_section, recommended_section, trials_section, tuned_section
from spotsvm.reports.view import StudyView
from spotsvm.trials.results import StudyResults


def study_page(study: StudyResults, baseline: StudyResults | None = None) -> Page:
    """Return the page of a study or of its record, compared with a baseline, such as a random search of the same objective.

    ArgumentError is raised if the baseline has other objectives, another space or other data, or no successful trial.

    Examples
    --------
    >>> from spotsvm import Study
    >>> page = study_page(Study({"x": [1, 2, 3]}, seed=0).run(lambda p: p["x"], n_trials=3))
    >>> [section.heading for section in page.sections][:3]
    ['What was tuned', 'What is recommended', 'Convergence']
    """
    if baseline is not None:
        if not isinstance(baseline, StudyResults):
            raise ArgumentError(f"baseline={baseline!r} is not a study; use a Study, or None")
        check_baseline(study, baseline)
    view = StudyView(study)
    drawn = [] if view.too_large else [convergence_section(view, baseline), effects_section(view), slices_section(view)]
    sections = [
        tuned_section(view),
        recommended_section(view),
        *(drawn or [Section("Convergence", [Notice(view.too_large, "warning")])]),
        oversearching_section(view),
        failures_section(view),
        trials_section(view),
        repeat_section(view),
    ]
    names = study.space.names
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    told = len(view.done) + len(view.failed)
    lead = f"{counted(told, 'trial')} by the search {study.about.get('search', '')!s}."
    return Page(f"Tuning {listed}", [section for section in sections if section is not None], lead=lead, footer=footer())

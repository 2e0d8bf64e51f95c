"""A fitted search as HTML for notebooks: the diagram of scikit-learn, and below it the results."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from html import escape
from typing import Any

from spotsvm.common.facts import escaped_line
from spotsvm.common.text import duration, printable_line, value_text
from spotsvm.errors import SpotSVMError
from spotsvm.search_cv.scoring import metric_name
from spotsvm.trials.ledger import finished_words, suggested
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.own_unit import OwnUnits
from spotsvm.trials.trial import FAILED

_MOST_PARAMETERS, _LONGEST, _LONGEST_LINE = 20, 80, 2000


class ResultsHtmlMixin:
    """Adds the results of a search to its diagram, for a class with `study_` once it is fitted."""

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + results_html(self)  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += results_html(self)
        return bundle


def results_html(search: Any) -> str:
    """Return the results of a search as a table, with a picture of its convergence; empty if it is not fitted.

    Texts have the colours of the page, so that they can be read in light and dark notebooks; the picture is on white.
    """
    if not hasattr(search, "study_"):
        return ""
    left, table = "text-align: left; vertical-align: top; padding: 0.1em 1em 0.1em 0", "border-collapse: collapse; color: inherit"
    rows = "".join(
        f'<tr style="background: none"><th scope="row" style="{left}; white-space: nowrap">{escape(name)}</th>'
        f'<td style="{left}">{escaped_line(value, _LONGEST_LINE)}</td></tr>'
        for name, value in _results(search)
    )
    return (
        f'<div class="spotsvm-results" style="margin-top: 1em"><table style="{table}">'
        f"<tbody>{rows}</tbody></table>{_convergence(search.study_)}</div>"
    )


def _results(search: Any) -> Iterator[tuple[str, str]]:
    study = search.study_
    unit = _unit(search)
    words = f"{unit.title}; {unit.better}" if unit.is_error else unit.metric
    if hasattr(search, "best_params_"):
        params = [f"{name} = {printable_line(value_text(value), _LONGEST)}" for name, value in search.best_params_.items()]
        more = f" and {len(params) - _MOST_PARAMETERS} more" if len(params) > _MOST_PARAMETERS else ""
        yield "best parameters", ", ".join(params[:_MOST_PARAMETERS]) + more
    if hasattr(search, "best_score_"):
        yield "mean score", f"{unit.value(search.best_score_):.4g} ({words}, {search.n_splits_} folds)"
    if study.objectives.several and any(t.values is not None for t in study.trials):
        yield "front", f"{len(study.pareto())} candidates that no other one dominates"
    own = suggested(study.trials)
    failed = sum(t.state in FAILED for t in own)
    yield "trials", finished_words(study.trials) + (f", {failed} failed" if failed else "")
    seconds = sum(t.seconds or 0.0 for t in own)
    refit = f", refit {duration(search.refit_time_)}" if hasattr(search, "refit_time_") else ""
    yield "time", f"scoring {duration(seconds)}{refit}"


def _unit(search: Any) -> ScoreUnit:
    """Return the unit of the optimised score: from the study if it is an error, else from the name of the metric."""
    return OwnUnits.of(search.study_.about, search.study_.objectives).error or ScoreUnit(metric_name(search))


def _convergence(study: Any) -> str:
    """Return the picture as an image that needs nothing else; empty if there is nothing to draw."""
    from spotsvm.reports.convergence import convergence_picture  # on use: most searches are never shown
    from spotsvm.reports.view import StudyView

    view = StudyView(study)
    if not view.done or view.too_large:
        return ""
    try:
        picture = convergence_picture(view, None)
    except SpotSVMError:
        return ""
    file = io.BytesIO()
    picture.figure.savefig(file, format="png", dpi=144, facecolor="white")
    code = base64.b64encode(file.getvalue()).decode()
    return (
        f'<img alt="{escaped_line(picture.alt, _LONGEST_LINE)}" src="data:image/png;base64,{code}" '
        'style="max-width: 100%; width: 40em; margin-top: 0.5em; border-radius: 4px">'
    )

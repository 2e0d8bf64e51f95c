"""What notebooks show of a study, and of a fitted search or model below the diagram of scikit-learn."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Iterator
from typing import Any

from spotsvm.common.facts import escaped_line, html_table
from spotsvm.common.text import printable_line, value_text
from spotsvm.errors import SpotSVMError
from spotsvm.reports.fitted_model import FittedModel
from spotsvm.reports.html.cells import cell_of
from spotsvm.trials.ledger import finished_words, suggested
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import FAILED, holds_bounds

_MOST_ROWS, _MOST_PARAMETERS, _LONGEST, _LONGEST_LINE = 10, 20, 80, 2000
#: a line of results: its name, and the text
Line = tuple[str, str]


class ResultsHtmlMixin:
    """Adds results to the diagram of an estimator, once it is fitted."""

    def _results_html(self) -> str:
        """Return the results as HTML; empty before the fit."""
        raise NotImplementedError(f"{type(self).__name__} has no _results_html")

    def _repr_html_inner(self) -> str:
        return str(super()._repr_html_inner()) + self._results_html()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += self._results_html()
        return bundle


def results_html(lines: Iterable[Line], study: StudyResults | None = None) -> str:
    """Return lines of results as a table, with a picture of the convergence of a study.

    Texts have the colours of the page, so that they can be read in light and dark notebooks; the picture is on white.
    """
    table = html_table(lines, longest=_LONGEST_LINE, headed=True)
    picture = "" if study is None else _convergence(study)
    return f'<div class="spotsvm-results" style="margin-top: 1em">{table}{picture}</div>'


def fitted_lines(model: FittedModel, further: Iterable[Line] = ()) -> Iterator[Line]:
    """Yield the best parameters of a fitted model, what it averages, `further` lines, the scores to expect, and the verdict."""
    if model.best_params:
        yield "best parameters", _params_words(model)
    if words := model.members_words("candidate"):
        yield "model", words
    yield from further
    for name, score in zip(
        ("", " of the default", " of a constant"), (model.expected, model.default, model.constant), strict=True
    ):
        if score is not None:
            yield f"expected {model.score_title}{name}", score.text()
    if model.verdict is not None:
        yield "verdict", model.verdict.sentence
    if model.notices:
        yield "about the data", "; ".join(model.notices)
    if model.times:
        yield "time", model.times


def _params_words(model: FittedModel) -> str:
    params = [f"{name} = {printable_line(value_text(value), _LONGEST)}" for name, value in model.best_params.items()]
    more = f" and {len(params) - _MOST_PARAMETERS} more" if len(params) > _MOST_PARAMETERS else ""
    return ", ".join(params[:_MOST_PARAMETERS]) + more


def _convergence(study: StudyResults) -> str:
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


def trials_words(study: StudyResults) -> str:
    """Return how many trials have finished, and how many of them failed."""
    failed = sum(t.state in FAILED for t in suggested(study.trials))
    return finished_words(study.trials) + (f", {failed} failed" if failed else "")


def study_html(study: StudyResults) -> str:
    """Return two lines about a study, and a table of its ten best trials (or ten trials of its front), as HTML."""
    objectives = study.objectives
    trials = study.trials
    lead = f"Study of {', '.join(study.space.names)} by {study.about.get('search', '')}, seed {study.seed}"
    done = [t for t in trials if t.values is not None]
    if objectives.several:
        best = list(study.pareto()) if any(map(holds_bounds, done)) else []
        which = f"{len(best)} trials on the front of {', '.join(objectives.labels)}"
    else:
        sign = float(objectives.signs[0])
        done = [t for t in done if may_be_best(t)]
        best = sorted(done, key=lambda t: (sign * float(t.value or 0.0), t.number))
        which = f"the best of {len(done)}, {objectives.labels[0]}"
    named = objectives.names and not objectives.several
    names = study.space.names[:_MOST_PARAMETERS]
    columns = [
        "number",
        *(objectives.names if named else objectives.columns),
        *names,
        *(["..."] if len(names) < len(study.space.names) else []),
    ]
    rows = [[t.number, *(t.values or ()), *(t.params.get(name) for name in names)] for t in best[:_MOST_ROWS]]
    more = f" ({len(best) - len(rows)} more)" if len(best) > len(rows) else ""
    table = html_table([[cell_of(value)[0] for value in row] for row in rows], columns, which + more) if rows else ""
    return f"<div><p><b>{escaped_line(lead, 300)}</b><br>{escaped_line(trials_words(study))}</p>{table}</div>"

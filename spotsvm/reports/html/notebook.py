"""A study as HTML for notebooks: its settings, its progress, and its best trials."""

from __future__ import annotations

from spotsvm.common.facts import escaped_line, html_table
from spotsvm.reports.html.cells import cell_of
from spotsvm.trials.ledger import finished_words, suggested
from spotsvm.trials.recommendation import may_be_best
from spotsvm.trials.results import StudyResults
from spotsvm.trials.trial import FAILED, holds_bounds

_MOST_ROWS, _MOST_PARAMETERS = 10, 20


def notebook_html(study: StudyResults) -> str:
    """Return two lines about a study, and a table of its ten best trials (or ten trials of its front), as HTML."""
    objectives = study.objectives
    trials = study.trials
    failed = sum(t.state in FAILED for t in suggested(trials))
    lead = f"Study of {', '.join(study.space.names)} by {study.about.get('search', '')}, seed {study.seed}"
    count = finished_words(trials) + (f", {failed} failed" if failed else "")
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
    return f"<div><p><b>{escaped_line(lead, 300)}</b><br>{escaped_line(count)}</p>{table}</div>"

"""The summary that `spotsvm tune` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan
from textwrap import wrap

from spotsvm.common.text import duration, short_names
from spotsvm.luck.optimism import Optimism
from spotsvm.luck.verdict import Verdict
from spotsvm.trials.edges import edges_of
from spotsvm.trials.findings import ROWS, STOP, TIMEOUT
from spotsvm.trials.ledger import finished_counts
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.recommendation import summarise_failures
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.pipelines.registry import description
from spotsvm.tuning.results import HeldOutResult, comparison
from spotsvm.tuning.table_job import TableJob
from spotsvm.tuning.widening import OPEN

_WIDTH = 100
_ROUNDING = 1e-9
_TIED = "\u00a0"  # no-break space
_NAMES = 22  # width of the column of names


def summary(job: TableJob, results: Sequence[HeldOutResult], told: Sequence[str] = ()) -> str:
    """Return notices, the table of all models, and its explanation, as text of 100 columns; the last result is the tuned one.

    Notices among the lines that were `told` already are left out.
    """
    titles = {c.name: _title(c) for c in results}
    rows = [(titles.get(row["model"], row["note"]), row) for row in comparison(results).to_dict("records") if row["model"]]
    wide = max(_NAMES, *(len(name) for name, _ in rows))
    noticed = [f"notice: {notice.sentence}" for notice in results[-1].notices]
    lines = [line for one in noticed if one not in told for line in _wrapped(one)]
    searched = isinstance(job, TuningJob)
    heads = f"{'on the folds':>14}" * searched + f"{'out of fold':>13}  {'held-out rows':>20}{'new rows':>12}  {'fit':>9}"
    lines += ["", f"{ScoreUnit(job.metric).title:{wide}}{heads}"]
    for name, row in rows:
        error = "" if isnan(row["held_out_error"]) else f" +- {_places(row['held_out_error'])}"
        test = _places(row["held_out"]) + error
        fit = "" if isnan(row["seconds"]) else duration(row["seconds"])
        on_folds = f"{_places(row.get('on_folds', nan)):>14}" * searched
        lines.append(
            f"{name:{wide}}{on_folds}{_places(row['out_of_fold']):>13}  {test:>20}{_places(row['expected']):>12}  {fit:>9}"
        )
    for paragraph in _paragraphs(job, results):
        lines += ["", *_wrapped(paragraph)]
    return "\n".join(lines)


def _paragraphs(job: TableJob, results: Sequence[HeldOutResult]) -> Iterator[str]:
    """Yield the verdict, the score to expect on new rows, and sentences about the table's numbers, the model and the files."""
    verdict = results[-1].verdict
    if verdict is not None:
        yield verdict.sentence
        if verdict.expectation:
            yield verdict.expectation
        yield from verdict.warnings
    yield from _about_search(job, results) if isinstance(job, TuningJob) else _about_average(job, results)


def _about_average(job: TableJob, results: Sequence[HeldOutResult]) -> Iterator[str]:
    """Yield sentences about the scores of an average, the model, and the written files."""
    verdict, model, unit = results[-1].verdict, results[-1].estimator, ScoreUnit(job.metric)
    latest = "the latest rows, " if job.in_time else ""
    yield (
        f"{unit.title}: {unit.better}. Out of fold: training rows, scored with settings and weights chosen without these rows. "
        f"Held-out rows: the fit has not used them, {latest}+-{_TIED}the standard error. New rows: the score to expect, from "
        "both; each row counts the same."
    )
    shares = model.members_.groupby("family", sort=False)["weight"].sum().sort_values(ascending=False, kind="stable")
    listed = ", ".join(f"{name} {share:.2f}".replace(" ", _TIED) for name, share in shares.items())
    yield f"The tuned SVM is an average of {len(model.members_)} of {len(model.settings_)} settings; weights by kernel: {listed}."
    if not model.complete_:
        yield "The time limit ended the fit before all settings were scored or all members were fitted."
    keep = verdict is not None and verdict.recommended == "default"
    names = [name for name in ("class_weight", "threshold") if getattr(model, name, None) is not None]
    asked = [f"{name}={getattr(model, name)!r}" for name in names]
    default = f"the default SVM{' with ' if asked else ''}{' and '.join(asked)}"
    yield f"Recommended: {default if keep else repr(model)}"
    if job.out:
        yield (
            f"Written to {job.out}: report.html; model.skops, for spotsvm predict; parameters.json of the recommended SVM; "
            "comparison.csv; settings.csv with all settings and their weights."
        )
    else:
        yield "Use --out FOLDER to save the model, for spotsvm predict, and a page with pictures."


def _wrapped(paragraph: str) -> list[str]:
    """Return lines of 100 columns; a line break stays."""
    lines = [
        part for line in paragraph.splitlines() for part in wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
    ]
    return [line.replace(_TIED, " ") for line in lines]


def _places(value: float) -> str:
    """Return a number with four places, or as many digits as a large one needs."""
    return "" if isnan(value) else f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"


def _about_search(job: TuningJob, results: Sequence[HeldOutResult]) -> Iterator[str]:
    """Yield how much of the tuned score is luck, and sentences about the scores, the chosen parameters and the written files."""
    final = results[-1]
    verdict, unit = final.verdict, ScoreUnit(job.metric)
    if final.optimism is not None and _says_something(final.optimism):
        answer, *method = final.optimism.sentences(expect=False)
        yield f"How much of it is luck? {answer}"
        yield " ".join(method)
    latest = "the last quarter, " if job.is_series else "the latest rows, " if job.in_time else ""
    with_error = f"{latest}+- the standard error"
    yield (
        f"{unit.title}: {unit.better}. On the folds: mean over {job.n_folds} folds of the training rows, which the search has "
        f"optimised. Out of fold: training rows, scored with a choice among the candidates that was made without these rows. "
        f"Held-out rows: no search has used them, {with_error.replace(' ', _TIED)}. New rows: the score to expect, from both; "
        "each row counts the same."
    )
    if job.pipeline != "svm":
        yield f"Pipeline {job.pipeline}: {description(job.pipeline, job.table.task)}."
    for c in results:
        if c.search is not None and any(t.state in ("failed", "timeout") for t in c.search.study_.trials):
            yield f"Failed trials of {c.name}: {summarise_failures(c.search.study_.trials)}"
    if final.search is not None:
        findings = final.search.study_.findings
        for name in (STOP, TIMEOUT, ROWS):
            if name in findings:
                yield findings[name]["sentence"]
    if final.search is not None and verdict is not None:
        best = verdict.params
        # each name stays with its value
        chosen = (f"{name} = {best[full]:.4g}".replace(" ", _TIED) for full, name in short_names(best).items())
        yield f"Recommended: {_which(verdict, final)}{': ' if best else ''}{', '.join(chosen)}"
        edges = edges_of(best, final.search.study_.space)
        yield from map(str, edges)
        if job.out and any(edge.name.rpartition("__")[2] in OPEN for edge in edges):
            yield "The same command with --widen continues from these trials in the wider range."
    if job.out:
        model = "" if job.is_series else "model.skops, for spotsvm predict; "
        yield (
            f"Written to {job.out}: report.html; {model}parameters.json of the recommended SVM; comparison.csv; trials, "
            "fold scores, parameters and record of each search."
        )
    else:
        yield "Use --out FOLDER to save the trials, the parameters and a record that can be resumed."


def _which(verdict: Verdict, final: HeldOutResult) -> str:
    """Return the name of the recommended model."""
    if verdict.recommended == "default" or final.search is None:
        return "the default SVM"
    asked, values = finished_counts(final.search.study_.trials)
    sweeps = "" if asked == values else f", one of the {values} values in the sweeps of {asked} trials"
    return f"trial {verdict.number} of {final.name}{sweeps}"


def _says_something(estimate: Optimism) -> bool:
    """Return whether an estimate is informative: not the smallest that its method can give, nor 0 without an interval."""
    return estimate.optimism != 0 or (estimate.how != "folds" and estimate.interval[0] < estimate.interval[1])


def _title(c: HeldOutResult) -> str:
    return f"{c.name} SVM" if c.search is None else f"{c.name} ({c.search.study_.n_finished} trials)"

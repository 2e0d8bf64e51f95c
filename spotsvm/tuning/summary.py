"""The summary that `spotsvm tune` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from textwrap import wrap
from typing import Any

from spotsvm.common.text import duration, short_names
from spotsvm.luck.optimism import Optimism
from spotsvm.luck.verdict import CONSTANT, Verdict
from spotsvm.trials.edges import edges_of
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.trials.recommendation import ROWS, summarise_failures
from spotsvm.trials.sweep import finished_counts
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.pipelines.registry import description, is_series
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.tuned_job import TunedJob
from spotsvm.tuning.widening import OPEN

_WIDTH = 100
_ROUNDING = 1e-9
_TIED = "\u00a0"  # a space at which no line ends
_NAMES = 22  # width of the column of names


def tuning_summary(job: TuningJob, results: Sequence[HeldOutResult]) -> str:
    """Return notices, final table and interpretation, as text of 100 columns; the last result is that of the requested search."""
    final = results[-1]
    unit = ScoreUnit(job.metric)
    rivals = () if final.verdict is None else final.verdict.rivals
    rows = [(rival.name, rival.score, rival.held_out, rival.error) for rival in rivals if rival.code == CONSTANT]
    rows += [(_title(c), c.tuned_score, c.test_score, c.test_error) for c in results]
    wide = max(_NAMES, *(len(row[0]) for row in rows))
    lines = [line for notice in final.notices for line in _wrapped(f"notice: {notice.sentence}")]
    lines += ["", f"{unit.title:{wide}}{'on the folds':>14}  {'held-out rows':>20}"]
    for name, score, held_out, error in rows:
        test = f"{_places(unit.value(held_out))} +- {_places(error)}"
        lines.append(f"{name:{wide}}{_places(unit.value(score)):>14}  {test:>20}")
    for paragraph in _paragraphs(job, results):
        lines += ["", *_wrapped(paragraph)]
    return "\n".join(lines)


def average_summary(job: TunedJob, results: Sequence[HeldOutResult]) -> str:
    """Return notices, the table of all models, and what it means, as text of 100 columns."""
    default, tuned = results
    verdict, model, unit = tuned.verdict, tuned.estimator, ScoreUnit(job.metric)
    assert verdict is not None
    of = [(rival.name, rival.score, rival.held_out, rival.error, rival.seconds) for rival in verdict.rivals]
    svms = [
        (f"{name} SVM", one.tuned_score, one.test_score, one.test_error, one.seconds)
        for name, one in (("default", default), ("tuned", tuned))
    ]
    rows = [*of[:1], *svms, *of[1:]]
    wide = max(_NAMES, *(len(row[0]) for row in rows))
    lines = [line for notice in tuned.notices for line in _wrapped(f"notice: {notice.sentence}")]
    lines += ["", f"{unit.title:{wide}}{'out of fold':>14}  {'held-out rows':>20}  {'fit':>9}"]
    for name, score, held_out, error, took in rows:
        test = f"{_places(unit.value(held_out))} +- {_places(error)}"
        lines.append(f"{name:{wide}}{_places(unit.value(score)):>14}  {test:>20}  {duration(took):>9}")
    for paragraph in _about_average(job, verdict, model):
        lines += ["", *_wrapped(paragraph)]
    return "\n".join(lines)


def _about_average(job: TunedJob, verdict: Verdict, model: Any) -> Iterator[str]:
    """Yield the verdict, the score to expect on new rows, and what the model is."""
    unit = ScoreUnit(job.metric)
    yield verdict.sentence
    if verdict.expectation:
        yield verdict.expectation
    yield from verdict.warnings
    latest = "the latest rows, " if job.in_time else ""
    yield (
        f"{unit.title}: {unit.better}. Out of fold: training rows, judged by settings and weights that were found without them. "
        f"Held-out rows: the fit has not used them, {latest}+-{_TIED}its standard error."
    )
    shares = model.members_.groupby("family", sort=False)["weight"].sum().sort_values(ascending=False, kind="stable")
    listed = ", ".join(f"{name} {share:.2f}".replace(" ", _TIED) for name, share in shares.items())
    yield f"The tuned SVM is an average of {len(model.members_)} of {len(model.settings_)} settings; weights by kernel: {listed}."
    if not model.complete_:
        yield "The time limit ended the fit before all settings were scored, or all members were fitted."
    shown = "the default SVM" if verdict.recommended == "default" else repr(model)
    yield f"Recommended: {shown}"
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


def _paragraphs(job: TuningJob, results: Sequence[HeldOutResult]) -> Iterator[str]:
    """Yield the verdict, the score to expect on new rows, how much of the tuned score is luck, and further remarks."""
    final = results[-1]
    verdict, unit = final.verdict, ScoreUnit(job.metric)
    if verdict is not None:
        yield verdict.sentence
        if verdict.expectation:
            yield verdict.expectation
        yield from verdict.warnings
    if final.optimism is not None and _says_something(final.optimism):
        answer, *method = final.optimism.sentences(expect=False)
        yield f"How much of it is luck? {answer}"
        yield " ".join(method)
    latest = "the last quarter, " if is_series(job.pipeline) else "the latest rows, " if job.in_time else ""
    with_error = f"{latest}+- its standard error"
    yield (
        f"{unit.title}: {unit.better}. On the folds: mean over {job.cv} folds of the training rows, which the search has "
        f"optimised. Held-out rows: no search has used them, {with_error.replace(' ', _TIED)}."
    )
    if job.pipeline != "svm":
        yield f"Pipeline {job.pipeline}: {description(job.pipeline, job.table.task)}."
    for c in results:
        if c.search is not None and any(t.state in ("failed", "timeout") for t in c.search.study_.trials):
            yield f"Failed trials of {c.name}: {summarise_failures(c.search.study_.trials)}"
    if final.search is not None:
        findings = final.search.study_.findings
        for name in ("stop", "timeout", ROWS):
            if name in findings:
                yield findings[name]["sentence"]
    if verdict is not None:
        yield from _rivals(verdict, results, unit)
    if final.search is not None and verdict is not None:
        best = verdict.params
        # each name stays with its value
        chosen = (f"{name} = {v:.4g}".replace(" ", _TIED) for name, v in zip(short_names(list(best)), best.values(), strict=True))
        yield f"Recommended: {_which(verdict, final)}{': ' if best else ''}{', '.join(chosen)}"
        edges = edges_of(best, final.search.study_.space)
        yield from map(str, edges)
        if job.out and any(edge.name.rpartition("__")[2] in OPEN for edge in edges):
            yield "The same command with --widen goes on from these trials in the wider range."
    if job.out:
        model = "" if is_series(job.pipeline) else "model.skops, for spotsvm predict; "
        yield (
            f"Written to {job.out}: report.html; {model}parameters.json of the recommended SVM; comparison.csv; trials, "
            "fold scores, parameters and record of each search."
        )
    else:
        yield "Use --out FOLDER to save the trials, the parameters and a record that can be resumed."


def _rivals(verdict: Verdict, results: Sequence[HeldOutResult], unit: ScoreUnit) -> Iterator[str]:
    """Yield a line for each other model and one for the recommended SVM: score on the held-out rows, and seconds of the fit."""
    if len(verdict.rivals) < 2:  # the constant is in the table
        return
    mine = results[0 if verdict.recommended == "default" else -1]
    rows = [(rival.name, rival.held_out, rival.error, rival.seconds) for rival in verdict.rivals]
    rows.append((f"the {verdict.recommended} SVM", verdict.held_out, verdict.held_out_error, mine.seconds))
    lines = [f"  {name}: {_places(unit.value(score))} +- {_places(error)}, {duration(took)}" for name, score, error, took in rows]
    yield "\n".join([f"{unit.title} of other models on the same held-out rows, and the time of a fit:", *lines])


def _which(verdict: Verdict, final: HeldOutResult) -> str:
    """Return which machine is recommended."""
    if verdict.recommended == "default" or final.search is None:
        return "the default SVM"
    asked, values = finished_counts(final.search.study_.trials)
    sweeps = "" if asked == values else f", one of the {values} values in the sweeps of {asked} trials"
    return f"trial {verdict.number} of {final.name}{sweeps}"


def _says_something(found: Optimism) -> bool:
    """Return whether an estimate is neither the least that its method can give nor 0 without an interval."""
    return found.optimism != 0 or (found.how != "folds" and found.interval[0] < found.interval[1])


def _title(c: HeldOutResult) -> str:
    return "default SVM" if c.search is None else f"{c.name} ({c.search.study_.n_finished} trials)"

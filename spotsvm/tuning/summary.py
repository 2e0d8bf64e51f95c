"""The summary that `spotsvm tune` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite, isnan
from textwrap import wrap

from spotsvm.common.text import short_names
from spotsvm.trials.edges import edges_of
from spotsvm.trials.profile import finished_counts
from spotsvm.trials.recommendation import CONFIRM, ROWS, may_be_best, summarise_failures
from spotsvm.trials.scores.optimism import Method, Optimism
from spotsvm.trials.scores.verdict import Verdict
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.pipelines.registry import description, is_series
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.widening import OPEN

_WIDTH = 100
_ROUNDING = 1e-9
_TIED = "\u00a0"  # a space at which no line ends
_UNITS = {"neg_root_mean_squared_error": "negative root mean squared error"}

#: the method, and what it does not cover; the report has more detail
_METHODS: dict[Method, tuple[str, str]] = {
    "folds": (
        "estimated from the scores of all {n_trials} configurations in each fold (Tibshirani and Tibshirani 2009), without "
        "further fits",
        "This is a rough estimate and never below 0; its interval comes from the spread of the folds. --oversearching nested is "
        "more reliable, and takes the time of about five searches.",
    ),
    "partitions": (
        "the search itself scored its winner on {rows} random partitions that had no part in the choice, without further fits",
        "This covers the luck of the splits, not that of the rows; --oversearching nested covers both.",
    ),
    "repeats": (
        "the winner and the runners-up, {rows} in total, were scored again on fresh splits",
        "This covers the luck of the splits, not that of the rows; --oversearching nested covers both.",
    ),
    "nested": (
        "the whole search was repeated {rows} times, each time without some of the rows, on which its winner was then scored",
        "This covers the whole search, for similar data.",
    ),
}


def tuning_summary(job: TuningJob, results: Sequence[HeldOutResult]) -> str:
    """Return the final table and its interpretation, as text of 100 columns; the last result is that of the requested search."""
    lines = ["", f"{'':22}{'tuned score':>12}  {'test score':>18}  {'gap':>9}"]
    for c in results:
        test = f"{c.test_score:.4f} +- {c.test_error:.4f}"
        lines.append(f"{_title(c):22}{c.tuned_score:12.4f}  {test:>18}  {c.gap:+9.4f}")
    for paragraph in _paragraphs(job, results):
        wrapped = wrap(paragraph, _WIDTH, break_long_words=False, break_on_hyphens=False)
        lines += ["", *(line.replace(_TIED, " ") for line in wrapped)]
    return "\n".join(lines)


def _paragraphs(job: TuningJob, results: Sequence[HeldOutResult]) -> Iterator[str]:
    """Yield the verdict, the score to expect on new data, how much of the tuned score is luck, and further remarks."""
    final = results[-1]
    verdict = final.verdict
    if verdict is not None:
        yield verdict.sentence
        if isfinite(verdict.expected):
            yield _expected(verdict)
        yield from verdict.warnings
    yield from _higher(final)
    if final.optimism is not None:
        yield _luck(final.optimism)
        yield _method(final.optimism)
    with_error = ("the last quarter, " if is_series(job.pipeline) else "") + "+- its standard error"
    yield (
        f"Score: {_UNITS.get(job.metric, job.metric)}; larger is better. Tuned score: mean over {job.cv} folds of the training "
        "rows, which the search has optimised. Test score: on held-out rows, which no search has used, "
        f"{with_error.replace(' ', _TIED)}. Gap: tuned score minus test score."
    )
    if job.pipeline != "table":
        yield f"Pipeline {job.pipeline}: {description(job.pipeline, job.table.task)}."
    for c in results:
        if c.search is not None and any(t.state in ("failed", "timeout") for t in c.search.study_.trials):
            yield f"Failed trials of {c.name}: {summarise_failures(c.search.study_.trials)}"
    if final.search is not None:
        findings = final.search.study_.findings
        for name in ("stop", "timeout", ROWS):
            if name in findings:
                yield findings[name]["sentence"]
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


def _which(verdict: Verdict, final: HeldOutResult) -> str:
    """Return which machine is recommended."""
    if verdict.recommended == "default" or final.search is None:
        return "the default SVM"
    asked, values = finished_counts(final.search.study_.trials)
    paths = "" if asked == values else f", one of the {values} values on the paths of {asked} trials"
    return f"trial {verdict.number} of {final.name}{paths}"


def _higher(final: HeldOutResult) -> Iterator[str]:
    """Yield why a trial with a higher score on the folds, which the progress has told, was not chosen."""
    if final.search is None or final.verdict is None or final.verdict.instead_of:
        return
    study = final.search.study_
    scores = [(t.value, -t.number) for t in study.trials if may_be_best(t) and t.value is not None]
    if not scores or max(scores)[0] <= final.tuned_score + _ROUNDING:
        return
    best, place = max(scores)
    confirmed = "contenders" in study.findings.get(CONFIRM, {})
    by = "also by further partitions of the rows" if confirmed else "by the criterion of the search"
    yield (
        f"The highest score on the folds, {best:.4g} of trial {-place}, is the best of many and so partly luck: what "
        f"to compare with the default was chosen {by}."
    )


def _expected(verdict: Verdict) -> str:
    """Return the score of the recommended machine to expect on new data."""
    sure = "" if isnan(verdict.expected_interval[0]) else f" (95 % interval {_range(verdict.expected_interval)})"
    which = "the default SVM" if verdict.recommended == "default" else "the tuned SVM"
    return f"Expect a score of {verdict.expected:.4g} on new data from {which}{sure}."


def _luck(found: Optimism) -> str:
    """Return by how much the tuned score exceeds the one to expect."""
    tuned = "mean tuned score of the repeated searches" if found.method == "nested" else "tuned score of what the search chose"
    # the estimate from fold scores is never below 0, whatever the interval
    by = "" if found.method == "folds" or isnan(found.interval[0]) else f" ({_range(found.interval)})"
    excess = f"is too high by {found.optimism:.2g}{by}" if found.optimism > 0 else f"is not too high: {found.optimism:.2g}{by}"
    return f"How much of it is luck? The {tuned}, {found.tuned_score:.4g}, {excess}."


def _method(found: Optimism) -> str:
    """Return the method, and what it does not cover."""
    how, limits = _METHODS[found.method]
    # the note on the fold scores is about their interval, as the limits are
    notes = () if found.method == "folds" else found.notes
    return " ".join([f"Method {found.method}: {how.format(rows=len(found.rows), n_trials=found.n_trials)}.", *notes, limits])


def _range(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.4g} to {interval[1]:.4g}"


def _title(c: HeldOutResult) -> str:
    return "default SVM" if c.search is None else f"{c.name} ({c.search.study_.n_finished} trials)"

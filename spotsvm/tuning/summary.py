"""The summary that `spotsvm tune` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from textwrap import wrap

from spotsvm.trials.edges import edges_of
from spotsvm.trials.recommendation import summarise_failures
from spotsvm.trials.scores.optimism import Method, Optimism
from spotsvm.tuning.job import TuningJob
from spotsvm.tuning.pipelines.registry import description, is_series
from spotsvm.tuning.results import HeldOutResult
from spotsvm.tuning.widening import OPEN

_WIDTH = 100
_TIED = "\u00a0"  # a space at which no line ends
_UNITS = {"neg_root_mean_squared_error": "negative root mean squared error"}

#: the method, and what it does not cover; the report has more detail
_METHODS: dict[Method, tuple[str, str]] = {
    "folds": (
        "estimated from the scores of all {n_trials} trials in each fold (Tibshirani and Tibshirani 2009), without further fits",
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
    """Yield the score to expect on new data, the method behind it, and further remarks."""
    final = results[-1]
    if final.optimism is None:
        yield _verdict(final)
    else:
        yield f"{_luck(final.optimism)} {_verdict(final)}"
        yield _method(final.optimism)
    if final.search is not None and results[0].tuned_score >= final.tuned_score:
        yield f"No candidate of {final.name} has a better tuned score than the default SVM: keep the defaults."
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
        for name in ("stop", "timeout", "judgement"):
            if name in findings:
                yield findings[name]["sentence"]
        best = final.search.best_params_
        # each name stays with its value
        chosen = (f"{name} = {v:.4g}".replace(" ", _TIED) for name, v in zip(short_names(list(best)), best.values(), strict=True))
        yield f"Chosen by {final.name}: {', '.join(chosen)}"
        edges = edges_of(best, final.search.study_.space)
        yield from map(str, edges)
        if job.out and any(edge.name.rpartition("__")[2] in OPEN for edge in edges):
            yield "The same command with --widen goes on from these trials in the wider range."
    if job.out:
        yield f"Written to {job.out}: report.html; comparison.csv; trials, fold scores, parameters and record of each search."
    else:
        yield "Use --out FOLDER to save the trials, the parameters and a record that can be resumed."


def _luck(found: Optimism) -> str:
    """Return the score to expect on new data, and by how much the tuned score exceeds it."""
    sure = "" if isnan(found.outer_interval[0]) else f" ({100 * found.confidence:g} % interval {_range(found.outer_interval)})"
    tuned = "mean tuned score of the repeated searches" if found.method == "nested" else "tuned score"
    # the estimate from fold scores is never below 0, whatever the interval
    by = "" if found.method == "folds" or isnan(found.interval[0]) else f" ({_range(found.interval)})"
    excess = f"is too high by {found.optimism:.2g}{by}" if found.optimism > 0 else f"is not too high: {found.optimism:.2g}{by}"
    return (
        f"How much of it is luck? Expect a score of {found.outer_score:.4g} on new data{sure}. "
        f"The {tuned}, {found.tuned_score:.4g}, {excess}."
    )


def _method(found: Optimism) -> str:
    """Return the method, and what it does not cover."""
    how, limits = _METHODS[found.method]
    # the note on the fold scores is about their interval, as the limits are
    notes = () if found.method == "folds" else found.notes
    return " ".join([f"Method {found.method}: {how.format(rows=len(found.rows), n_trials=found.n_trials)}.", *notes, limits])


def _range(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.4g} to {interval[1]:.4g}"


def short_names(names: Sequence[str]) -> list[str]:
    """Return the shortest unique endings of parameter names; a class label keeps the parameter it belongs to.

    Examples
    --------
    >>> short_names(["svc__C", "rain1__leaky__decays", "rain2__leaky__decays", "vote__cutoff__3"])
    ['C', 'rain1__leaky__decays', 'rain2__leaky__decays', 'cutoff__3']
    """
    short = []
    for name in names:
        parts = name.split("__")
        for first in range(len(parts) - 1, -1, -1):
            tail = "__".join(parts[first:])
            of_a_class = first > 0 and parts[first - 1] in ("class_weight", "cutoff")
            if not of_a_class and sum(f"__{other}".endswith(f"__{tail}") for other in names) == 1:
                break
        short.append(tail)
    return short


def _title(c: HeldOutResult) -> str:
    return "default SVM" if c.search is None else f"{c.name} ({c.search.study_.n_finished} trials)"


def _verdict(c: HeldOutResult) -> str:
    """Return what the gap means in words."""
    if isnan(c.gap) or isnan(c.test_error):
        return f"The held-out rows are too few to judge the tuned score of {c.name}."
    if c.gap <= 0:
        return f"On the held-out rows {c.name} reaches its tuned score."
    size = "within" if c.gap <= 2 * c.test_error else "more than"
    return f"On the held-out rows {c.name} scores {c.gap:.4f} less than its tuned score, {size} two standard errors."

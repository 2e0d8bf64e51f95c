"""The summary that `spotsvm tune` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan, nan
from textwrap import wrap

from spotsvm.common.text import duration
from spotsvm.luck.explanation import Explanation
from spotsvm.tuning.job import Job
from spotsvm.tuning.results import HeldOutResult, comparison

#: a space that holds two words on one line
TIED = "\u00a0"
_WIDTH = 100
_STRONGEST = 5
_NAMES = 22  # width of the column of names


def summary(job: Job, results: Sequence[HeldOutResult], told: Sequence[str] = ()) -> str:
    """Return notices, the table of all models, and its explanation, as text of 100 columns; the last result is the tuned one.

    Notices among the lines that were `told` already are left out.
    """
    titles = {c.name: _title(c) for c in results}
    rows = [(titles.get(row["model"], row["note"]), row) for row in comparison(results).to_dict("records") if row["model"]]
    wide = max(_NAMES, *(len(name) for name, _ in rows))
    noticed = [f"notice: {notice.sentence}" for notice in results[-1].notices]
    lines = [line for one in noticed if one not in told for line in _wrapped(one)]
    searched = job.model.by == "search"
    heads = f"{'on the folds':>14}" * searched + f"{'out of fold':>13}  {'held-out rows':>20}{'new rows':>12}  {'fit':>9}"
    lines += ["", f"{job.unit.title:{wide}}{heads}"]
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


def _paragraphs(job: Job, results: Sequence[HeldOutResult]) -> Iterator[str]:
    """Yield the verdict, the score to expect on new rows, and sentences about the table's numbers, the model and the files."""
    verdict = results[-1].verdict
    if verdict is not None:
        yield verdict.sentence
        if verdict.expectation:
            yield verdict.expectation
        yield from verdict.warnings
    if job.explain and isinstance(found := results[-1].explanation, Explanation):
        strongest = [
            f"{row.column} {row.importance:.2g}".replace(" ", TIED) for row in found.importance.head(_STRONGEST).itertuples()
        ]
        if strongest:
            yield f"Columns that matter most, by how much {found.scoring} falls if one is permuted: {', '.join(strongest)}."
        yield found.sentence
    yield from job.model.sentences(job, results)


def _wrapped(paragraph: str) -> list[str]:
    """Return lines of 100 columns; a line break stays."""
    lines = [
        part for line in paragraph.splitlines() for part in wrap(line, _WIDTH, break_long_words=False, break_on_hyphens=False)
    ]
    return [line.replace(TIED, " ") for line in lines]


def _places(value: float) -> str:
    """Return a number with four places, or as many digits as a large one needs."""
    return "" if isnan(value) else f"{value:.4f}" if abs(value) < 1000 else f"{value:.6g}"


def _title(c: HeldOutResult) -> str:
    return f"{c.name} SVM" if c.search is None else f"{c.name} ({c.search.study_.n_finished} trials)"

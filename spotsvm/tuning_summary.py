"""What `spotsvm tune` says in the end."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from spotsvm.recommendation import summarise_failures
from spotsvm.tuning_job import Contestant, TuningJob

_UNITS = {"neg_root_mean_squared_error": "negative root mean squared error"}


def tuning_summary(job: TuningJob, contestants: Sequence[Contestant]) -> str:
    """Give the closing table, and what to make of it, as text.

    Parameters
    ----------
    job : TuningJob
        What was run.
    contestants : sequence of Contestant
        What came of it; the last one is the search that was asked for.
    """
    lines = ["", f"{'':22}{'tuned score':>12}  {'test score':>18}  {'gap':>9}"]
    for c in contestants:
        test = f"{c.test_score:.4f} +- {c.test_error:.4f}"
        lines.append(f"{_title(c):22}{c.tuned_score:12.4f}  {test:>18}  {c.gap:+9.4f}")
    final = contestants[-1]
    lines += [
        "",
        f"Score: {_UNITS.get(job.metric, job.metric)}; larger is better. Tuned score: mean over {job.cv} folds of the",
        "training rows, the very number that was searched for. Test score: on rows that no search has seen,",
        f"+- its standard error. {_verdict(final)}",
    ]
    for c in contestants:
        if c.search is not None and any(t.state in ("failed", "timeout") for t in c.search.study_.trials):
            lines += ["", f"Failed trials of {c.name}: {summarise_failures(c.search.study_.trials)}"]
    if final.search is not None:
        chosen = ", ".join(f"{k.split('__')[-1]} = {v:.4g}" for k, v in final.search.best_params_.items())
        lines += ["", f"Chosen by {final.name}: {chosen}"]
    where = f"Written to {job.out}: comparison.csv; of each search its trials, parameters and record." if job.out else ""
    return "\n".join([*lines, where or "Use --out FOLDER to keep the trials, the parameters and a record that can be resumed."])


def _title(c: Contestant) -> str:
    return "default SVM" if c.search is None else f"{c.name} ({c.search.study_.n_finished} trials)"


def _verdict(c: Contestant) -> str:
    """Say in words what the gap means."""
    if isnan(c.gap) or isnan(c.test_error):
        return f"The new rows are too few to judge the tuned score of {c.name}."
    if c.gap <= 0:
        return f"The tuned score of {c.name} was reached on new rows too."
    size = "within" if c.gap <= 2 * c.test_error else "more than"
    return f"Of the tuned score of {c.name}, {c.gap:.4f} was not there on new rows: {size} two standard errors of the test score."

"""The results of a tuning: scores on held-out rows, and the files with comparison, trials, parameters and report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from spotsvm.common.csv_files import write_csv
from spotsvm.common.notices import Notice
from spotsvm.errors import StorageError
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.explanation import Explanation, NotExplained
from spotsvm.luck.optimism import Optimism
from spotsvm.luck.verdict import Rival, Verdict
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.predict import predicted
from spotsvm.tuning.results_folder import ResultsFolder, cannot_write
from spotsvm.tuning.saved import MODEL, PARAMETERS, load_model, machine_parameters, save_model

_COLUMNS = [
    "model", "metric", "better", "on_folds", "out_of_fold", "held_out", "held_out_error", "expected", "expected_low",
    "expected_high", "difference", "low", "high", "seconds", "note",
]  # fmt: skip
_EXPECTED = "expected_low", "expected_high"


@dataclass(frozen=True)
class HeldOutResult:
    """A model that was fitted to the training rows, and its scores."""

    name: str
    estimator: BaseEstimator
    held_out: float = float("nan")  # score on the held-out rows
    error: float = float("nan")  # its standard error
    out_of_fold: float = float("nan")  # score on the training rows, each judged by models that had not seen it
    on_folds: float = float("nan")  # mean score over the folds, which a search has optimised
    search: SpotSearchCV | None = None
    optimism: Optimism | None = None
    verdict: Verdict | None = None
    explanation: Explanation | NotExplained | None = None  # of the last result
    code: str = ""  # Python code that repeats it
    seconds: float = float("nan")  # time of the fit
    instead: Any = None  # a fitted rival that is recommended in place of the SVMs; only of the last result
    notices: tuple[Notice, ...] = ()  # what to know before trusting the scores; only the last result has notices


def comparison(results: Sequence[HeldOutResult]) -> pd.DataFrame:
    """Return a frame with a row for each model, and a row for each notice, with its text in the column `note`.

    Errors are positive (`better` says which way). `on_folds` was optimised by the search, so is biased; `out_of_fold` and
    `held_out` were not seen; `expected` pools both. `difference` is the recommended model's score less this one's.
    """
    final = results[-1]
    verdict = final.verdict
    unit = ScoreUnit("score" if verdict is None else verdict.metric)

    def row(model: str, one: HeldOutResult | Rival, note: str) -> dict[str, Any]:
        scores = {name: unit.value(getattr(one, name)) for name in ("on_folds", "out_of_fold", "held_out")}
        return {"model": model, **scores, "held_out_error": one.error, "seconds": one.seconds, "note": note}

    def of_rival(r: Rival) -> dict[str, Any]:
        found = row(r.code, r, r.name) | {"expected": unit.value(r.expected)}
        if verdict is not None and verdict.of_rival is not None and r.code == verdict.rival:
            found |= {"note": f"{r.name} (recommended)"} | _interval(unit, verdict.of_rival, "expected", *_EXPECTED)
        return found | _interval(unit, r.difference, "difference", "low", "high")

    rows = [of_rival(r) for r in (() if verdict is None else verdict.rivals)]
    by_svm = verdict is not None and not verdict.rival
    notes = ["recommended" if by_svm and c is _recommended(results) else "" for c in results]
    tuned = [row(c.name, c, note) for c, note in zip(results, notes, strict=True)]
    if verdict is not None:
        for place, expected in ((0, verdict.default), (-1, verdict.tuned)):
            tuned[place] |= _interval(unit, expected, "expected", *_EXPECTED)
        keep = verdict.recommended == "default"
        if verdict.over_svm is not None:
            tuned[0 if keep else -1] |= _interval(unit, verdict.over_svm, "difference", "low", "high")
        elif verdict.compares:
            other = tuned[-1 if keep else 0]
            other |= _interval(unit, verdict.gain.turned() if keep else verdict.gain, "difference", "low", "high")
    noticed = [{"model": "", "note": f"notice: {notice.sentence}"} for notice in final.notices]
    frame = pd.DataFrame([*rows[:1], *tuned, *rows[1:], *noticed])
    frame = frame.assign(metric=unit.title, better=unit.better).reindex(columns=_COLUMNS)
    return frame.drop(columns="on_folds") if frame["on_folds"].isna().all() else frame


def _interval(unit: ScoreUnit, estimate: Estimate, value: str, low: str, high: str) -> dict[str, float]:
    return {value: unit.value(estimate.value), **dict(zip((low, high), unit.interval(estimate.interval), strict=True))}


def _recommended(results: Sequence[HeldOutResult]) -> HeldOutResult:
    keep = results[-1].verdict is not None and results[-1].verdict.recommended == "default"
    return results[0 if keep else -1]


def recommended(results: Sequence[HeldOutResult]) -> Any:
    """Return the recommended fitted model: a rival, or that of the default (the first result) or of the last result."""
    return _recommended(results).estimator if results[-1].instead is None else results[-1].instead


def write_results(job: Any, results: Sequence[HeldOutResult], folder: ResultsFolder) -> None:
    """Write comparison.csv, report.html, parameters.json of the recommended model, and the files of the kind of model.

    Rows without a target get predictions, but not of a series, whose predictions depend on earlier rows.
    """
    try:
        _write_files(job, results, folder.new)
        folder.publish()
    except (OSError, StorageError) as error:
        raise cannot_write(folder.path, error) from error


def _write_files(job: Any, results: Sequence[HeldOutResult], out: Path) -> None:
    use, table = recommended(results), job.table
    write_csv(comparison(results), out / "comparison.csv", "comparison")
    job.model.write_files(results, out)
    job.write_page(results, out / "report.html")
    (out / PARAMETERS).write_text(json.dumps(machine_parameters(use), indent=2) + "\n")
    if job.is_series:
        return
    save_model(out / MODEL, use, table, job.metric, job.test)
    if table.columns is not None:
        write_csv(table.columns, out / "columns.csv", "columns")
    if table.unlabelled is not None:
        write_csv(predicted(load_model(out / MODEL), table.unlabelled), out / "predictions.csv", "predictions")

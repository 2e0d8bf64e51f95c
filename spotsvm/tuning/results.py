"""The results of a tuning: scores on held-out rows, and the files with comparison, trials, parameters and report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import BaseEstimator

from spotsvm.common.csv_files import write_csv
from spotsvm.common.notices import Notice
from spotsvm.errors import StorageError
from spotsvm.luck.difference import Difference
from spotsvm.luck.optimism import Optimism
from spotsvm.luck.verdict import Verdict
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.metrics import ScoreUnit
from spotsvm.tuning.predict import predicted
from spotsvm.tuning.results_folder import ResultsFolder, cannot_write
from spotsvm.tuning.saved import MODEL, PARAMETERS, load_model, machine_parameters, save_model

_COLUMNS = ["model", "metric", "better", "on_folds", "held_out", "held_out_error", "difference", "low", "high", "seconds", "note"]


@dataclass(frozen=True)
class HeldOutResult:
    """The score on the folds and the held-out score of the default model, of a search or of an average."""

    name: str
    tuned_score: float  # mean over the folds of the training rows
    test_score: float
    test_error: float  # bootstrap standard error
    estimator: BaseEstimator  # fitted on all training rows
    search: SpotSearchCV | None = None
    optimism: Optimism | None = None
    verdict: Verdict | None = None
    code: str = ""  # Python code that repeats it
    seconds: float = float("nan")  # time of the fit
    notices: tuple[Notice, ...] = ()  # what to know before trusting the scores; only the last result has notices


def comparison(results: Sequence[HeldOutResult]) -> pd.DataFrame:
    """Return a frame with a row for each model, and a row for each notice, with its text in the column `note`.

    Scores are in the unit of the metric, and errors are positive: `better` says whether larger or smaller is better. `on_folds`
    is the mean over the folds of the training rows, which a search has optimised. `held_out` is the score on rows that no fit and
    no choice has used, with its standard error. `difference` is the recommended model's score less this model's on rows that
    neither has seen, with its 95 % interval from `low` to `high`. `seconds` is the time of a fit.

    Examples
    --------
    >>> frame = comparison([HeldOutResult("default", -2.0, -2.5, 0.1, None)])
    >>> frame[["model", "on_folds", "held_out"]].to_dict("records")
    [{'model': 'default', 'on_folds': -2.0, 'held_out': -2.5}]
    """
    final = results[-1]
    verdict = final.verdict
    unit = ScoreUnit("score" if verdict is None else verdict.metric)

    def row(model: str, score: float, held_out: float, error: float, seconds: float, note: str) -> dict[str, Any]:
        cells = {"model": model, "on_folds": unit.value(score), "held_out": unit.value(held_out), "held_out_error": error}
        return cells | {"seconds": seconds, "note": note}

    rivals = () if verdict is None else verdict.rivals
    rows = [row(r.code, r.score, r.held_out, r.error, r.seconds, r.name) | _difference(unit, r.difference) for r in rivals]
    notes = ["recommended" if verdict is not None and c is _recommended(results) else "" for c in results]
    tuned = [
        row(c.name, c.tuned_score, c.test_score, c.test_error, c.seconds, note) for c, note in zip(results, notes, strict=True)
    ]
    if verdict is not None and verdict.compares:
        keep = verdict.recommended == "default"
        tuned[-1 if keep else 0] |= _difference(unit, verdict.difference.turned() if keep else verdict.difference)
    noticed = [{"model": "", "note": f"notice: {notice.sentence}"} for notice in final.notices]
    frame = pd.DataFrame([*rows[:1], *tuned, *rows[1:], *noticed])
    return frame.assign(metric=unit.title, better=unit.better).reindex(columns=_COLUMNS)


def _difference(unit: ScoreUnit, difference: Difference) -> dict[str, float]:
    low, high = unit.interval(difference.interval)
    return {"difference": unit.value(difference.value), "low": low, "high": high}


def _recommended(results: Sequence[HeldOutResult]) -> HeldOutResult:
    keep = results[-1].verdict is not None and results[-1].verdict.recommended == "default"
    return results[0 if keep else -1]


def recommended(results: Sequence[HeldOutResult]) -> Any:
    """Return the recommended fitted estimator: that of the default (the first result) or of the last result, by its verdict."""
    return _recommended(results).estimator


def write_results(job: Any, results: Sequence[HeldOutResult], folder: ResultsFolder) -> None:
    """Write comparison.csv, report.html, parameters.json of the recommended model, and the files of its kind of tuning.

    A search adds its trials, fold scores and parameters, an average adds settings.csv. There are also the fitted pipeline,
    columns.csv with the treatment of each column, and the predictions of rows without a target, but not for a series, as its
    predictions depend on earlier rows.
    """
    try:
        _write_files(job, results, folder.new)
        folder.publish()
    except (OSError, StorageError) as error:
        raise cannot_write(folder.path, error) from error


def _write_files(job: Any, results: Sequence[HeldOutResult], out: Path) -> None:
    final, use, table = results[-1], recommended(results), job.table
    write_csv(comparison(results), out / "comparison.csv", "comparison")
    for c in results:
        if c.search is not None:
            c.search.study_.to_csv(out / f"{c.name}_trials.csv")
            c.search.study_.folds_to_csv(out / f"{c.name}_folds.csv")
            _write_json(_plain(c.estimator.get_params(deep=True)), out / f"{c.name}_parameters.json")
    if final.search is None:
        write_csv(final.estimator.settings_, out / "settings.csv", "settings")
    job.write_page(results, out / "report.html")
    _write_json(machine_parameters(use), out / PARAMETERS)
    if job.is_series:
        return
    save_model(out / MODEL, use, table, job.metric, job.test)
    if table.columns is not None:
        write_csv(table.columns, out / "columns.csv", "columns")
    if table.unlabelled is not None:
        write_csv(predicted(load_model(out / MODEL), table.unlabelled), out / "predictions.csv", "predictions")


def _write_json(content: dict[str, Any], file: Path) -> None:
    file.write_text(json.dumps(content, indent=2) + "\n")


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON types; estimators become their repr."""
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in sorted(params.items())}

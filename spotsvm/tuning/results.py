"""The results of a tuning: scores on held-out rows, and the files with comparison, trials, parameters and report."""

from __future__ import annotations

import json
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from spotsvm.common.csv_files import write_csv
from spotsvm.common.errors import StorageError
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.trials.scores.optimism import Optimism
from spotsvm.trials.scores.verdict import Verdict
from spotsvm.tuning.predict import predicted
from spotsvm.tuning.saved import MODEL, PARAMETERS, load_model, machine_parameters, save_model
from spotsvm.tuning.tables.notice import Notice
from spotsvm.tuning.tables.table import Table


def comparison(results: list[HeldOutResult]) -> pd.DataFrame:
    """Return a frame with one row per result: name, tuned_score, test_score, test_error, gap."""
    rows = [(c.name, c.tuned_score, c.test_score, c.test_error, c.gap) for c in results]
    return pd.DataFrame(rows, columns=["search", "tuned_score", "test_score", "test_error", "gap"])


def recommended(results: Sequence[HeldOutResult]) -> Any:
    """Return the fitted estimator to use: by the verdict on the last result the default's, which is the first, or its own."""
    keep = results[-1].verdict is not None and results[-1].verdict.recommended == "default"
    return results[0 if keep else -1].estimator


def check_writable(out: Path) -> None:
    """Create the folder, and raise StorageError if it is not writable: better now than after hours of tuning."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise StorageError(f"--out {out}: cannot write to this folder: {error.strerror or error}") from error


def write_results(results: list[HeldOutResult], out: Path) -> list[Path]:
    """Write comparison.csv, the trials, fold scores and parameters of each search, and report.html; return the files."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        files = [out / "comparison.csv"]
        write_csv(comparison(results), files[0], "comparison")
        for c in results:
            if c.search is not None:
                files += [out / f"{c.name}_{what}" for what in ("trials.csv", "folds.csv", "parameters.json")]
                c.search.study_.to_csv(files[-3])
                c.search.study_.folds_to_csv(files[-2])
                files[-1].write_text(json.dumps(_plain(c.estimator.get_params(deep=True)), indent=2) + "\n")
        files += write_tuning_report(results, out)
    except (OSError, StorageError) as error:
        raise StorageError(f"--out {out}: cannot write to this folder: {getattr(error, 'strerror', None) or error}") from error
    return files


def write_model(
    results: Sequence[HeldOutResult], out: Path, table: Table | None, metric: str = "", test: Table | None = None
) -> list[Path]:
    """Write the parameters of the recommended machine, and with the table it was fitted to also its pipeline; return the files.

    With the pipeline come columns.csv, which says what was done with each column, and the predictions of rows without a target.
    A series has no such table: what it predicts depends on the rows before.
    """
    estimator = recommended(results)
    files = [out / PARAMETERS]
    try:
        files[0].write_text(json.dumps(machine_parameters(estimator), indent=2) + "\n")
        if table is not None:
            files.append(out / MODEL)
            save_model(files[1], estimator, table, metric, test)
            if table.columns is not None:
                files.append(out / "columns.csv")
                write_csv(table.columns, files[-1], "columns")
            if table.unlabelled is not None:
                files.append(out / "predictions.csv")
                write_csv(predicted(load_model(files[1]), table.unlabelled), files[-1], "predictions")
    except OSError as error:
        raise StorageError(f"--out {out}: cannot write to this folder: {error.strerror or error}") from error
    return files


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as JSON types; the repr of an estimator."""
    return {k: v if v is None or isinstance(v, bool | int | float | str) else repr(v) for k, v in sorted(params.items())}


def write_tuning_report(results: Sequence[HeldOutResult], out: Path) -> list[Path]:
    """Write report.html of the last search, if there is one, into a folder; return the file.

    A random search among the results is the baseline.
    """
    final = results[-1]
    if final.search is None:
        return []
    study = final.search.study_
    drawn = [c.search.study_ for c in results[:-1] if c.search is not None and c.name == "random"]
    usable = [one for one in drawn if any(t.value is not None for t in one.trials)]
    return [study.report(out / "report.html", usable[0] if usable else None)]


@dataclass(frozen=True)
class HeldOutResult:
    """The tuned score and the held-out score of one way to choose the parameters: "default", or the name of the search."""

    name: str
    tuned_score: float  # mean over the folds of the training rows
    test_score: float
    test_error: float  # bootstrap standard error
    estimator: BaseEstimator  # fitted on all training rows
    search: SpotSearchCV | None = None
    optimism: Optimism | None = None
    verdict: Verdict | None = None
    code: str = ""  # Python code that repeats it
    notices: tuple[Notice, ...] = ()  # what to know before trusting the scores; of the last result alone

    @property
    def gap(self) -> float:
        """Tuned score minus test score."""
        return self.tuned_score - self.test_score


_RESPONSES = ("predict", "predict_proba", "decision_function")


def held_out_score(
    scorer: Any, estimator: Any, X: Any, y: Any, seed: int, *, block: int = 1, groups: Any = None, resamples: int = 100
) -> tuple[float, float]:
    """Return the score on held-out rows, and its bootstrap standard error; nan if there is none, as for rows that lack a class.

    The fitted estimator predicts each row once. Each resample draws `block` neighbouring rows together: more than 1 if neighbours
    depend on each other, as in a series; of `groups` it draws whole ones. ValueError is raised if the estimator cannot predict
    the rows.
    """
    remembered = RememberedPredictions(estimator, X)
    rng = np.random.default_rng(seed)
    n = len(y)
    classify = get_tags(estimator).estimator_type == "classifier"
    score = score_or_nan(scorer, remembered, np.arange(n), y)
    again = []
    for _ in range(resamples):
        rows = resampled_rows(rng, n, block, groups)
        if not classify or y.iloc[rows].nunique() > 1:
            again.append(score_or_nan(scorer, remembered, rows, y.iloc[rows]))
    known = np.array(again)[np.isfinite(again)]
    return score, float(np.std(known, ddof=1)) if len(known) > 1 else float("nan")


def block_length(n: int) -> int:
    """Return how many neighbouring rows of a series are drawn together: the square root of their number."""
    return max(1, round(sqrt(n)))


class RememberedPredictions(BaseEstimator):
    """A fitted estimator's responses to the rows X, looked up by row number."""

    #: the error of the estimator, if it cannot respond to the rows
    failure: ValueError | None = None

    def __init__(self, estimator: Any, X: Any):
        self.estimator = estimator
        self.X = X

    def __getattr__(self, name: str) -> Any:
        if name == "classes_":
            return self.estimator.classes_
        if name not in _RESPONSES:
            raise AttributeError(name)
        respond = getattr(self.estimator, name)
        try:
            responses = np.asarray(respond(self.X))
        except ValueError as error:
            self.failure = error
            raise

        def lookup(rows: NDArray[np.intp]) -> NDArray[Any]:
            return responses[rows]

        lookup.__name__ = name  # scorers read the name
        setattr(self, name, lookup)
        return lookup

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


def resampled_rows(rng: np.random.Generator, n: int, block: int = 1, groups: Any = None) -> NDArray[np.intp]:
    """Draw n rows with replacement, in blocks of neighbours, the first row following the last; or as many groups as there are."""
    if groups is not None:
        names, place = np.unique(np.asarray(groups), return_inverse=True)
        return np.concatenate([np.flatnonzero(place == k) for k in rng.integers(len(names), size=len(names))])
    if block == 1:
        return rng.integers(n, size=n)
    starts = rng.integers(n, size=ceil(n / block))
    rows: NDArray[np.intp] = ((starts[:, None] + np.arange(block)) % n).ravel()[:n]
    return rows


def score_or_nan(scorer: Any, remembered: RememberedPredictions, rows: NDArray[np.intp], y: Any) -> float:
    """Return the score; nan where the rows have none, such as those that lack a class."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            return float(scorer(remembered, rows, y))
        except ValueError:
            if remembered.failure is not None:  # not because of the few rows
                raise
            return float("nan")

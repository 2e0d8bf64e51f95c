"""How to scale the columns of a table before a support vector machine: to unit variance, or towards normal distributions."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.svm import SVC, SVR

from spotsvm.common.errors import DataError
from spotsvm.search_cv.spot_search_cv import SpotSearchCV
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun
from spotsvm.studies.equal_time.results import Estimate, over_data_sets
from spotsvm.studies.equal_time.sets import CLASSES, TARGETS, Rows, one_a_family, read_rows
from spotsvm.study.callbacks import runs_bar
from spotsvm.tuning.pipelines.default_spaces import default_space

MOST_ROWS, N_ITER, FOLDS = 600, 10, 5
STANDARD, POWER = "standard", "power"
#: the scalers that are compared
SCALERS: dict[str, Callable[[], Any]] = {
    STANDARD: StandardScaler,
    "PowerTransformer": PowerTransformer,
    POWER: lambda: make_pipeline(StandardScaler(), PowerTransformer()),
}
#: a set of 1,500 columns, for which PowerTransformer takes minutes in each run
_WIDE = ("internet ads",)
_NOTES = f"""\
An SVC, or an SVR, with an RBF kernel is tuned on two thirds of a data set by {N_ITER} suggestions of `SpotSearchCV` in {FOLDS}
folds, without further partitions, and judged on the other third. The scaler is a step of the pipeline: "standard" gives each
column mean 0 and variance 1, "PowerTransformer" makes it as normal as a Yeo-Johnson transformation can, and "power" does so after
"standard", as `spotsvm tune --scale power` does. All scalers have the same splits, folds and seeds;
of sets with more than {MOST_ROWS} rows as many are drawn. The error is the percentage of new rows that are classified wrongly or,
in regression, of the target's variance on new rows that is not told. Intervals are 95 % t intervals over data sets, one of each
family, with the mean over splits as a set's value."""


def measure(rows: Rows, split: int, scaler: str) -> tuple[float, float]:
    """Return the error on new rows in percent, and the score that was tuned."""
    regression = rows.name in TARGETS
    old, new = train_test_split(
        np.arange(len(rows.y)), test_size=1 / 3, stratify=None if regression else rows.y, random_state=split
    )
    machine = TransformedTargetRegressor(SVR(), transformer=StandardScaler()) if regression else SVC()
    pipeline = make_pipeline(SCALERS[scaler](), machine)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = SpotSearchCV(pipeline, default_space(pipeline), n_iter=N_ITER, cv=FOLDS, confirm=None, random_state=split)
        search.fit(rows.X[old], rows.y[old])
    return 100.0 * (1.0 - search.score(rows.X[new], rows.y[new])), float(search.best_score_)


class ScalersStudy(Experiment):
    """How to scale the columns of a table: to unit variance, or by a power transformation towards normal distributions.

    Parameters
    ----------
    quick : bool, default=False
        Two small sets and one split.
    n_splits : int, optional
        Splits into rows to tune on and new rows; by default 2, in the quick form 1.
    sets : sequence of str, optional
        Some of `spotsvm.studies.equal_time.sets.CLASSES` and `TARGETS`; by default one of each family,
        but for one of 1,500 columns.
    n_jobs : int or None, default=None
        Runs at once.
    path : path-like, optional
        A folder in which results are kept as they come, and from which the study goes on if it was ended.

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Yeo, Johnson 2000, "A new family of power transformations to improve normality or symmetry".
    """

    name = "scalers"
    drawn = ("error", "difference")
    _table_caption = "Error on new rows in percent, and its difference to that of unit variance; 95 % intervals over data sets"
    _figure_caption = "Error on new rows in percent, and its difference to that of unit variance: means over data sets."
    _notes = _NOTES
    _floatfmt = ".2f"

    def __init__(
        self,
        quick: bool = False,
        *,
        n_splits: int | None = None,
        sets: Sequence[str] | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_splits = n_splits if n_splits is not None else (1 if quick else 2)
        families = [name for name in (*one_a_family(CLASSES), *one_a_family(TARGETS)) if name not in _WIDE]
        default = ("iris", "wine") if quick else tuple(families)
        self.sets = default if sets is None else tuple(sets)
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        check_least(self, 1, "n_splits")
        check_names("sets", self.sets, CLASSES | TARGETS)
        self.left_out: dict[str, str] = {}

    def _measure(self) -> pd.DataFrame:
        self.left_out, sets = {}, []
        for name in self.sets:
            try:
                sets.append(read_rows(name, MOST_ROWS, MOST_ROWS))
            except DataError as error:
                self.left_out[name] = str(error)
        jobs = [(rows, split, scaler) for split in range(self.n_splits) for rows in sets for scaler in SCALERS]
        kept = joblib.Memory(self.path, verbose=0).cache(measure)
        calls = (joblib.delayed(kept)(*job) for job in jobs)
        found = []
        with runs_bar(self.name, len(jobs)) as ended:
            results = joblib.Parallel(self.n_jobs, return_as="generator")(calls)
            for (rows, split, scaler), (missed, tuned) in zip(jobs, results, strict=True):
                task = "regression" if rows.name in TARGETS else "classification"
                found.append({"task": task, "set": rows.name, "split": split, "scaler": scaler, "error": missed, "tuned": tuned})
                ended(EndedRun(f"{rows.name}, {scaler}", split))
        return pd.DataFrame(found)

    def table(self) -> pd.DataFrame:
        """Return a row for each task and scaler: the mean error, and its difference to that of unit variance."""
        means = self.frame().groupby(["task", "set", "scaler"])["error"].mean().unstack()
        rows = []
        for task, of_task in means.groupby("task"):
            for scaler in SCALERS:
                found = over_data_sets(of_task[scaler] - of_task[STANDARD])
                about = {"task": task, "scaler": scaler, "sets": len(of_task), "error": float(of_task[scaler].mean())}
                rows.append(about | {"difference": found.mean, "low": found.low, "high": found.high})
        return pd.DataFrame(rows)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the mean errors on each set."""
        means = self.frame().groupby(["task", "set", "scaler"])["error"].mean().unstack().reset_index()
        return {"Error on new rows in percent, means over splits": means[["task", "set", *SCALERS]]}

    def conclusion(self) -> str:
        """Return the differences in words."""
        table = self.table()
        parts = []
        for task, rows in table[table["scaler"] != STANDARD].groupby("task"):
            differences = "; ".join(
                f"{row['scaler']} {Estimate(row['difference'], row['low'], row['high'])}" for _, row in rows.iterrows()
            )
            sets = rows["sets"].iloc[0]
            parts.append(
                f"{str(task).capitalize()}, {sets} sets: difference of the error to that of unit variance, {differences}."
            )
        if self.left_out:
            parts.append(f"Left out: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n\n".join(parts)

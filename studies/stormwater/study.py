"""The stormwater problem: Tables 5 and 6 of Koch et al. 2011 on a simulated tank, or on a series of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pandas as pd

from spotsvm.common.csv_files import write_csv
from spotsvm.comparison.comparison import Comparison
from spotsvm.comparison.runs import Searches, check_entrants, checked_seeds, labelled_searches
from spotsvm.errors import ArgumentError, DataError
from spotsvm.luck.judges.sets import OversearchingMatrix
from spotsvm.space.space import Space
from spotsvm.studies.common.experiment import Experiment
from spotsvm.studies.stormwater.runs import StormwaterErrors, run_rows, tuned_on_set
from spotsvm.studies.stormwater.series import RainSeries, read_series, simulated_series
from spotsvm.studies.stormwater.tables import (
    CAVEAT,
    SETS_6,
    TARGET,
    TUNER,
    draw_stormwater,
    on_table_5,
    on_table_6,
    set_matrix,
    table_5,
    table_6,
    winners,
)
from spotsvm.studies.tasks.svm import BY_HAND, REGION
from spotsvm.study.given import equal_start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SEARCHES: Searches = (TUNER, "koch2011", "cmaes", "lbfgsb")
REAL_SERIES = "rain_flow_wye_hourly"

_NOTES = f"""\
Searches tune nine parameters (Table 4) of an SVR that tells the level from the rain alone. It is trained on set 2; Table 5 has
its RMSE on set 4, on which it is tuned, over the seeds. "Untouched" are the mean errors of the same settings on sets 1 and 3,
"trained" those on set 2. "By hand" is the middle of Table 4's region with the default C, epsilon and gamma of R's package e1071.
All searches begin with it, then with the centre.

Table 6 has in each row what {TUNER} tuned on one set, in each column the RMSE on another: S_t is the mean of the others in a
column, V_t by how much of the diagonal they exceed it (eq. 15). SD is over the seeds, for V_t its standard error.

{CAVEAT}"""


class StormwaterStudy(Experiment):
    """The level of a stormwater tank from rain, tuned by several searches: Tables 5 and 6 of Koch 2011.

    The paper's data are not public. By default the data are those of a simulated tank, 20,000 records of 10 minutes; or a user's
    CSV file with a rain and a level column. The series is cut into four consecutive sets. An SVR is trained on set 2, and its
    nine parameters, those of two leaky rains among them, are tuned by its error on set 4; then once more on sets 1 and 3, to see
    how much of the tuned error is luck.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 24 evaluations, and every tenth record to train on.
    series : path-like or RainSeries, optional
        A CSV file, or a series; by default the simulated tank.
    rain, level, time : str, optional
        Columns of the file, if they cannot be found by their names.
    series_seed : int, default=0
        Seed of the simulation.
    n_trials : int, optional
        Number of evaluations of each run; by default 200.
    seeds : int or sequence of int, optional
        As `compare` takes them; by default 5.
    searches : sequence or dict, default=("kriging", "koch2011", "cmaes", "lbfgsb")
        As in `compare`, including "kriging", which also tunes sets 1 and 3.
    train_stride : int, optional
        Train on every `train_stride`-th record of set 2, by default on all; errors are over all records of a set.
    n_jobs : int or None, default=None
        Number of parallel runs; None means one per processor, and 1 in the quick form. It does not change the results.
    path : path-like, optional
        A folder for the records, from which an interrupted study resumes.

    Raises
    ------
    ArgumentError, BudgetError
        If an argument is invalid.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.
    """

    name = "stormwater"
    _table_caption = "Table 5"
    _figure_caption = (
        "Left: what each search had reached on set 4, median and quartiles of the seeds. Right: what each seed found, and "
        "their mean. Below: the stretch of set 4 in which the level moves most."
    )

    def __init__(
        self,
        quick: bool = False,
        *,
        series: str | Path | RainSeries | None = None,
        rain: str | None = None,
        level: str | None = None,
        time: str | None = None,
        series_seed: int = 0,
        n_trials: int | None = None,
        seeds: int | Sequence[int] | None = None,
        searches: Searches = DEFAULT_SEARCHES,
        train_stride: int | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.series, self.rain, self.level, self.time, self.series_seed = series, rain, level, time, series_seed
        self.n_trials = n_trials if n_trials is not None else (24 if quick else 200)
        self.seeds = checked_seeds(seeds if seeds is not None else (2 if quick else 5))
        self.searches = labelled_searches(searches)
        self.train_stride = train_stride if train_stride is not None else (10 if quick else 1)
        self.n_jobs = n_jobs if n_jobs is not None else (1 if quick else -1)
        self.path = None if path is None else Path(path)
        if TUNER not in self.searches:
            raise ArgumentError(f"searches={list(self.searches)} has no {TUNER!r}, which tunes on all sets; add it")
        if self.train_stride < 1:
            raise ArgumentError(f"train_stride={train_stride} is not a step between records; use 1 or more")
        space = Space(REGION)
        start = equal_start(space, BY_HAND)
        check_entrants(self.searches, space, self.n_trials, noise=False, start=start)
        self.comparisons: dict[int, Comparison] = {}

    def use_data(self, folder: str | Path) -> Self:
        """Take the series of this CSV file, or in a folder that of `rain_flow_wye_hourly.csv`, in place of the simulated tank.

        Raises
        ------
        DataError
            If there is no such file or folder, or no such file in it.
        """
        self.data = Path(folder)
        if self.data.is_dir() and not (self.data / f"{REAL_SERIES}.csv").is_file():
            raise DataError(
                f"--data {folder}: there is no {REAL_SERIES}.csv in it; name a CSV file with a rain and a level column"
            )
        if not self.data.exists():
            raise DataError(f"--data {folder} is neither a folder nor a CSV file")
        self.__dict__.pop("rain_series", None)
        return self

    @cached_property
    def rain_series(self) -> RainSeries:
        """The series that is studied."""
        if self.data is not None:
            file = self.data / f"{REAL_SERIES}.csv" if self.data.is_dir() else self.data
            return self._read(file)
        if self.series is None:
            return simulated_series(self.series_seed)
        return self.series if isinstance(self.series, RainSeries) else self._read(self.series)

    def _read(self, file: str | Path) -> RainSeries:
        unit = "mm/h" if Path(file).stem == REAL_SERIES else ""
        return read_series(file, rain=self.rain, level=self.level, time=self.time, unit=unit)

    def _objective(self, tuned_on: int) -> StormwaterErrors:
        return StormwaterErrors(self.rain_series, tuned_on, stride=self.train_stride)

    def _measure(self) -> pd.DataFrame:
        self.comparisons = {number: self._tune(number) for number in sorted(SETS_6, key=lambda number: number != TARGET)}
        return run_rows(self.comparisons, self.rain_series, self.train_stride, self.n_jobs)

    def _tune(self, number: int) -> Comparison:
        searches = self.searches if number == TARGET else {TUNER: self.searches[TUNER]}
        return tuned_on_set(self._objective(number), searches, self.n_trials, self.seeds, n_jobs=self.n_jobs, path=self.path)

    def table(self) -> pd.DataFrame:
        """Return Table 5: a row a search, over the seeds, with the printed figures."""
        return table_5(self.frame())

    def matrix(self) -> OversearchingMatrix:
        """Return the matrix of Table 6."""
        return set_matrix(self.frame())

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return Table 6, and what each run recommends."""
        return {"Table 6": table_6(self.matrix()), "Recommended settings (tuned on 0: none)": winners(self.frame())}

    def notes(self) -> str:
        """Return in words what is measured."""
        return f"Data: {self.rain_series.described()}.\n\n{_NOTES}"

    def conclusion(self) -> str:
        """Return in words who finds the lowest error, and how much of it is luck."""
        return f"{on_table_5(self.frame(), self.rain_series.unit)}\n\n{on_table_6(self.matrix())}\n\n{CAVEAT}"

    def _markdown_tables(self) -> dict[str, pd.DataFrame]:
        return {"Table 5": self.table(), "Table 6": table_6(self.matrix())}

    def figure(self) -> Figure:
        """Draw convergence and final errors on set 4, and a stretch of the series as measured and as predicted."""
        runs = self.frame()
        return draw_stormwater(self.comparisons[TARGET], runs, self._objective(TARGET))

    def _write_further(self, folder: Path) -> list[Path]:
        """Write Table 6 as it stands, the matrix seed by seed, and every trial."""
        files = [folder / f"{self.name}{ending}" for ending in ("_matrix.csv", "_matrix_runs.csv", "_trials.csv")]
        self.matrix().to_csv(files[0])
        write_csv(self.matrix().runs(), files[1], "matrix")
        trials = [comparison.frame().assign(tuned_on=number) for number, comparison in self.comparisons.items()]
        write_csv(pd.concat(trials, ignore_index=True), files[2], "trials")
        return files

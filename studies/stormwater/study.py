"""The stormwater problem: Tables 5 and 6 of Koch et al. 2011 on a simulated tank, or on a user's series."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import pandas as pd

from spotsvm.common.csv_files import write_csv
from spotsvm.comparison.between_sets import OversearchingMatrix
from spotsvm.comparison.comparison import Comparison
from spotsvm.comparison.runs import Searches, check_entrants, labelled_searches
from spotsvm.errors import ArgumentError, DataError
from spotsvm.space.space import Space
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.stormwater.runs import StormwaterErrors, run_rows, tuned_on_set
from spotsvm.studies.stormwater.series import RainSeries, read_series, simulated_series
from spotsvm.studies.stormwater.tables import (
    CAVEAT,
    PAPER,
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
Searches tune nine parameters (Table 4) of an SVR that predicts the level from the rain alone. The SVR is trained on set 2. Table
5 has its RMSE on set 4, which is minimised, over the seeds. "Untouched" are the mean errors of the same settings on sets 1 and 3,
"trained" those on set 2. "By hand" is the middle of Table 4's region with the default C, epsilon and gamma of R's package e1071.
All searches start with this setting and the centre.

A row of Table 6 has the RMSE on each set of the settings that a search tuned on one set: {TUNER}, and {PAPER}, the paper's own,
if it is among the searches. S_t is the mean of the other rows in a column, and V_t their relative excess over the diagonal
(eq. 15). SD is over the seeds; for V_t it is the standard error.

{CAVEAT}"""


@dataclass(kw_only=True)
class StormwaterStudy(Experiment):
    """The level of a stormwater tank from rain, tuned by several searches: Tables 5 and 6 of Koch 2011.

    The paper's data are not public. By default the data come from a simulated tank, with 20,000 records of 10 minutes; a CSV file
    with a rain and a level column can replace them. The series is cut into four consecutive sets. An SVR is trained on set 2. Its
    nine parameters, which include those of two leaky sums of the rain, are tuned by the error on set 4, and again on sets 1 and 3
    to measure how much of the tuned error is luck.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 24 trials, and every tenth record for training.
    n_jobs, path
        See `Experiment`; `path` is a folder for the records of the searches.
    series : path-like or RainSeries, optional
        A CSV file, or a series; by default the simulated tank.
    rain, level, time : str, optional
        Columns of the file, if their names do not start as `read_series` expects.
    series_seed : int, default=0
        Seed of the simulation.
    n_trials : int, optional
        Number of trials of each run; by default 200.
    seeds : int or sequence of int, optional
        As `compare` takes them; by default 5.
    searches : sequence or dict, default=("kriging", "koch2011", "cmaes", "lbfgsb")
        As in `compare`, including "kriging", which also tunes on sets 1 and 3, as does "koch2011" if it is there.
    train_stride : int, optional
        Train on every `train_stride`-th record of set 2; by default on all records. Errors are over all records of a set.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section 3.2.1.
    """

    name = "stormwater"
    keeps_records = True
    _table_caption = "Table 5"
    _figure_caption = (
        "Left: best error on set 4 by number of evaluations, median and quartiles over the seeds. Right: the final errors of the "
        "seeds and their mean. Below: the part of set 4 in which the level changes most."
    )

    series: str | Path | RainSeries | None = None
    rain: str | None = None
    level: str | None = None
    time: str | None = None
    series_seed: int = 0
    n_trials: int = either(200, 24)
    seeds: Seeds = either(5, 2)
    searches: Searches = DEFAULT_SEARCHES
    train_stride: int = either(1, 10)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.searches = self._entrants = labelled_searches(self.searches)
        if TUNER not in self.searches:
            raise ArgumentError(f"searches={list(self.searches)} has no {TUNER!r}, which tunes on all sets; add it")
        if self.train_stride < 1:
            raise ArgumentError(f"train_stride={self.train_stride} is not a step between records; use 1 or more")
        space = Space(REGION)
        check_entrants(self._entrants, space, self.n_trials, noise=False, start=equal_start(space, BY_HAND))
        self.comparisons: dict[int, Comparison] = {}

    def use_data(self, folder: str | Path) -> Self:
        """Use the series of this CSV file, or of `rain_flow_wye_hourly.csv` in this folder, in place of the simulated tank."""
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
        """The series in use."""
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
        folder = None if self.path is None else Path(self.path)
        searches = self._entrants if number == TARGET else {label: self._entrants[label] for label in self._on_all_sets}
        return tuned_on_set(self._objective(number), searches, self.n_trials, self.seeds, n_jobs=self.n_jobs, path=folder)

    def table(self) -> pd.DataFrame:
        """Return Table 5: a row for each search, with the printed figures."""
        return table_5(self.frame())

    def matrix(self, search: str = TUNER) -> OversearchingMatrix:
        """Return the matrix of Table 6, tuned by "kriging" or, if it is among the searches, by the paper's own "koch2011"."""
        if search not in self._on_all_sets:
            raise ArgumentError(f"search={search!r} has not tuned on all sets; use one of {', '.join(self._on_all_sets)}")
        return set_matrix(self.frame(), search)

    @property
    def _on_all_sets(self) -> tuple[str, ...]:
        """The searches that tune on each of the sets of Table 6."""
        return tuple(label for label in (TUNER, PAPER) if label in self._entrants)

    def _tables_6(self) -> dict[str, pd.DataFrame]:
        return {f"Table 6 ({label})": table_6(self.matrix(label)) for label in self._on_all_sets}

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return Table 6 and the recommended settings."""
        return {**self._tables_6(), "Recommended settings (tuned on 0: none)": winners(self.frame())}

    def notes(self) -> str:
        """Return an explanation of the tables."""
        return f"Data: {self.rain_series}.\n\n{_NOTES}"

    def conclusion(self) -> str:
        """Return in words the errors of the searches, and how much of the tuned error is luck."""
        luck = [f"Tuned by {label}: {on_table_6(self.matrix(label))}" for label in self._on_all_sets]
        return "\n\n".join([on_table_5(self.frame(), self.rain_series.unit), *luck, CAVEAT])

    def _markdown_tables(self) -> dict[str, pd.DataFrame]:
        return {"Table 5": self.table(), **self._tables_6()}

    def figure(self) -> Figure:
        """Draw convergence and final errors on set 4, and a part of the series as measured and as predicted."""
        runs = self.frame()
        return draw_stormwater(self.comparisons[TARGET], runs, self._objective(TARGET))

    def _write_further(self, folder: Path) -> list[Path]:
        """Write Table 6 and the matrix of each seed, for each search that tuned on all sets, and all trials."""
        files = []
        for label in self._on_all_sets:
            whole, runs = (folder / f"{self.name}_{label}_{part}.csv" for part in ("matrix", "matrix_runs"))
            self.matrix(label).to_csv(whole)
            write_csv(self.matrix(label).runs(), runs, "matrix")
            files += [whole, runs]
        trials = [comparison.frame().assign(tuned_on=number) for number, comparison in self.comparisons.items()]
        files.append(folder / f"{self.name}_trials.csv")
        write_csv(pd.concat(trials, ignore_index=True), files[-1], "trials")
        return files

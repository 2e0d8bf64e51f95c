"""Comparison of the searches on tuning tasks, at equal budgets and from the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from spotsvm.comparison.compare import compare
from spotsvm.comparison.comparison import Comparison
from spotsvm.comparison.runs import Searches, check_entrants, labelled_searches
from spotsvm.errors import ArgumentError, BudgetError, DataError
from spotsvm.space.space import Space
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.search_comparison.results import (
    RANDOM,
    by_task,
    draw_tasks,
    findings,
    run_rows,
    with_regret,
    worse_than_random,
)
from spotsvm.studies.tasks.tasks import TASKS, TRUE_VALUE, TuningTask, make_tasks
from spotsvm.study.callbacks import runs_bar
from spotsvm.study.given import equal_start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_SEARCHES: Searches = ("kriging", "cmaes", "lbfgsb", "vns", "random")
QUICK_TASKS = ("branin_noisy", "hartmann6", "svc_rbf_breast_cancer")

_NOTES = """\
Normalised regret: 0 is the known minimum, or the best value of all runs of this study if it is not known; 1 is the median of
random search after as many evaluations. If these two are equal, there is no regret, and the task only counts in the ranks. The
regret is the median over the seeds, and then over the tasks; the mean regret is the mean over the tasks of the medians over the
seeds. Ranks are among the searches of a seed, averaged over seeds and tasks. With noise the result is the true value of the
recommended trial,
otherwise the best value."""


@dataclass(kw_only=True)
class SearchComparisonStudy(Experiment):
    """Searches at equal budgets on tuning tasks of support vector machines and on functions.

    Each search runs on each task from the same seeds, and does not know the budget or the noise. The n-th evaluation of a seed
    has the same noise for all searches. All searches start with the estimator's default parameters, if there is an estimator, and
    the centre of the space. The tasks are cross-validated errors of SVCs and SVRs on small data sets (two to fourteen
    parameters), an SVR that predicts the level of a tank from rain (nine parameters, four of them integers), class weights and
    cutoffs scored on random splits, and functions with known minima, with and without noise.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 15 trials on three tasks.
    n_jobs, path
        See `Experiment`; `path` is a folder for the records.
    n_trials : int, optional
        Trials of each run, at least 4; by default 100.
    seeds : int or sequence of int, optional
        As `compare` takes them; by default 5.
    searches : sequence or dict, default=("kriging", "cmaes", "lbfgsb", "vns", "random")
        As in `compare`, including "random", to which all are compared.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.tasks.tasks.TASKS`; by default all.
    """

    name = "search_comparison"
    keeps_records = True
    _notes = _NOTES
    _figure_caption = "Best result by number of evaluations: median and quartiles over the seeds, a panel for each task."

    n_trials: int = either(100, 15)
    seeds: Seeds = either(5, 2)
    searches: Searches = DEFAULT_SEARCHES
    tasks: Sequence[str] = either(TASKS, QUICK_TASKS, among=TASKS)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.searches = self._entrants = labelled_searches(self.searches)
        if self.n_trials < 4:
            raise BudgetError(f"n_trials={self.n_trials} cannot be halved twice; use 4 or more")
        if RANDOM not in self.searches:
            raise ArgumentError(f"searches={list(self.searches)} has no {RANDOM!r}, to which all are compared; add it")
        self.comparisons: dict[str, Comparison] = {}
        self.left_out: dict[str, str] = {}

    @property
    def checkpoints(self) -> list[int]:
        """Numbers of evaluations at which results are taken: a quarter of them, half and all."""
        return [self.n_trials // 4, self.n_trials // 2, self.n_trials]

    def _measure(self) -> pd.DataFrame:
        tasks, self.left_out = make_tasks(self.tasks)
        if not tasks:
            raise DataError(f"no task can be made: {'; '.join(self.left_out.values())}")
        for task in tasks:
            self._check(task)
        self._tasks = tasks
        self.comparisons = {task.name: self._compare(task) for task in tasks}
        rows = [run_rows(task, self.comparisons[task.name], self.checkpoints) for task in tasks]
        return with_regret(pd.concat(rows, ignore_index=True))

    def _check(self, task: TuningTask) -> None:
        """Check the searches on a task before the first evaluation."""
        try:
            space = Space(task.space)
            start = equal_start(space, task.default)
            check_entrants(self._entrants, space, self.n_trials, noise="auto", start=start)
        except (ArgumentError, BudgetError) as error:
            raise type(error)(f"task {task.name!r}: {error}") from error

    def _compare(self, task: TuningTask) -> Comparison:
        with runs_bar(task.name, len(self.searches) * len(self.seeds)) as ended:
            return compare(
                task,
                task.space,
                self.searches,
                self.n_trials,
                self.seeds,
                measure=TRUE_VALUE if task.noisy else None,
                n_jobs=self.n_jobs,
                callback=ended,
                path=None if self.path is None else Path(self.path) / task.name,
                start=task.default,
            )

    def table(self) -> pd.DataFrame:
        """Return a row for each search, the best first: regret and rank after a quarter, half and all of the evaluations."""
        return findings(self.frame())

    def by_task(self) -> pd.DataFrame:
        """Return a row for each task, number of evaluations and search: results over the seeds, regret and rank.

        A task that was left out has one row with the reason.
        """
        left_out = pd.DataFrame({"task": list(self.left_out), "note": [f"left out: {why}" for why in self.left_out.values()]})
        table = by_task(self.frame()).assign(note="")
        return pd.concat([table, left_out], ignore_index=True) if len(left_out) else table

    def conclusion(self) -> str:
        """Return in words the regrets, and the tasks on which a search is worse than random search."""
        table, last = self.table(), self.checkpoints[-1]
        regrets = ", ".join(
            f"{regret:.2f} by {search}" for search, regret in zip(table.search, table[f"regret {last}"], strict=True)
        )
        worse = worse_than_random(self.frame())
        where = [f"{search} on {', '.join(tasks)}" for search, tasks in worse.items() if tasks]
        parts = [
            f"Median normalised regret after {last} evaluations on {len(self.comparisons)} tasks: {regrets}.",
            f"Worse than random search in the median of the {len(self.seeds)} seeds: {'; '.join(where)}."
            if where
            else f"No search is worse than random search in the median of the {len(self.seeds)} seeds on any task.",
        ]
        if self.left_out:
            parts.append(f"Left out, because their data are missing: {', '.join(self.left_out)}.")
        return " ".join(parts)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the results on each task after all evaluations."""
        tasks = self.by_task()
        last = tasks[(tasks.evaluations == self.checkpoints[-1]) | tasks.evaluations.isna()].drop(columns="evaluations")
        return {f"After {self.checkpoints[-1]} evaluations, by task": last}

    def figure(self) -> Figure:
        """Draw the convergence on each task."""
        self.frame()
        return draw_tasks(self.comparisons, self._tasks)

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"by_task": self.by_task()}

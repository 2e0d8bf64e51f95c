"""The searches side by side on tuning tasks, at equal budgets and from the same seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from spotsvm.comparison.compare import compare
from spotsvm.comparison.comparison import Comparison
from spotsvm.comparison.runs import Searches, check_entrants, checked_seeds, labelled_searches
from spotsvm.errors import ArgumentError, BudgetError, DataError
from spotsvm.space.space import Space
from spotsvm.studies.common.experiment import Experiment, check_names
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
Normalised regret: 0 is the known minimum, or else the best value that any run of this study has met; 1 is the median of
random search after as many evaluations; where these two are one there is no regret, and the task counts in the ranks only. Of
the seeds and then of the tasks the median is taken; mean regret is the tasks' mean of the seeds' medians. The rank is among
the searches within a seed, averaged over seeds and tasks. Where evaluations are noisy the true value of what is recommended
counts, else the best value seen."""


class SearchComparisonStudy(Experiment):
    """Searches at equal budgets on tuning tasks of support vector machines and on functions.

    Each search runs on each task from the same seeds, without information on the budget or the noise; the n-th evaluation of a
    seed has the same noise for every search. All searches begin with the estimator's default parameters, if there is an
    estimator, and then the centre of the space. The tasks: cross-validated errors of SVCs and SVRs on small data sets (two to
    fourteen parameters), an SVR that predicts a tank's level from rain (nine parameters, four of them integers), class weights
    and cutoffs scored on random splits, and functions with known minima, with and without noise.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 15 evaluations on three tasks.
    n_trials : int, optional
        Evaluations of each run, at least 4; by default 100.
    seeds : int or sequence of int, optional
        As `compare` takes them; by default 5.
    searches : sequence or dict, default=("kriging", "cmaes", "lbfgsb", "vns", "random")
        As in `compare`, including "random", to which all are compared.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.tasks.tasks.TASKS`; by default all.
    n_jobs : int or None, default=None
        Number of parallel runs; None means one per processor, and 1 in the quick form.
    path : path-like, optional
        A folder for the records, from which an interrupted study resumes.

    Raises
    ------
    ArgumentError, BudgetError
        If an argument is invalid.
    """

    name = "search_comparison"
    _notes = _NOTES
    _figure_caption = "What each search had reached after so many evaluations: median and quartiles of the seeds, a panel a task."

    def __init__(
        self,
        quick: bool = False,
        *,
        n_trials: int | None = None,
        seeds: int | Sequence[int] | None = None,
        searches: Searches = DEFAULT_SEARCHES,
        tasks: Sequence[str] | None = None,
        n_jobs: int | None = None,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_trials = n_trials if n_trials is not None else (15 if quick else 100)
        self.seeds = checked_seeds(seeds if seeds is not None else (2 if quick else 5))
        self.searches = labelled_searches(searches)
        self.task_names = tuple(tasks if tasks is not None else (QUICK_TASKS if quick else TASKS))
        self.n_jobs = n_jobs if n_jobs is not None else (1 if quick else -1)
        self.path = None if path is None else Path(path)
        if self.n_trials < 4:
            raise BudgetError(f"n_trials={n_trials} cannot be halved twice; use 4 or more")
        if RANDOM not in self.searches:
            raise ArgumentError(f"searches={list(self.searches)} has no {RANDOM!r}, to which all are compared; add it")
        check_names("tasks", self.task_names, TASKS)
        self.comparisons: dict[str, Comparison] = {}
        self._tasks: list[TuningTask] = []
        self.left_out: dict[str, str] = {}

    @property
    def checkpoints(self) -> list[int]:
        """Numbers of evaluations at which results are taken: a quarter of them, half and all."""
        return [self.n_trials // 4, self.n_trials // 2, self.n_trials]

    def _measure(self) -> pd.DataFrame:
        tasks, self.left_out = make_tasks(self.task_names)
        if not tasks:
            raise DataError(f"no task can be made: {'; '.join(self.left_out.values())}")
        for task in tasks:
            self._check(task)
        self._tasks = tasks
        self.comparisons = {task.name: self._compare(task) for task in tasks}
        rows = [run_rows(task, self.comparisons[task.name], self.checkpoints) for task in tasks]
        return with_regret(pd.concat(rows, ignore_index=True))

    def _check(self, task: TuningTask) -> None:
        """Make the task's searches, before any task has cost an evaluation."""
        try:
            space = Space(task.space)
            start = equal_start(space, task.default)
            check_entrants(self.searches, space, self.n_trials, noise="auto", start=start)
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
                path=None if self.path is None else self.path / task.name,
                start=task.default,
            )

    def table(self) -> pd.DataFrame:
        """Return a row a search: regret and rank after a quarter, half and all of the evaluations, and the best comes first."""
        return findings(self.frame())

    def by_task(self) -> pd.DataFrame:
        """Return a row a task, number of evaluations and search: best, mean, median, worst and SD over the seeds, regret, rank.

        A task that was left out has one row, which says why.
        """
        left_out = pd.DataFrame({"task": list(self.left_out), "note": [f"left out: {why}" for why in self.left_out.values()]})
        table = by_task(self.frame()).assign(note="")
        return pd.concat([table, left_out], ignore_index=True) if len(left_out) else table

    def conclusion(self) -> str:
        """Return in words who comes first, and where a search is worse than random search."""
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
            parts.append(f"Left out, for their data are not there: {', '.join(self.left_out)}.")
        return " ".join(parts)

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the table by task after all evaluations."""
        tasks = self.by_task()
        last = tasks[(tasks.evaluations == self.checkpoints[-1]) | tasks.evaluations.isna()].drop(columns="evaluations")
        return {f"After {self.checkpoints[-1]} evaluations, by task": last}

    def figure(self) -> Figure:
        """Draw the convergence on each task."""
        self.frame()
        return draw_tasks(self.comparisons, self._tasks)

    def settings(self) -> dict[str, Any]:
        """Return the constructor's arguments, as they are used."""
        return super().settings() | {"tasks": self.task_names}

    def _further_files(self) -> dict[str, pd.DataFrame]:
        return {"by_task": self.by_task()}

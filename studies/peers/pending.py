"""The cost of pending trials: quality per trial with q workers on a virtual clock, compared with one worker."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from spotsvm.comparison.runs import Entrant, Searches, labelled_searches
from spotsvm.errors import ArgumentError, BudgetError, DataError
from spotsvm.space.space import Space
from spotsvm.studies.common.experiment import Experiment, Seeds, either
from spotsvm.studies.common.jobs import Job
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.studies.peers.results import RANDOM
from spotsvm.studies.tasks.tasks import TASKS, TuningTask, make_tasks
from spotsvm.study.given import equal_start
from spotsvm.study.study import Study
from spotsvm.trials.recommendation import recommend
from spotsvm.trials.trial import Trial

SPREAD = 0.5
_STREAM = 1 << 44


def virtual_durations(n: int, seed: int, spread: float = SPREAD) -> list[float]:
    """Return log-normal durations of trials, with median 1 and a standard deviation `spread` of the logarithm."""
    return [float(x) for x in np.random.default_rng([seed, _STREAM]).lognormal(0.0, spread, n)]


def pending_run(
    task: TuningTask, search: Any, seed: int, q: int, n_trials: int, spread: float = SPREAD
) -> tuple[list[Trial], float]:
    """Run a search with q workers on a virtual clock; return the reported trials, and the mean time of a suggestion.

    Once all workers are busy, q - 1 trials are pending at each suggestion; a `spread` of 0 makes batches of q. The seed
    determines search, noise and durations. Times are processor times.
    """
    durations = iter(virtual_durations(n_trials, seed, spread))
    reported: list[Trial] = []
    asked: dict[int, Trial] = {}
    spent = 0.0
    workers = VirtualWorkers(lambda params: 0.0, q, lambda params: next(durations))
    with Study(task.space, search, seed, start=equal_start(task.space, task.default)) as study:
        while len(reported) < n_trials:
            while len(workers.running) < q and len(study.trials) < n_trials:
                began = time.process_time()
                trial = study.ask()
                spent += time.process_time() - began
                asked[trial.number] = trial
                workers.submit(trial.number, dict(trial.params))
            for number, _ in workers.wait():
                trial = asked.pop(number)
                reported.append(study.tell(trial, task(dict(trial.params), trial.seed)))
    return reported, spent / n_trials


def result_after(task: TuningTask, reported: list[Trial], n: int, seed: int) -> float:
    """Return the result after n reported trials: the best value, or under noise the true value of the recommended trial."""
    trials = reported[:n]
    if not task.noisy:
        return min(t.value for t in trials if t.value is not None)
    number = recommend(trials, Space(task.space).domain, sign=1.0, noise="auto", seed=seed).number
    return task.truth(next(t.params for t in trials if t.number == number))


QUICK_TASKS = ("branin_noisy", "hartmann6")

_NOTES = """\
Each run is one search on one task from one seed, with q workers on a virtual clock. The times of trials are log-normal with
median 1; `spread` is the standard deviation of their logarithm. A worker that ends a trial reports it and gets the next trial at
once. Results are those after a number of reported trials, whatever number is pending: the best value, or under noise the true
value of the recommended trial. Normalised regret: 0 is the known minimum, or if it is not known the best value of all runs of
this study; 1 is the median of random search after as many trials. Ratio: the mean regret over tasks and seeds, divided by that of
one worker; 1.1 is 10 % worse. Difference: the median over tasks and seeds of the regret minus that of one worker on the same task
and
seed."""


def run_pending(task: TuningTask, search: Any, seed: int, q: int, n_trials: int, spread: float) -> pd.DataFrame:
    """Run a search with q workers; return a row after a quarter, half and all of the trials."""
    trials, seconds = pending_run(task, search, seed, q, n_trials, spread)
    checkpoints = (n_trials // 4, n_trials // 2, n_trials)
    results = [result_after(task, trials, n, seed) for n in checkpoints]
    # `met` is the best value of the run, if the task is deterministic
    return pd.DataFrame({"trials": checkpoints, "result": results}).assign(met=min(results), ask_seconds=seconds)


def with_regret(frame: pd.DataFrame, optima: dict[str, float | None]) -> pd.DataFrame:
    """Add the normalised regret, nan if the median of random search is the best known value."""
    met = frame.groupby("task")["met"].min()
    best = frame["task"].map({name: met[name] if optima[name] is None else optima[name] for name in met.index})
    random = frame[frame.search == RANDOM].groupby(["task", "trials"])["result"].median().rename("random")
    unit = frame.join(random, on=["task", "trials"])["random"] - best
    return frame.assign(regret=(frame["result"] - best) / unit.where(unit > 0))


def quality_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Summarise the runs, with a row for each search and q ("pending").

    "regret n" is the mean normalised regret after n trials over tasks and seeds, "ratio n" this by that of q = 1, and "difference
    n" the median difference within task and seed.
    """
    rows = []
    for (search, pending), runs in frame[frame.search != RANDOM].groupby(["search", "pending"], sort=False):
        row: dict[str, Any] = {"search": search, "pending": pending}
        for n, at in runs.groupby("trials"):
            alone = frame[(frame.search == search) & (frame.pending == 1) & (frame.trials == n)]
            both = at.merge(alone, on=["task", "seed"], suffixes=("", "_alone")).dropna(subset=["regret", "regret_alone"])
            row |= {
                f"regret {n}": at["regret"].mean(),
                f"ratio {n}": both["regret"].mean() / both["regret_alone"].mean() if len(both) else float("nan"),
                f"difference {n}": (both["regret"] - both["regret_alone"]).median(),
            }
        rows.append(row | {"ms to ask": 1e3 * runs["ask_seconds"].mean()})
    return pd.DataFrame(rows)


@dataclass(kw_only=True)
class PendingQualityStudy(Experiment):
    """The loss of quality per trial of a search with several pending trials.

    Searches run on the tasks of the comparison of searches, with one worker, and with q workers on a virtual clock whose trials
    take different times.

    Random search also runs, with one worker: its median is the unit of the regret.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 16 trials on two functions, with 1 and 4 workers.
    n_jobs, path
        See `Experiment`.
    n_trials : int, optional
        Trials of a run, at least 4; by default 100.
    seeds : int or sequence of int, optional
        As `compare` takes them; by default 10.
    q : sequence of int, optional
        Numbers of workers; by default 1, 2, 4 and 8.
    searches : sequence or dict, default=("kriging", "cmaes")
        As `compare` takes them.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.tasks.tasks.TASKS`; by default all. Tasks whose data are missing are left out.
    spread : float, default=0.5
        Standard deviation of the logarithm of the times; 0 makes batches of q trials.
    """

    name = "pending_quality"
    keys = ("pending",)
    shared = ("n_trials", "spread")
    _notes = _NOTES

    n_trials: int = either(100, 16)
    seeds: Seeds = either(10, 2)
    q: Sequence[int] = either((1, 2, 4, 8), (1, 4))
    searches: Searches = ("kriging", "cmaes")
    tasks: Sequence[str] = either(TASKS, QUICK_TASKS, among=TASKS)
    spread: float = SPREAD

    def __post_init__(self) -> None:
        super().__post_init__()
        self.searches = self._entrants = labelled_searches(self.searches)
        if not self.q or min(self.q) < 1:
            raise ArgumentError(f"q={self.q} are not numbers of workers; use 1 or more")
        if 1 not in self.q:
            raise ArgumentError(f"q={self.q} lacks 1, the sequential run to which all are compared; add it")
        if self.n_trials < 4:
            raise BudgetError(f"n_trials={self.n_trials} cannot be halved twice; use 4 or more")

    def drawn_columns(self) -> tuple[str, ...]:
        """Return the columns of the table that the figure shows."""
        return (*(f"{what} {self.n_trials}" for what in ("regret", "ratio", "difference")), "ms to ask")

    def _measure(self) -> pd.DataFrame:
        tasks, left_out = make_tasks(self.tasks)
        if not tasks:
            raise DataError(f"no task can be made: {'; '.join(left_out.values())}")
        entrants: dict[str, Entrant] = {RANDOM: "random", **self._entrants}
        frame = self._run(
            Job(
                {"task": task.name, "search": label, "pending": pending, "seed": seed},
                run_pending,
                (task, search, seed, pending, self.n_trials, self.spread),
            )
            for task in tasks
            for label, search in entrants.items()
            for pending in (dict.fromkeys(self.q) if label != RANDOM else (1,))
            for seed in self.seeds
        )
        return with_regret(frame, {task.name: task.optimum for task in tasks})

    def table(self) -> pd.DataFrame:
        """Return a row for each search and q: mean regret, ratio and difference to the sequential run; see `quality_table`."""
        return quality_table(self.frame())

    def conclusion(self) -> str:
        """Return in words the cost of the largest q for each search."""
        table, n = self.table(), self.n_trials
        last = table[table.pending == max(self.q)]
        costs = [
            f"{row['search']}: {row[f'ratio {n}']:.2f} times the regret (median difference {row[f'difference {n}']:+.3f})"
            for _, row in last.iterrows()
        ]
        return f"After {n} trials with {max(self.q)} pending, compared with one at a time: {'; '.join(costs)}."

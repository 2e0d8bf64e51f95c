"""The cost of pending trials: quality per trial with q workers on a virtual clock, against one worker."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd

from spotsvm.comparison.runs import Entrant, Searches, labelled_searches
from spotsvm.errors import ArgumentError, BudgetError, DataError
from spotsvm.space.space import Space
from spotsvm.studies.common.experiment import Experiment, check_names
from spotsvm.studies.common.run_file import EndedRun, RunFile
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.studies.search_comparison.results import RANDOM
from spotsvm.studies.tasks.tasks import TASKS, TuningTask, make_tasks
from spotsvm.study.callbacks import runs_bar
from spotsvm.study.given import equal_start
from spotsvm.study.study import Study
from spotsvm.trials.recommendation import recommend
from spotsvm.trials.trial import Trial

SPREAD = 0.5
_STREAM = 1 << 44


def virtual_durations(n: int, seed: int, spread: float = SPREAD) -> list[float]:
    """Return the log-normal durations of a run's trials, with median 1 and a deviation of the logarithm.

    Examples
    --------
    >>> [round(duration, 2) for duration in virtual_durations(3, seed=0)]
    [0.95, 0.84, 1.0]
    """
    return [float(x) for x in np.random.default_rng([seed, _STREAM]).lognormal(0.0, spread, n)]


def pending_run(
    task: TuningTask, search: Any, seed: int, q: int, n_trials: int, spread: float = SPREAD
) -> tuple[list[Trial], float]:
    """Run a search with q workers that take no time but that of a virtual clock; return the trials as told, and ask's mean time.

    It begins, as all do, with the task's default and the centre. A worker that has finished has its trial told, and is given the
    next one at once, so that q - 1 are pending whenever one is asked for, once all workers are busy. With q = 1 it is the plain
    sequential run. With a `spread` of 0 all workers finish at once: trials come in batches of q. The seed is that of the search,
    of the noise and of the durations. The time of an ask is processor time.
    """
    durations = iter(virtual_durations(n_trials, seed, spread))
    told: list[Trial] = []
    asked: dict[int, Trial] = {}
    spent = 0.0
    workers = VirtualWorkers(lambda params: 0.0, q, lambda params: next(durations))
    with Study(task.space, search, seed, start=equal_start(task.space, task.default)) as study:
        while len(told) < n_trials:
            while len(workers.running) < q and len(study.trials) < n_trials:
                began = time.process_time()
                trial = study.ask()
                spent += time.process_time() - began
                asked[trial.number] = trial
                workers.submit(trial.number, dict(trial.params))
            for number, _ in workers.wait():
                trial = asked.pop(number)
                told.append(study.tell(trial, task(dict(trial.params), trial.seed)))
    return told, spent / n_trials


def result_after(task: TuningTask, told: list[Trial], n: int, seed: int) -> float:
    """Return what a run has reached when n trials are told: the best value, or under noise the recommended trial's true value."""
    trials = told[:n]
    if not task.noisy:
        return min(t.value for t in trials if t.value is not None)
    number = recommend(trials, Space(task.space).domain, sign=1.0, noise="auto", seed=seed).number
    return task.truth(next(t.params for t in trials if t.number == number))


QUICK_TASKS = ("branin_noisy", "hartmann6")
_COLUMNS = {"task": str, "search": str, "pending": int, "seed": int, "trials": int, "result": float, "met": float}
_COLUMNS |= {"ask_seconds": float}
_KEY = ["task", "search", "pending", "seed"]

_NOTES = """\
Each run is one search on one task from one seed. q workers on a virtual clock: a trial takes a log-normal time of median 1 and
deviation 0.5 of the logarithm; a worker that has finished has its trial told and gets the next one at once. Results are those
after so many trials told, however many were pending: the best value, or under noise the true value of the recommended trial.
Normalised regret: 0 is the known minimum, or else the best value that any run here has met; 1 is the median of random search
after as many trials. Ratio: the mean regret over tasks and seeds, divided by that of one worker; 1.1 is 10 % worse. Difference:
the median, over tasks and seeds, of the regret less that of one worker on the same task from the same seed."""


def pending_quality(
    tasks: Sequence[str] = TASKS,
    seeds: Sequence[int] = tuple(range(10)),
    q: Sequence[int] = (1, 2, 4, 8),
    n_trials: int = 100,
    path: str | Path | None = None,
    n_jobs: int | None = 1,
    *,
    searches: Searches = ("kriging",),
    spread: float = SPREAD,
) -> pd.DataFrame:
    """Run searches sequentially and with q trials pending; return a row a run and number of trials.

    Random search, which is the unit of the regret, runs besides, sequentially, from the same seeds. A run is a function of its
    task, search, seed and q, so that the frame is the same whatever `n_jobs` is. Results are taken after a quarter of the trials,
    half and all. `spread` is that of the durations (see `virtual_durations`); 0 makes batches. Tasks whose data are not there are
    left out. The rows of each run are added to the CSV file `path` as it ends, and runs are taken from it that are done.

    Columns: task, search, pending (q), seed, trials, result, met (the best value that the run has met), ask_seconds (mean
    processor time of a suggestion), regret (nan where random search has met the best known).

    Raises
    ------
    ArgumentError, BudgetError, DataError
        If an argument is invalid, the file is of other numbers of trials, or no task can be made.
    """
    if not q or min(q) < 1:
        raise ArgumentError(f"q={tuple(q)} are not numbers of workers; use 1 or more each")
    if n_trials < 4:
        raise BudgetError(f"n_trials={n_trials} cannot be halved twice; use 4 or more")
    check_names("tasks", tasks, TASKS)
    made, left_out = make_tasks(tuple(tasks))
    if not made:
        raise DataError(f"no task can be made: {'; '.join(left_out.values())}")
    entrants: dict[str, Entrant] = {RANDOM: "random", **labelled_searches(searches)}
    plan = [
        (task, label, pending, seed)
        for seed in seeds
        for task in made
        for label in entrants
        for pending in (dict.fromkeys(q) if label != RANDOM else (1,))
    ]
    file = RunFile(path, _COLUMNS)
    done = _recorded(file, [(t.name, label, pending, seed) for t, label, pending, seed in plan], _checkpoints(n_trials))
    known = set(done[_KEY].itertuples(index=False, name=None)) if len(done) else set()
    jobs = [job for job in plan if (job[0].name, *job[1:]) not in known]
    found = [done] if len(done) else []
    with runs_bar("pending", len(jobs)) as ended:
        for rows in _run_all(jobs, entrants, n_trials, n_jobs, spread):
            found.append(rows)
            file.append(rows)
            ended(EndedRun(rows["search"][0], rows["seed"][0]))
    frame = pd.concat(found, ignore_index=True).sort_values([*_KEY, "trials"], ignore_index=True)
    return _with_regret(frame, {task.name: task.optimum for task in made})


def _checkpoints(n_trials: int) -> tuple[int, int, int]:
    return n_trials // 4, n_trials // 2, n_trials


def _recorded(file: RunFile, wanted: list[tuple[str, str, int, int]], checkpoints: tuple[int, ...]) -> pd.DataFrame:
    """Return what the file has of the wanted runs."""
    frame = file.read()
    if not len(frame):
        return frame
    if sorted(frame.trials.unique()) != sorted(set(checkpoints)):
        raise DataError(f"{file.path} was written with other numbers of trials; name another file")
    keys = pd.MultiIndex.from_frame(frame[_KEY])
    return frame[keys.isin(wanted)].drop_duplicates([*_KEY, "trials"])


def _run_all(
    jobs: list[tuple[TuningTask, str, int, int]], entrants: dict[str, Any], n_trials: int, n_jobs: int | None, spread: float
) -> Iterator[pd.DataFrame]:
    calls = (joblib.delayed(_run)(*job, entrants[job[1]], n_trials, spread) for job in jobs)
    runs: Iterator[pd.DataFrame] = joblib.Parallel(n_jobs=n_jobs, return_as="generator_unordered")(calls)
    return runs


def _run(task: TuningTask, label: str, pending: int, seed: int, search: Any, n_trials: int, spread: float) -> pd.DataFrame:
    told, seconds = pending_run(task, search, seed, pending, n_trials, spread)
    results = [result_after(task, told, n, seed) for n in _checkpoints(n_trials)]
    met = min(results)  # of a deterministic task the best value of all
    about = {"task": task.name, "search": label, "pending": pending, "seed": seed}
    rows = [about | {"trials": n, "result": r, "met": met} for n, r in zip(_checkpoints(n_trials), results, strict=True)]
    return pd.DataFrame(rows).assign(ask_seconds=seconds)


def _with_regret(frame: pd.DataFrame, optima: dict[str, float | None]) -> pd.DataFrame:
    """Add the normalised regret, nan where random search has no distance from the best known."""
    met = frame.groupby("task")["met"].min()
    best = frame["task"].map({name: met[name] if optima[name] is None else optima[name] for name in met.index})
    random = frame[frame.search == RANDOM].groupby(["task", "trials"])["result"].median().rename("random")
    unit = frame.join(random, on=["task", "trials"])["random"] - best
    return frame.assign(regret=(frame["result"] - best) / unit.where(unit > 0))


def quality_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Sum the runs of `pending_quality` up: a row a search and q.

    Columns: search, pending; for each number of trials n: "regret n", the mean normalised regret over tasks and seeds; "ratio n",
    that divided by the one of q = 1 over the same tasks and seeds; "difference n", the median of the differences within task and
    seed; and ms to ask, mean processor time of a suggestion in milliseconds.

    Examples
    --------
    >>> runs = pd.DataFrame(
    ...     {
    ...         "task": "t",
    ...         "search": "s",
    ...         "pending": [1, 8],
    ...         "seed": 0,
    ...         "trials": 9,
    ...         "regret": [0.5, 0.6],
    ...     }
    ... )
    >>> quality_table(runs.assign(ask_seconds=0.01))["ratio 9"].tolist()
    [1.0, 1.2]
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


class PendingQualityStudy(Experiment):
    """What several pending trials cost a search in quality per trial.

    Searches run on the tuning tasks of the comparison of searches, with one worker and with q workers whose trials take different
    times, on a virtual clock.

    Parameters
    ----------
    quick : bool, default=False
        Two seeds of 16 trials on two functions, with 1 and 4 workers.
    n_trials : int, optional
        Trials of a run, at least 4; by default 100.
    seeds : int, optional
        Number of seeds; by default 10.
    q : sequence of int, optional
        Numbers of workers; by default 1, 2, 4 and 8.
    searches : sequence or dict, default=("kriging", "cmaes")
        As `compare` takes them.
    tasks : sequence of str, optional
        Some of `spotsvm.studies.tasks.tasks.TASKS`; by default all.
    n_jobs : int or None, default=1
        Number of parallel runs.
    path : path-like, optional
        A CSV file of the runs, from which an interrupted study resumes.

    Raises
    ------
    ArgumentError, BudgetError, DataError
        If an argument is invalid.
    """

    name = "pending_quality"
    keys = ("pending",)
    _notes = _NOTES

    def __init__(
        self,
        quick: bool = False,
        *,
        n_trials: int | None = None,
        seeds: int | None = None,
        q: Sequence[int] | None = None,
        searches: Searches = ("kriging", "cmaes"),
        tasks: Sequence[str] | None = None,
        n_jobs: int | None = 1,
        path: str | Path | None = None,
    ):
        super().__init__(quick)
        self.n_trials = n_trials if n_trials is not None else (16 if quick else 100)
        self.seeds = seeds if seeds is not None else (2 if quick else 10)
        self.q = tuple(q) if q is not None else ((1, 4) if quick else (1, 2, 4, 8))
        self.searches = labelled_searches(searches)
        self.tasks = tuple(tasks if tasks is not None else (QUICK_TASKS if quick else TASKS))
        self.n_jobs = n_jobs
        self.path = None if path is None else Path(path)
        self.drawn = (*(f"{what} {self.n_trials}" for what in ("regret", "ratio", "difference")), "ms to ask")
        if 1 not in self.q:
            raise ArgumentError(f"q={self.q} lacks 1, the sequential run to which all are compared; add it")

    def _measure(self) -> pd.DataFrame:
        return pending_quality(
            self.tasks, range(self.seeds), self.q, self.n_trials, self.path, self.n_jobs, searches=self.searches
        )

    def table(self) -> pd.DataFrame:
        """Return a row a search and q: mean regret, ratio to the sequential run, median difference; see `quality_table`."""
        return quality_table(self.frame())

    def conclusion(self) -> str:
        """Return in words what the largest q costs each search."""
        table, n = self.table(), self.n_trials
        last = table[table.pending == max(self.q)]
        costs = [
            f"{row['search']}: {row[f'ratio {n}']:.2f} times the regret (median difference {row[f'difference {n}']:+.3f})"
            for _, row in last.iterrows()
        ]
        return f"After {n} trials with {max(self.q)} pending, against one at a time: {'; '.join(costs)}."

"""Throughput of two workers against one, the busy share of a simulated cluster, ten thousand trials in one record."""

from __future__ import annotations

import gc
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
import pandas as pd

from spotsvm import Study
from spotsvm.solvers.search.registry import SearchName
from spotsvm.studies.common.virtual_workers import VirtualWorkers, log_normal_durations
from spotsvm.studies.durability.cases import Case, Finding, Measures, Part, rows_of
from spotsvm.studies.durability.killable_runs import SPACE, Objective
from spotsvm.study.recorded import RecordedStudy
from spotsvm.trials.trial import Trial

SECONDS = 0.02
#: trials of a run, and runs of each number of workers
_TRIALS, _REPEATS = 300, 7
_QUICK_TRIALS, _QUICK_REPEATS = 180, 1
#: trials that are not counted, from when each worker has ended one
_SETTLING = 5
_GOAL = 1.8
SLEEPING, COMPUTING = "sleeping", "computing"
POOL, EXECUTOR = "killable workers", "ProcessPoolExecutor"


class Busy:
    """An objective of 20 ms and nothing else: it sleeps, or computes for 20 ms of a processor, not of the clock."""

    def __init__(self, how: str):
        self.how = how

    def __call__(self, params: dict[str, Any]) -> dict[str, float]:
        """Evaluate; say in which process."""
        if self.how == SLEEPING:
            time.sleep(SECONDS)
        else:
            until = time.thread_time() + SECONDS
            while time.thread_time() < until:
                pass
        value = (np.log2(params["C"]) - 3) ** 2 + (np.log2(params["gamma"]) + 5) ** 2
        return {"value": value, "worker": os.getpid()}


def trials_a_second(search: str, how: str, where: str, n_workers: int, n_trials: int, seed: int) -> float:
    """Run a study on `n_workers` workers of a kind, and return its throughput once all have started.

    It counts from when all workers have ended a trial to the last trial told.
    """
    told: list[float] = []
    workers: set[float] = set()

    def note(study: Study, trial: Trial) -> None:
        workers.add(trial.extra["worker"])
        if len(workers) == n_workers:
            told.append(time.perf_counter())

    study = Study(SPACE, cast("SearchName", search), seed, noise=False)
    if where == POOL:
        study.run(Busy(how), n_trials, n_jobs=n_workers, trial_timeout=60.0, callback=note)
    else:
        with ProcessPoolExecutor(n_workers) as executor:
            study.run(Busy(how), n_trials, executor, callback=note)
    counted = told[_SETTLING:]
    return (len(counted) - 1) / (counted[-1] - counted[0]) if len(counted) > 1 else float("nan")


def _compared(search: str, how: str, where: str, n_trials: int, repeats: int, seed: int) -> Measures:
    """Measure one and two workers in turns; return the medians and their ratio."""
    rates = np.array(
        [
            [trials_a_second(search, how, where, n_workers, n_trials, seed + repeat) for n_workers in (1, 2)]
            for repeat in range(repeats)
        ]
    )
    one, two = np.nanmedian(rates, axis=0)
    return {
        "search": search,
        "objective": how,
        "where": where,
        "one": one,
        "two": two,
        "ratio": two / one,
        "runs": float(repeats),
    }


def _cases(quick: bool, seed: int) -> list[Case]:
    n_trials, repeats = (_QUICK_TRIALS, _QUICK_REPEATS) if quick else (_TRIALS, _REPEATS)
    kinds = [("random", SLEEPING, POOL)] if quick else [
        (search, how, where) for search in ("random", "kriging") for how in (SLEEPING, COMPUTING) for where in (POOL, EXECUTOR)
    ]  # fmt: skip
    return [
        Case(f"{search}, {how}, {where}, {repeats} x {n_trials} trials, seed {seed}",
             partial(_compared, search, how, where, n_trials, repeats, seed))
        for search, how, where in kinds
    ]  # fmt: skip


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Return a row a search, objective and kind of workers: trials a second with one and with two, and their ratio."""
    return cases[["search", "objective", "where", "one", "two", "ratio", "runs"]]


def _findings(cases: pd.DataFrame) -> list[Finding]:
    return [
        Finding(f"throughput of two workers to that of one, {row.search}, {row.objective} 20 ms, {row.where}", float(row.ratio),
                f"at least {_GOAL:g}" if row.search == "random" else "",
                bool(row.ratio >= _GOAL) if row.search == "random" else None)
        for row in rows_of(cases)
    ]  # fmt: skip


def _sentence(cases: pd.DataFrame) -> str:
    parts = [
        f"{runs.ratio.min():.2f} to {runs.ratio.max():.2f} times with search={search!r}"
        for search, runs in cases.groupby("search", sort=False)
    ]
    text = f"Two workers evaluate an objective of 20 ms {' and '.join(parts)} as fast as one (medians of runs in turns)."
    if "kriging" in set(cases.search):
        suggestion = 1 / cases.one[cases.search == "kriging"].median() - SECONDS
        text += (
            f" Kriging takes {1e3 * suggestion:.0f} ms beside the objective's 20 for each trial, in one process: with two "
            f"workers the next is suggested while another is evaluated; suggestions alone allow {1 / suggestion:.0f} trials a "
            "second."
        )
    return text


THROUGHPUT = Part("throughput", "Two workers against one", _cases, _table, _findings, _sentence)
#: trials at which suggestions are timed; the last is where the record ends
_SIZES, _QUICK_SIZES = (1000, 2000, 5000, 10_000), (100, 300)
_SUGGESTIONS, _QUICK_SUGGESTIONS = 5, 2
_SEARCHES = ("random", "kriging")
_GOALS = {"tell_milliseconds": 5.0, "megabytes": 20.0, "ask_seconds": 1.0, "resume_seconds": 10.0}


def record_of(search: str, n_trials: int, n_suggestions: int) -> Measures:
    """Fill a record by random search, resume it with a search, and time what matters.

    The trials themselves come from random search, so that filling takes seconds. Of suggestions the median counts.
    """
    objective = Objective()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.db"
        tell = []
        with Study(SPACE, "random", 0, path=path, noise=False) as study:
            for _ in range(n_trials):
                trial = study.ask()
                value = objective(trial.params)
                began = time.perf_counter()
                study.tell(trial, value)
                tell.append(time.perf_counter() - began)
        megabytes = path.stat().st_size / 1e6
        gc.collect()
        began = time.perf_counter()
        with Study(SPACE, "random", 0, path=path, noise=False) as resumed:
            resumed.ask()
            resume = time.perf_counter() - began
        began = time.perf_counter()
        trials = RecordedStudy(path).trials[:n_trials]
        read = time.perf_counter() - began
    return {
        "search": search, "trials": float(n_trials), "tell_milliseconds": 1e3 * float(np.median(tell)), "megabytes": megabytes,
        "resume_seconds": resume, "read_seconds": read,
        "ask_seconds": _ask_seconds(search, [(t.params, t.value) for t in trials], n_suggestions),
    }  # fmt: skip


def _ask_seconds(search: str, told: Sequence[tuple[Mapping[str, Any], float | None]], n_suggestions: int) -> float:
    """Time suggestions of a study that has been told these trials as its starts; the first one compiles and is not counted."""
    study = Study(SPACE, cast("SearchName", search), 0, noise=False, start=[params for params, _ in told])
    for _, value in told:
        study.tell(study.ask(), float("nan") if value is None else value)
    objective, seconds = Objective(), []
    for _ in range(n_suggestions + 1):
        began = time.perf_counter()
        trial = study.ask()
        seconds.append(time.perf_counter() - began)
        study.tell(trial, objective(trial.params))
    return float(np.median(seconds[1:]))


def _size_cases(quick: bool, seed: int) -> list[Case]:
    sizes, n_suggestions = (_QUICK_SIZES, _QUICK_SUGGESTIONS) if quick else (_SIZES, _SUGGESTIONS)
    return [
        Case(f"{n} trials, {search}", partial(record_of, search, n, n_suggestions))
        for n in sizes for search in (_SEARCHES if not quick or n == sizes[-1] else _SEARCHES[:1])
    ]  # fmt: skip


def _size_table(cases: pd.DataFrame) -> pd.DataFrame:
    """Return a row a search and number of trials."""
    return cases.drop(columns="case")


def _size_findings(cases: pd.DataFrame) -> list[Finding]:
    last = cases[cases.trials == cases.trials.max()]
    n = f"with {last.trials.iloc[0]:.0f} trials in a record"
    words = {
        "tell_milliseconds": "median milliseconds to tell",
        "megabytes": "megabytes of the file",
        "ask_seconds": "seconds to suggest",
        "resume_seconds": "seconds to resume, with the first suggestion of random search",
    }
    return [
        Finding(f"{word} {n}" + (f", {row.search}" if name == "ask_seconds" else ""), float(getattr(row, name)),
                f"below {_GOALS[name]:g}", bool(getattr(row, name) < _GOALS[name]))
        for name, word in words.items() for row in rows_of(last if name == "ask_seconds" else last[:1])
    ]  # fmt: skip


def _size_sentence(cases: pd.DataFrame) -> str:
    last = cases[cases.trials == cases.trials.max()].iloc[0]
    guided = rows_of(cases[cases.search != "random"])
    asked = ", ".join(f"{row.ask_seconds:.3f} s by {row.search} at {row.trials:.0f} trials" for row in guided)
    return (
        f"At {last.trials:.0f} trials telling takes {last.tell_milliseconds:.1f} ms in the median, the file "
        f"{last.megabytes:.1f} MB, resuming {last.resume_seconds:.1f} s and reading {last.read_seconds:.1f} s; a suggestion "
        f"takes {asked}."
    )


SIZE = Part("size", "Ten thousand trials in one record", _size_cases, _size_table, _size_findings, _size_sentence)
WORKERS, QUICK_WORKERS = 256, 32
#: rounds of trials, each as many as there are workers
_ROUNDS = 5
ASYNCHRONOUS, BATCHES = "asynchronous", "batches"
#: search, mean seconds of an evaluation, and how
_CASES = (
    ("random", 1.0, ASYNCHRONOUS), ("random", 10.0, ASYNCHRONOUS), ("random", 10.0, BATCHES),
    ("kriging", 10.0, ASYNCHRONOUS), ("kriging", 30.0, ASYNCHRONOUS), ("kriging", 60.0, ASYNCHRONOUS), ("kriging", 10.0, BATCHES),
)  # fmt: skip
_QUICK_CASES = (("random", 0.25, ASYNCHRONOUS), ("random", 0.25, BATCHES))
_BUSY_GOAL = 0.95


def busy_share(search: str, mean_seconds: float, how: str, n_workers: int, n_trials: int, seed: int) -> Measures:
    """Run a study on virtual workers; return how busy they were, and the time of a suggestion.

    The durations are log-normal, with a standard deviation of 0.5 of the logarithm. "asynchronous" gives a free worker the next
    trial at once; "batches" evaluates batches of `n_workers`, one after the other.
    """
    durations = iter(log_normal_durations(seed, n_trials, mean_seconds))
    workers = VirtualWorkers(Objective(), n_workers, lambda params: next(durations), perf_counter)
    study = Study(SPACE, cast("SearchName", search), seed, noise=False)
    study.run(workers, n_trials, batch_size=n_workers if how == BATCHES else None)
    asked = np.array([trial.ask_seconds for trial in study.trials])
    return {
        "search": search, "how": how, "mean_seconds": mean_seconds, "workers": float(n_workers), "trials": float(n_trials),
        "busy": workers.busy_share(), "ask_milliseconds": 1e3 * float(np.mean(asked)),
    }  # fmt: skip


def _cluster_cases(quick: bool, seed: int) -> list[Case]:
    workers = QUICK_WORKERS if quick else WORKERS
    return [
        Case(
            f"{search}, {seconds:g} s, {how}, {workers} workers, seed {seed}",
            partial(busy_share, search, seconds, how, workers, _ROUNDS * workers, seed),
        )
        for search, seconds, how in (_QUICK_CASES if quick else _CASES)
    ]


def _cluster_table(cases: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search, mean duration and way of running."""
    return cases[["search", "how", "mean_seconds", "workers", "trials", "busy", "ask_milliseconds"]]


def _cluster_findings(cases: pd.DataFrame) -> list[Finding]:
    at_once = cases[cases.how == ASYNCHRONOUS]
    longest = at_once.loc[at_once.groupby("search", sort=False).mean_seconds.idxmax()]
    return [
        Finding(
            f"busy share of {row.workers:.0f} virtual workers, {row.search}, evaluations of {row.mean_seconds:g} s",
            float(row.busy), f"at least {_BUSY_GOAL:g}", bool(row.busy >= _BUSY_GOAL),
        )
        for row in rows_of(longest)
    ]  # fmt: skip


def _cluster_sentence(cases: pd.DataFrame) -> str:
    parts = []
    for (search, how), runs in cases.groupby(["search", "how"], sort=False):
        shares = ", ".join(f"{100 * row.busy:.1f} % at {row.mean_seconds:g} s" for row in rows_of(runs))
        parts.append(f"{search} {'in batches' if how == BATCHES else how} {shares}")
    return (
        f"{cases.workers.max():.0f} virtual workers with log-normal durations were busy, from the first start to the end of "
        f"asking: {'; '.join(parts)} (mean duration of an evaluation). A suggestion took "
        f"{cases.ask_milliseconds.min():.1f} to {cases.ask_milliseconds.max():.1f} ms in the mean, during which no other is "
        "made: that sets how short evaluations may be."
    )


CLUSTER = Part("cluster", "A simulated cluster", _cluster_cases, _cluster_table, _cluster_findings, _cluster_sentence)

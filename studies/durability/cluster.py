"""How busy a study keeps the 256 workers of a simulated cluster, asynchronously and in batches."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from time import perf_counter

import numpy as np
import pandas as pd

from spotsvm import Study
from spotsvm.callbacks import Followers
from spotsvm.run_settings import RunSettings
from spotsvm.stopper import Stopper
from spotsvm.trial_loop import run_trials
from studies.common.virtual_workers import VirtualWorkers, log_normal_durations
from studies.durability.cases import Case, Finding, Measures, Part, rows_of, without_skipped
from studies.durability.killable_runs import SPACE, Objective

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
_GOAL = 0.95


def busy_share(search: str, mean_seconds: float, how: str, n_workers: int, n_trials: int, seed: int) -> Measures:
    """Run a study on virtual workers; return how busy they were, and the time of a suggestion.

    Parameters
    ----------
    search : str
        As `Study` takes it.
    mean_seconds : float
        Mean of the log-normal durations of an evaluation, whose logarithm has a standard deviation of 0.5.
    how : {"asynchronous", "batches"}
        Whether a free worker gets the next trial at once, or batches of `n_workers` are evaluated one after the other.
    n_workers, n_trials : int
        Workers, and trials of the study.
    seed : int
        Of the study and of the durations.
    """
    durations = iter(log_normal_durations(seed, n_trials, mean_seconds))
    workers = VirtualWorkers(Objective(), n_workers, lambda params: next(durations), perf_counter)
    study = Study(SPACE, search, seed, noise=False)
    settings = RunSettings(n_trials, batch_size=n_workers if how == BATCHES else None)
    run_trials(study, workers, settings, Followers(None), Stopper(study, None))
    asked = np.array([trial.ask_seconds for trial in study.trials])
    return {
        "search": search, "how": how, "mean_seconds": mean_seconds, "workers": float(n_workers), "trials": float(n_trials),
        "busy": workers.busy_share(), "ask_milliseconds": 1e3 * float(np.mean(asked)),
    }  # fmt: skip


def _cases(quick: bool, seed: int, stack: ExitStack) -> list[Case]:
    workers = QUICK_WORKERS if quick else WORKERS
    return [
        Case(
            f"{search}, {seconds:g} s, {how}, {workers} workers, seed {seed}",
            partial(busy_share, search, seconds, how, workers, _ROUNDS * workers, seed),
        )
        for search, seconds, how in (_QUICK_CASES if quick else _CASES)
    ]


def _table(cases: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each search, mean duration and way of running."""
    runs = without_skipped(cases)
    columns = ["search", "how", "mean_seconds", "workers", "trials", "busy", "ask_milliseconds"]
    return runs[columns].reset_index(drop=True) if len(runs) else pd.DataFrame()


def _findings(cases: pd.DataFrame) -> list[Finding]:
    table = _table(cases)
    if not len(table):
        return []
    at_once = table[table.how == ASYNCHRONOUS]
    longest = at_once.loc[at_once.groupby("search", sort=False).mean_seconds.idxmax()]
    return [
        Finding(
            f"busy share of {row.workers:.0f} virtual workers, {row.search}, evaluations of {row.mean_seconds:g} s",
            float(row.busy), f"at least {_GOAL:g}", bool(row.busy >= _GOAL),
        )
        for row in rows_of(longest)
    ]  # fmt: skip


def _sentence(cases: pd.DataFrame) -> str:
    table = _table(cases)
    parts = []
    for (search, how), runs in table.groupby(["search", "how"], sort=False) if len(table) else []:
        shares = ", ".join(f"{100 * row.busy:.1f} % at {row.mean_seconds:g} s" for row in rows_of(runs))
        parts.append(f"{search} {'in batches' if how == BATCHES else how} {shares}")
    if not parts:
        return ""
    return (
        f"{table.workers.max():.0f} virtual workers with log-normal durations were busy, from the first start to the end of "
        f"asking: {'; '.join(parts)} (mean duration of an evaluation). A suggestion took "
        f"{table.ask_milliseconds.min():.1f} to {table.ask_milliseconds.max():.1f} ms in the mean, during which no other is "
        "made: that sets how short evaluations may be."
    )


CLUSTER = Part("cluster", "A simulated cluster", _cases, _table, _findings, _sentence)

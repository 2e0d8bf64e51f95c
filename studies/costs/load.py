"""The study of load: two workers compared with one, a simulated cluster, and records of ten thousand trials."""

from __future__ import annotations

import gc
import math
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy.stats import loguniform

from spotsvm import Study
from spotsvm.solvers.search.registry import SearchName
from spotsvm.studies.common.experiment import Experiment, either
from spotsvm.studies.common.jobs import Job, Row
from spotsvm.studies.common.virtual_workers import VirtualWorkers, log_normal_durations
from spotsvm.study.recorded import RecordedStudy
from spotsvm.trials.trial import Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
_SECONDS = 0.02  # time of an evaluation in the part on throughput
_SETTLING = 5  # trials left out after each worker has ended its first
SLEEPING, COMPUTING = "sleeping", "computing"
POOL, EXECUTOR = "killable workers", "ProcessPoolExecutor"
ASYNCHRONOUS, BATCHES = "asynchronous", "batches"
_ROUNDS = 5  # trials of each simulated worker


def valley(params: Mapping[str, Any]) -> float:
    """Return the value of a valley in C and gamma."""
    return (math.log2(params["C"]) - 3) ** 2 + (math.log2(params["gamma"]) + 5) ** 2


class Busy:
    """An objective of 20 ms: it sleeps, or computes for 20 ms of processor time."""

    def __init__(self, how: str):
        self.how = how

    def __call__(self, params: dict[str, Any]) -> dict[str, float]:
        """Return the value, and the process as `worker`."""
        if self.how == SLEEPING:
            time.sleep(_SECONDS)
        else:
            until = time.thread_time() + _SECONDS
            while time.thread_time() < until:
                pass
        return {"value": valley(params), "worker": os.getpid()}


def throughput(search: str, how: str, where: str, n_trials: int, repeats: int, seed: int) -> Row:
    """Measure trials per second, alternating between one and two workers; return the medians and their ratio."""
    rates = [[_trials_per_second(search, how, where, n, n_trials, seed + k) for n in (1, 2)] for k in range(repeats)]
    one, two = np.nanmedian(rates, axis=0)
    return {"search": search, "objective": how, "where": where, "one": one, "two": two, "ratio": two / one, "runs": repeats}


def _trials_per_second(search: str, how: str, where: str, n_workers: int, n_trials: int, seed: int) -> float:
    """Return the throughput from the time when each worker has ended a trial to the last trial."""
    ended: list[float] = []
    workers: set[float] = set()

    def note(study: Study, trial: Trial) -> None:
        workers.add(trial.extra["worker"])
        if len(workers) == n_workers:
            ended.append(time.perf_counter())

    study = Study(_SPACE, cast("SearchName", search), seed, noise=False)
    if where == POOL:
        study.run(Busy(how), n_trials, n_jobs=n_workers, trial_timeout=60.0, callback=note)
    else:
        with ProcessPoolExecutor(n_workers) as executor:
            study.run(Busy(how), n_trials, executor, callback=note)
    counted = ended[_SETTLING:]
    return (len(counted) - 1) / (counted[-1] - counted[0]) if len(counted) > 1 else math.nan


def busy_share(search: str, mean_seconds: float, how: str, n_workers: int, seed: int) -> Row:
    """Run a study on virtual workers; return their busy share, and the time of a suggestion.

    The durations are log-normal, and their logarithm has a standard deviation of 0.5. With "asynchronous" a free worker gets the
    next trial at once; with "batches" the workers evaluate batches of `n_workers` trials.
    """
    n_trials = _ROUNDS * n_workers
    durations = iter(log_normal_durations(seed, n_trials, mean_seconds))
    workers = VirtualWorkers(valley, n_workers, lambda params: next(durations), time.perf_counter)
    study = Study(_SPACE, cast("SearchName", search), seed, noise=False)
    study.run(workers, n_trials, batch_size=n_workers if how == BATCHES else None)
    asked = 1e3 * float(np.mean([trial.ask_seconds for trial in study.trials]))
    return {
        "search": search, "how": how, "mean_seconds": mean_seconds, "workers": n_workers, "trials": n_trials,
        "busy": workers.busy_share(), "ask_milliseconds": asked,
    }  # fmt: skip


def large_record(search: str, n_trials: int, n_suggestions: int) -> Row:
    """Time reporting to a record, resuming and reading it, and suggestions of a search that has its trials."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "many.db"
        tell = []
        with Study(_SPACE, "random", 0, path=path, noise=False) as study:
            for _ in range(n_trials):
                trial = study.ask()
                value = valley(trial.params)
                began = time.perf_counter()
                study.tell(trial, value)
                tell.append(time.perf_counter() - began)
        megabytes = path.stat().st_size / 1e6
        gc.collect()
        began = time.perf_counter()
        with Study(_SPACE, "random", 0, path=path, noise=False) as resumed:
            resumed.ask()
            resume = time.perf_counter() - began
        began = time.perf_counter()
        trials = RecordedStudy(path).trials[:n_trials]
        read = time.perf_counter() - began
    return {
        "search": search, "trials": n_trials, "tell_milliseconds": 1e3 * float(np.median(tell)), "megabytes": megabytes,
        "resume_seconds": resume, "read_seconds": read, "ask_seconds": _ask_seconds(search, trials, n_suggestions),
    }  # fmt: skip


def _ask_seconds(search: str, trials: Sequence[Trial], n_suggestions: int) -> float:
    study = Study(_SPACE, cast("SearchName", search), 0, noise=False, start=[trial.params for trial in trials])
    for recorded in trials:
        study.tell(study.ask(), math.nan if recorded.value is None else recorded.value)
    seconds = []
    for _ in range(n_suggestions + 1):
        began = time.perf_counter()
        trial = study.ask()
        seconds.append(time.perf_counter() - began)
        study.tell(trial, valley(trial.params))
    return float(np.median(seconds[1:]))  # the first suggestion compiles


#: function, cases in the quick form and cases in the full form of each part
_CASES: dict[str, tuple[Callable[..., Row], list[tuple[Any, ...]], list[tuple[Any, ...]]]] = {
    "throughput": (
        throughput,
        [("random", SLEEPING, POOL, 180, 1)],
        [(*case, 300, 7) for case in product(("random", "kriging"), (SLEEPING, COMPUTING), (POOL, EXECUTOR))],
    ),
    "cluster": (
        busy_share,
        [("random", 0.25, how, 32) for how in (ASYNCHRONOUS, BATCHES)],
        [
            *(("random", seconds, ASYNCHRONOUS, 256) for seconds in (1.0, 10.0)),
            ("random", 10.0, BATCHES, 256),
            *(("kriging", seconds, ASYNCHRONOUS, 256) for seconds in (10.0, 30.0, 60.0)),
            ("kriging", 10.0, BATCHES, 256),
        ],
    ),
    "size": (
        large_record,
        [("random", 100, 2), ("kriging", 300, 2)],
        [(search, n, 5) for n in (1000, 2000, 5000, 10_000) for search in ("random", "kriging")],
    ),
}
_TITLES = {
    "throughput": "Two workers compared with one, evaluations of 20 ms",
    "cluster": "A simulated cluster",
    "size": "Records of many trials",
}


@dataclass(kw_only=True)
class LoadStudy(Experiment):
    """Speed of a study with two workers, on a simulated cluster, and with ten thousand trials.

    Parameters
    ----------
    quick : bool, default=False
        A few cases of each part.
    n_jobs, path
        See `Experiment`.
    parts : sequence of str, default=("throughput", "cluster", "size")
        The parts to run.
    seed : int, default=0
        Seed of the measured studies.

    Raises
    ------
    ArgumentError
        If a part is unknown, or `parts` is empty.
    """

    name = "load"
    reads_data = False
    measures_times = True
    shared = ("seed",)
    _figure_caption = "A panel for each part: ratio of throughputs, busy share of the workers, seconds of a suggestion."
    _notes = (
        "Throughput is counted from the time when each worker has ended a trial to the last trial. Its figures are medians of "
        "runs that alternate between one and two workers. Cluster: the workers are virtual, but a suggestion takes its real "
        "time. The durations are log-normal, and their logarithm has a standard deviation of 0.5. The busy share is the part of "
        "the workers' time with a trial, from the first submission to the last. Size: the record has trials of random search; "
        "the measured search gets them in memory."
    )

    parts: Sequence[str] = either(tuple(_TITLES), among=_TITLES)
    seed: int = 0

    def _jobs(self) -> Iterator[Job]:
        for part in self.parts:
            function, quick, full = _CASES[part]
            for k, case in enumerate(quick if self.quick else full):
                yield Job({"part": part, "case": k}, function, case if part == "size" else (*case, self.seed))

    def part(self, name: str) -> pd.DataFrame:
        """Return the measurements of a part."""
        frame = self.frame()
        return frame[frame["part"] == name].drop(columns=["part", "case"]).dropna(axis=1, how="all").reset_index(drop=True)

    def table(self) -> pd.DataFrame:
        """Return the measurements of the first part."""
        return self.part(self.parts[0])

    def table_caption(self) -> str:
        """Return the title of the first part."""
        return _TITLES[self.parts[0]]

    def further_tables(self) -> dict[str, pd.DataFrame]:
        """Return the measurements of the other parts."""
        return {_TITLES[name]: self.part(name) for name in self.parts[1:]}

    def conclusion(self) -> str:
        """Return in words the result of each part."""
        sentences = {"throughput": on_throughput, "cluster": on_cluster, "size": on_size}
        return "\n\n".join(sentences[name](self.part(name)) for name in self.parts)

    def figure(self) -> Figure:
        """Draw a panel for each part."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(2.0 + 3.2 * len(self.parts), 3.6), layout="constrained")
        for panel, name in zip(figure.subplots(1, len(self.parts), squeeze=False)[0], self.parts, strict=True):
            cases = self.part(name)
            panel.set_title(_TITLES[name], fontsize=9)
            panel.tick_params(labelsize=7)
            panel.grid(color="0.9", lw=0.6)
            if name == "size":
                for search, runs in cases.groupby("search", sort=False):
                    panel.plot(runs["trials"], runs["ask_seconds"], "o-", ms=4, lw=1, label=str(search))
                panel.set(xscale="log", yscale="log", xlabel="trials", ylabel="seconds of a suggestion")
                panel.legend(fontsize=7, frameon=False)
                continue
            labelled = ("search", "objective", "where") if name == "throughput" else ("search", "mean_seconds", "how")
            labels = [", ".join(f"{cell:g} s" if isinstance(cell, float) else str(cell) for cell in row)
                      for row in cases[list(labelled)].itertuples(index=False)]  # fmt: skip
            panel.plot(cases["ratio" if name == "throughput" else "busy"], np.arange(len(cases)), "o", ms=4.5)
            panel.set_yticks(np.arange(len(cases)), labels)
            panel.invert_yaxis()
        return figure


def on_throughput(cases: pd.DataFrame) -> str:
    """Return in words how much faster two workers are than one."""
    ratios = [f"{runs['ratio'].min():.2f} to {runs['ratio'].max():.2f} times with search={search!r}"
              for search, runs in cases.groupby("search", sort=False)]  # fmt: skip
    text = f"Two workers evaluate an objective of 20 ms {' and '.join(ratios)} as fast as one (medians of runs in turns)."
    guided = cases[cases["search"] == "kriging"]
    if len(guided):
        suggestion = 1 / guided["one"].median() - _SECONDS
        text += (
            f" Kriging takes {1e3 * suggestion:.0f} ms for each suggestion, in one process. With two workers it suggests the "
            f"next trial during an evaluation; its maximum is {1 / suggestion:.0f} trials per second."
        )
    return text


def on_cluster(cases: pd.DataFrame) -> str:
    """Return in words the busy shares of the virtual workers."""
    parts = []
    for (search, how), runs in cases.groupby(["search", "how"], sort=False):
        shares = ", ".join(f"{100 * row['busy']:.1f} % at {row['mean_seconds']:g} s" for _, row in runs.iterrows())
        parts.append(f"{search} {'in batches' if how == BATCHES else how} {shares}")
    asked = cases["ask_milliseconds"]
    return (
        f"Busy shares of {cases['workers'].max():.0f} virtual workers with log-normal durations, from the first submission to "
        f"the last: {'; '.join(parts)} (mean duration of an evaluation). A suggestion took {asked.min():.1f} to "
        f"{asked.max():.1f} ms in the mean. Only one suggestion is made at a time, which limits the number of busy workers."
    )


def on_size(cases: pd.DataFrame) -> str:
    """Return in words the times with the largest record."""
    last = cases[cases["trials"] == cases["trials"].max()].iloc[0]
    asked = ", ".join(f"{row['ask_seconds']:.3f} s by {row['search']} at {row['trials']:.0f} trials"
                      for _, row in cases[cases["search"] != "random"].iterrows())  # fmt: skip
    return (
        f"At {last['trials']:.0f} trials `tell` takes {last['tell_milliseconds']:.1f} ms in the median, resuming "
        f"{last['resume_seconds']:.1f} s and reading {last['read_seconds']:.1f} s; the file has {last['megabytes']:.1f} MB. A "
        f"suggestion takes {asked}."
    )

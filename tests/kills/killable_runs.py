"""Runs of studies in processes of their own that may be killed: each search in each kind of run, repeatable from its seed."""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import loguniform

from spotsvm import Study, Trial
from spotsvm.searches import Domain, NestedSearch, Stage
from spotsvm.trials.objectives import Directions

SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
ONE_OBJECTIVE = ("kriging", "koch2011", "cmaes", "lbfgsb", "vns", "random", "lhs", "nested")
SEVERAL_OBJECTIVES = ("nsga2", "parego")
#: kinds of run that are repeatable, and what `Study.run` gets
KINDS: dict[str, dict[str, Any]] = {
    "sequential": {},
    "batches": {"batch_size": 3},
    "processes": {"batch_size": 3},
    "killable": {"batch_size": 2, "trial_timeout": 60.0},
    "noisy": {},
    "failing": {},
}
#: one that is not: who ends first is told first
ASYNCHRONOUS = "asynchronous"
Told = Callable[[Study, Trial], None]


class Objective:
    """A valley in C and gamma, of one or two objectives, whose evaluations are noted in a file, a byte each.

    Where `failing`, a part of the space raises, and another gives nan.
    """

    def __init__(self, n_values: int = 1, failing: bool = False, noted: str | Path | None = None):
        self.n_values, self.failing, self.noted = n_values, failing, noted

    def __call__(self, params: Mapping[str, Any]) -> Any:
        """Evaluate."""
        if self.noted is not None:
            note(self.noted, ".")
        cost, width = math.log2(params["C"]), math.log2(params["gamma"])
        if self.failing and cost < 0:
            raise ValueError(f"C={params['C']:.3g} is too small")
        if self.failing and width > 0:
            return math.nan
        value = (cost - 3) ** 2 + (width + 5) ** 2
        return {"value": value, "width": width} if self.n_values == 1 else [value, abs(cost - width)]


def note(path: str | Path, text: str) -> None:
    """Append a text to a file, such that it outlives this process and the system's next crash."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(file, text.encode())
        os.fsync(file)
    finally:
        os.close(file)


def kinds_of(search: str) -> list[str]:
    """Return the kinds of run that a search has; noise is known to searches of one objective alone."""
    return [kind for kind in KINDS if kind != "noisy" or search not in SEVERAL_OBJECTIVES]


def run_study(search: str, kind: str, seed: int, path: str | Path, told: Told, noted: str | Path | None = None) -> None:
    """Run or resume a study of a search, one of `ONE_OBJECTIVE` or `SEVERAL_OBJECTIVES`, in a kind of `KINDS` or "asynchronous".

    `told` is called with the study and each trial that has been told; evaluations are noted in a file, a byte each.
    """
    several = search in SEVERAL_OBJECTIVES
    objective = Objective(2 if several else 1, kind == "failing", noted)
    direction: Directions = ("minimize", "minimize") if several else "minimize"
    with Study(SPACE, _search(search), seed, direction=direction, path=path, noise=kind == "noisy") as study:
        n_trials = max(14, study._books.n_initial + 3)
        if kind == "noisy":
            _ask_and_tell(study, objective, n_trials, told)
        elif kind == "processes":
            with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as executor:
                study.run(objective, n_trials, executor, **KINDS[kind], callback=told)
        elif kind == ASYNCHRONOUS:
            with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as executor:
                study.run(objective, n_trials, executor, callback=told)
        else:
            study.run(objective, n_trials, **KINDS[kind], callback=told)


def _ask_and_tell(study: Study, objective: Objective, n_trials: int, told: Told) -> None:
    """Go on by hand, with noise from each trial's own seed: two evaluations of one point differ, and a repeated run has both."""
    while study.n_finished < n_trials:
        trial = study.ask()
        noise = np.random.default_rng(trial.seed).normal()
        told(study, study.tell(trial, objective(trial.params)["value"] + noise))


def _search(name: str) -> Any:
    if name != "nested":
        return name
    stages = [
        Stage(Domain.continuous(1), 6, _to_both, _to_first, name="one width"),
        Stage(Domain.continuous(2), 20, name="both"),
    ]
    return partial(NestedSearch, stages=stages, inner="vns")


def _to_both(point: Any) -> Any:
    return np.repeat(point, 2)


def _to_first(point: Any) -> Any:
    return point[:1]


_SHARED_MEMORY = 1 << 15  # bytes of a record's "-shm" file, which is as large from the start


def run_to_end(
    search: str,
    kind: str,
    seed: int,
    path: str,
    *,
    at_statement: int | None = None,
    at_byte: int | None = None,
    measures: str | None = None,
) -> None:
    """Run or resume a study, as `run_study` does, and die at a moment if one is given.

    What was told is noted in `path`.told, evaluations in `path`.evaluated, and in `path`.inside deaths within a transaction. At
    `at_statement`, the n-th SQL statement, the process is killed before it is carried out: between transactions or inside. At
    `at_byte` it ends as abruptly in the midst of the write that would let a file of the record's grow by so many bytes: inside of
    COMMIT, with the page half written. `measures` is a file for the time that it took, and numbers of statements and bytes.
    """
    counted = _Statements(at_statement, f"{path}.inside")
    if at_byte is not None:
        note(f"{path}.inside", "x")
        _limit_files(max((file.stat().st_size for file in _files(path)), default=0), at_byte)
    began = time.perf_counter()
    largest = 0

    def told(study: Study, trial: Trial) -> None:
        nonlocal largest
        note(f"{path}.told", json.dumps([trial.number, trial.state, trial.values]) + "\n")
        largest = max(largest, *(file.stat().st_size for file in _files(path)))

    run_study(search, kind, seed, path, told, f"{path}.evaluated")
    if measures is not None:
        took = {"seconds": time.perf_counter() - began, "statements": counted.seen, "bytes": largest}
        Path(measures).write_text(json.dumps(took), encoding="utf-8")


class _Statements:
    """Counts the SQL statements of all connections that this process opens, and kills it at one of them."""

    def __init__(self, last: int | None, inside: str):
        self.seen = 0
        self._last, self._inside = last, inside
        self._connect = sqlite3.connect
        sqlite3.connect = self._traced  # type: ignore[assignment]

    def _traced(self, *arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = self._connect(*arguments, **options)
        connection.set_trace_callback(partial(self._count, connection))
        return connection

    def _count(self, connection: sqlite3.Connection, statement: str) -> None:
        self.seen += 1
        if self.seen == self._last:
            if connection.in_transaction:
                note(self._inside, "x")
            os.kill(os.getpid(), signal.SIGKILL)


def _files(path: str) -> list[Path]:
    return [file for file in (Path(path), Path(f"{path}-wal")) if file.exists()]


def _limit_files(size: int, more: int) -> None:
    import resource

    limit = max(size, _SHARED_MEMORY) + more
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores


@dataclass(frozen=True)
class Ended:
    """How a process ended: its exit code, or minus the number of the signal that ended it, and how long it lived.

    `hung` is whether it was killed because it took longer than allowed; `left` the number of its own processes that did
    not end by themselves in time, where the system tells.
    """

    code: int
    seconds: float
    hung: bool
    left: int


def run_job(
    target: Callable[..., object],
    arguments: Mapping[str, Any],
    *,
    kill_after: float | None = None,
    at_most: float = 120.0,
    patience: float = 1.0,
) -> Ended:
    """Run a function in a process of its own, to its end or until it is killed with SIGKILL.

    It is killed after `kill_after` seconds, if that is given, or as hung after `at_most` seconds. Its own processes have
    `patience` seconds to end.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["killable_runs", "cma", "spotsvm.solvers.search.multi_objective.genetic_algorithm"])
    process = context.Process(target=_in_own_group, args=(target, dict(arguments)))
    process.start()
    began = time.monotonic()
    process.join(at_most if kill_after is None else kill_after)
    killed = process.is_alive()
    if killed:
        process.kill()
        process.join()
    assert process.pid is not None
    assert process.exitcode is not None
    seconds = time.monotonic() - began
    return Ended(process.exitcode, seconds, killed and kill_after is None, _end_group(process.pid, patience))


def _in_own_group(target: Callable[..., object], arguments: dict[str, Any]) -> None:
    os.setsid()  # so that what it leaves behind can be found
    target(**arguments)


def _end_group(group: int, patience: float) -> int:
    """Return how many processes of a group do not end by themselves, where the system tells, and kill them."""
    until = time.monotonic() + patience
    while (left := _n_living(group)) and time.monotonic() < until:
        time.sleep(0.02)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    return left


def _n_living(group: int) -> int:
    living = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, in_group = entry.read_text().rpartition(")")[2].split()[:3]
            living += int(in_group) == group and state != "Z"
    return living

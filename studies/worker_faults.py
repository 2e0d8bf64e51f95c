"""Faults of an objective that end its process, or should: to see what becomes of the trial, and of the study."""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from spotsvm import Study

#: configurations of the study, and the one that has the fault
N_TRIALS, FAULTY = 6, 3
#: seconds that a trial may take
TIMEOUT = 4.0
MEMORY = "300MB"
POOL, EXECUTOR, LOKY, DASK = "killable workers", "ProcessPoolExecutor", "loky", "Dask"
WHERE = (POOL, EXECUTOR, LOKY, DASK)


class UnsendableError(Exception):
    """Holds what no pickle can hold."""

    def __init__(self) -> None:
        super().__init__("it holds a lock")
        self.lock = threading.Lock()


def hang_in_libsvm() -> float:
    """Train a machine that LIBSVM does not end with; it hears no signal meanwhile."""
    from sklearn.svm import SVC

    rng = np.random.default_rng(0)
    X = 1e3 * rng.normal(size=(3000, 2))
    SVC(C=1e12, kernel="linear", tol=1e-12).fit(X, rng.integers(2, size=3000))
    return 0.0


def crash() -> float:
    """Read address 0."""
    import faulthandler

    faulthandler.disable()
    ctypes.string_at(0)
    return 0.0


def leave() -> float:
    """End the process without a word."""
    os._exit(3)


def take_memory() -> float:
    """Take memory bit by bit; where nobody has set a limit, this process sets one of 300 MB more than it has."""
    import resource

    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + 300_000_000, resource.RLIM_INFINITY))
    kept = []
    try:
        for _ in range(1000):
            kept.append(np.ones(4_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return 0.0


def return_a_lock() -> Any:
    """Return what cannot be sent."""
    return threading.Lock()


def raise_a_lock() -> float:
    """Raise what cannot be sent."""
    raise UnsendableError


def be_killed() -> float:
    """Be killed as from outside, by the system or by somebody."""
    os.kill(os.getpid(), signal.SIGKILL)
    return 0.0


FAULTS: dict[str, Callable[[], Any]] = {
    "hang in LIBSVM": hang_in_libsvm,
    "segmentation fault": crash,
    "os._exit": leave,
    "out of memory": take_memory,
    "result that cannot be pickled": return_a_lock,
    "error that cannot be pickled": raise_a_lock,
    "killed from outside": be_killed,
}


class Faulty:
    """An objective with a fault at one configuration.

    Parameters
    ----------
    fault : str
        One of `FAULTS`.
    """

    def __init__(self, fault: str):
        self.fault = fault

    def __call__(self, params: dict[str, Any]) -> Any:
        """Evaluate."""
        return FAULTS[self.fault]() if params["x"] == FAULTY else float(params["x"])


def run_with_fault(fault: str, where: str, path: str | Path) -> None:
    """Run a study of six trials, one of which has a fault, on two workers, and write what became of it as JSON.

    Parameters
    ----------
    fault : str
        One of `FAULTS`.
    where : str
        One of `WHERE`.
    path : path-like
        The file to write.
    """
    study = Study({"x": list(range(N_TRIALS))}, "random", seed=0)
    began = time.perf_counter()
    raised = ""
    stack = ExitStack()  # not left: what hangs in an executor would keep its end waiting
    try:
        study.run(Faulty(fault), N_TRIALS, trial_timeout=TIMEOUT, **_workers(where, fault, stack))
    except Exception as error:
        raised = f"{type(error).__name__}: {error}"
    faulty = next((trial for trial in study.trials if trial.params["x"] == FAULTY), None)
    became = {
        "state": faulty.state if faulty else "not asked",
        "reason": faulty.reason if faulty else "",
        "others": float(sum(trial.state == "ok" for trial in study.trials if trial is not faulty)),
        "raised": raised,
        "seconds": time.perf_counter() - began,
    }
    Path(path).write_text(json.dumps(became), encoding="utf-8")
    sys.stdout.flush()


def _workers(where: str, fault: str, stack: ExitStack) -> dict[str, Any]:
    if where == POOL:
        return {"n_jobs": 2, "memory_limit": MEMORY if fault == "out of memory" else None}
    if where == LOKY:
        return {"executor": LOKY, "n_jobs": 2}
    if where == EXECUTOR:
        return {"executor": stack.enter_context(ProcessPoolExecutor(2))}
    distributed: Any = importlib.import_module("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": "127.0.0.1:0"}
    cluster = stack.enter_context(distributed.LocalCluster(**options))
    return {"executor": stack.enter_context(distributed.Client(cluster))}

"""Open the workers that the arguments of `Study.run` ask for."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any

import numpy as np

from spotsvm.common.text import has_working_directory
from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.dask_cluster import is_dask
from spotsvm.study.workers.limits import checked_memory_limit
from spotsvm.study.workers.protocol import Here, Workers
from spotsvm.trials.evaluation import Objective


def open_workers(
    objective: Objective,
    executor: Executor | str | Any | None = None,
    *,
    n_jobs: int | None = None,
    trial_timeout: float | None = None,
    memory_limit: int | str | None = None,
) -> Workers:
    """Open the workers that evaluate an objective; the arguments are those of `Study.run`."""
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} cannot be called; use a callable that takes the parameters as a dict")
    given, n_jobs = n_jobs, checked_n_jobs(n_jobs)
    limit = None if memory_limit is None else checked_memory_limit(memory_limit)
    if executor is None:
        if n_jobs in (None, 1) and trial_timeout is None and limit is None:
            return Here(objective)
        executor, n_jobs = "loky", n_jobs or 1
    if isinstance(executor, str) and executor == "loky":
        if not has_working_directory():
            raise WorkersError(
                "the working directory has been removed, and worker processes start in it; change to an existing directory"
            )
        from spotsvm.study.workers.killable_pool import KillablePool

        return KillablePool(objective, executor_size(None, n_jobs), trial_timeout, limit)
    if is_dask(executor):
        from spotsvm.study.workers.on_dask import OnDask

        # -1 is the size of the cluster, not of this machine
        n_jobs = n_jobs if n_jobs == given else None
        return OnDask(objective, executor, n_jobs=n_jobs, trial_timeout=trial_timeout, memory_limit=limit)
    from spotsvm.study.workers.executor import OnExecutor, PolledExecutor

    if isinstance(executor, Executor):
        return OnExecutor(objective, executor, executor_size(executor, n_jobs), trial_timeout, limit)
    if isinstance(executor, str) and executor == "threading":
        n_workers = executor_size(None, n_jobs)
        return OnExecutor(objective, ThreadPoolExecutor(n_workers), n_workers, trial_timeout, limit, is_ours=True)
    if callable(getattr(executor, "submit", None)) and not isinstance(executor, type):
        polled = PolledExecutor(executor)
        return OnExecutor(objective, polled, executor_size(polled, n_jobs), trial_timeout, limit, is_ours=True)
    raise ArgumentError(
        f"executor={executor!r} cannot evaluate trials; use 'loky', 'threading' or 'dask', a concurrent.futures.Executor or "
        "another object with submit, a distributed.Client, or None for worker processes that can be killed"
    )


def checked_n_jobs(n_jobs: Any) -> int | None:
    """Return `n_jobs` as a number of trials at once, or None for None; ArgumentError if it is not valid.

    As in joblib, -1 is the number of processors that this process may use, -2 one less, and so on.
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ArgumentError(
            f"n_jobs={n_jobs!r} is not a number of trials at once; use 1 or more, or -1 for as many as there are processors"
        )
    return int(n_jobs) if n_jobs > 0 else max(_n_processors() + 1 + int(n_jobs), 1)


def executor_size(executor: Any, n_jobs: int | None) -> int:
    """Return the number of trials to submit at once: `n_jobs`, else the workers of the executor, else the processors here."""
    if n_jobs is not None:
        return n_jobs
    # `_max_workers` in the standard library and loky, `num_workers` in mpi4py
    for name in ("_max_workers", "num_workers"):
        told = getattr(executor, name, None)
        if isinstance(told, int) and told > 0:
            return int(told)
    return _n_processors()


def _n_processors() -> int:
    import joblib

    return int(joblib.cpu_count())

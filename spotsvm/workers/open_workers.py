"""Find what evaluates trials, from what `Study.run` was given."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.evaluation import Objective
from spotsvm.file_paths import has_working_directory
from spotsvm.workers.dask_client import is_dask
from spotsvm.workers.here import Here
from spotsvm.workers.memory_limit import checked_memory_limit
from spotsvm.workers.protocol import Workers
from spotsvm.workers.worker_count import checked_n_jobs, executor_size


def open_workers(
    objective: Objective,
    executor: Executor | str | Any | None = None,
    *,
    n_jobs: int | None = None,
    trial_timeout: float | None = None,
    memory_limit: int | str | None = None,
) -> Workers:
    """Open what evaluates an objective.

    Parameters
    ----------
    objective : callable
        What is evaluated.
    executor : concurrent.futures.Executor, distributed.Client, str or None, default=None
        Where. None is this process, one trial at a time; or, with more `n_jobs` or a limit, worker processes of our own, in which
        a trial can be killed. "loky" and "threading" are joblib's backends, opened for the time (see `named_workers`); "dask" is
        the Dask client in use.
    n_jobs : int, optional
        Trials at once; -1 is as many as there are processors, here or in the cluster. None is 1, and with an executor its number
        of workers.
    trial_timeout : float, optional
        Seconds that a trial may take.
    memory_limit : int or str, optional
        Memory that a trial may take, in bytes or as text such as "2GB"; see `checked_memory_limit`.

    Returns
    -------
    Workers
        A context manager.

    Raises
    ------
    ArgumentError
        If an argument makes no sense.
    WorkersError
        If processes are wanted, and the working directory has been removed.

    Examples
    --------
    >>> with open_workers(lambda params: params["x"] ** 2, "threading", n_jobs=2) as workers:
    ...     workers.submit(0, {"x": 3})
    ...     [(key, outcome.value) for key, outcome in workers.wait()]
    [(0, 9.0)]
    """
    if not callable(objective):
        raise ArgumentError(f"objective={objective!r} cannot be called; use a callable that takes the parameters as a dict")
    given, n_jobs = n_jobs, checked_n_jobs(n_jobs)
    limit = None if memory_limit is None else checked_memory_limit(memory_limit)
    if executor is None:
        if n_jobs in (None, 1) and trial_timeout is None and limit is None:
            return Here(objective)
        _check_place_for_processes()
        from spotsvm.workers.killable_pool import KillablePool

        return KillablePool(objective, n_jobs or 1, trial_timeout, limit)
    if isinstance(executor, str) and executor != "dask":
        from spotsvm.workers.named_workers import named_workers

        if executor == "loky":
            _check_place_for_processes()
        return named_workers(objective, executor, executor_size(None, n_jobs), trial_timeout, limit)
    if is_dask(executor):
        from spotsvm.workers.dask_workers import DaskWorkers

        # -1 is what the cluster has, not this machine
        n_jobs = n_jobs if n_jobs == given else None
        return DaskWorkers(objective, executor, n_jobs=n_jobs, trial_timeout=trial_timeout, memory_limit=limit)
    if not isinstance(executor, Executor):
        raise ArgumentError(
            f"executor={executor!r} is no executor; use a concurrent.futures.Executor, a distributed.Client, 'loky', "
            "'threading', 'dask', or None for worker processes that can be killed"
        )
    from spotsvm.workers.on_executor import OnExecutor

    return OnExecutor(objective, executor, executor_size(executor, n_jobs), trial_timeout, limit)


def _check_place_for_processes() -> None:
    if not has_working_directory():
        raise WorkersError(
            "the working directory has been removed, and worker processes start in it; change to a directory that is there"
        )

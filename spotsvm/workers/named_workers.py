"""Workers by joblib's names of backends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from spotsvm.errors import ArgumentError
from spotsvm.evaluation import Objective
from spotsvm.workers.killable_pool import KillablePool
from spotsvm.workers.on_executor import OnExecutor
from spotsvm.workers.protocol import Workers

NAMES = ("loky", "threading")


def named_workers(
    objective: Objective, name: str, n_workers: int, trial_timeout: float | None = None, memory_limit: int | str | None = None
) -> Workers:
    """Open workers that are closed at the end.

    Parameters
    ----------
    objective : callable
        What is evaluated.
    name : {"loky", "threading"}
        "loky": processes that do not import the user's script, each of which can be killed, as of `KillablePool`; "threading":
        threads.
    n_workers : int
        Trials at once.
    trial_timeout : float, optional
        Seconds that a trial may take.
    memory_limit : int or str, optional
        Memory that a trial may take.

    Raises
    ------
    ArgumentError
        If there is no such name, or a limit cannot be held.

    Examples
    --------
    >>> with named_workers(lambda params: params["x"] ** 2, "threading", 2) as workers:
    ...     workers.submit(0, {"x": 3})
    ...     [(key, outcome.value) for key, outcome in workers.wait()]
    [(0, 9.0)]
    """
    if name == "loky":
        return KillablePool(objective, n_workers, trial_timeout, memory_limit)
    if name == "threading":
        return OnExecutor(objective, ThreadPoolExecutor(n_workers), n_workers, trial_timeout, memory_limit, is_ours=True)
    raise ArgumentError(
        f"executor={name!r} is unknown; use {', '.join(map(repr, NAMES))} or 'dask', a concurrent.futures.Executor, "
        "a distributed.Client, or None for worker processes that can be killed"
    )

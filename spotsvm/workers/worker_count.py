"""Count workers: what `n_jobs` asks for, and what an executor has."""

from __future__ import annotations

from typing import Any

import numpy as np

from spotsvm.errors import ArgumentError


def checked_n_jobs(n_jobs: Any) -> int | None:
    """Give `n_jobs` as a number of trials at once.

    Parameters
    ----------
    n_jobs : int or None
        1 or more; or, as joblib has it, -1 for as many as this process may use processors, -2 for one less, and so on. None
        stays None.

    Raises
    ------
    ArgumentError
        If it is anything else.

    Examples
    --------
    >>> checked_n_jobs(3), checked_n_jobs(-1000)
    (3, 1)
    """
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, int | np.integer) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ArgumentError(
            f"n_jobs={n_jobs!r} is not a number of trials at once; use 1 or more, or -1 for as many as there are processors"
        )
    return int(n_jobs) if n_jobs > 0 else max(_n_processors() + 1 + int(n_jobs), 1)


def executor_size(executor: Any, n_jobs: int | None) -> int:
    """Give how many trials an executor is handed at once: `n_jobs`, else the workers it tells of, else the processors here.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> executor_size(ThreadPoolExecutor(5), None), executor_size(ThreadPoolExecutor(5), 2)
    (5, 2)
    """
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

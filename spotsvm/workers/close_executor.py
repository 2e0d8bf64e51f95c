"""Close an executor at once."""

from __future__ import annotations

from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

_PATIENCE = 1.0  # seconds that the thread of an executor may take to see that its processes are gone


def close_now(executor: Executor) -> None:
    """Close an executor, and kill its processes; a thread that is in a trial ends with that.

    Parameters
    ----------
    executor : concurrent.futures.Executor
        One of the standard library's, of threads or processes.
    """
    if not isinstance(executor, ProcessPoolExecutor):
        executor.shutdown(wait=False, cancel_futures=True)
        return
    processes = list((executor._processes or {}).values())
    thread: Any = executor._executor_manager_thread
    executor.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.kill()
    if thread is not None:  # a process that forks had better have no other threads
        thread.join(_PATIENCE)

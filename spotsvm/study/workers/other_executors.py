"""Objects that run functions elsewhere, as executors of concurrent.futures: backends of joblib, and anything with `submit`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from functools import partial
from typing import Any

from spotsvm.errors import ArgumentError

_LOOK = 0.1  # seconds between two looks at jobs that do not report their end


class JoblibExecutor(Executor):
    """A backend of joblib by its name, with `n_jobs` workers, as an executor.

    Raises ArgumentError if joblib has no such backend, or it has no workers.
    """

    def __init__(self, name: str, n_jobs: int):
        import joblib

        try:
            with joblib.parallel_config(backend=name, n_jobs=n_jobs):
                self._parallel = joblib.Parallel(n_jobs=n_jobs)
                self._backend, _ = joblib.parallel.get_active_backend()
            self._backend.configure(n_jobs=max(n_jobs, 2), parallel=self._parallel)
        except Exception as error:  # each backend has its own
            raise ArgumentError(
                f"executor={name!r} cannot evaluate trials; use 'loky', 'threading' or 'dask', or a backend of joblib that is "
                f"registered here, as by ray.util.joblib.register_ray() ({error})"
            ) from error
        if not self._backend.supports_retrieve_callback:
            raise ArgumentError(f"executor={name!r} is a backend of joblib without workers; use executor=None")
        self._max_workers = n_jobs

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a function at a worker."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()

        def done(out: Any) -> None:
            try:
                future.set_result(self._backend.retrieve_result_callback(out))
            except BaseException as error:
                future.set_exception(error)

        getattr(self._backend, "submit", self._backend.apply_async)(partial(function, *args, **kwargs), done)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Release the workers."""
        self._backend.terminate()


class PolledExecutor(Executor):
    """An object with `submit`, such as an executor of submitit, whose jobs have `done` and `result`, as an executor.

    Jobs that are futures of concurrent.futures are taken as they are; at others a thread looks ten times a second.
    """

    def __init__(self, given: Any):
        self._given = given
        for name in ("_max_workers", "num_workers"):
            if isinstance(n := getattr(given, name, None), int):
                self._max_workers = n
        self._jobs: list[tuple[Any, Future[Any]]] = []
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Submit a function."""
        job = self._given.submit(function, *args, **kwargs)
        if isinstance(job, Future):
            return job
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            self._jobs.append((job, future))
            if self._thread is None:
                self._thread = threading.Thread(target=self._look, name="spotsvm-jobs", daemon=True)
                self._thread.start()
        return future

    def _look(self) -> None:
        while True:
            with self._lock:
                jobs = list(self._jobs)
                if not jobs:
                    self._thread = None
                    return
            ended = [pair for pair in jobs if self._has_ended(*pair)]
            with self._lock:
                self._jobs = [pair for pair in self._jobs if pair not in ended]
            time.sleep(0.0 if ended else _LOOK)

    def _has_ended(self, job: Any, future: Future[Any]) -> bool:
        try:
            if not job.done():
                return False
            future.set_result(job.result())
        except Exception as error:  # each kind of job has its own
            future.set_exception(error)
        return True

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel the jobs that have not ended."""
        with self._lock:
            jobs, self._jobs = self._jobs, []
        for job, _ in jobs:
            with suppress(Exception):  # it may have ended, or cannot be cancelled
                job.cancel()

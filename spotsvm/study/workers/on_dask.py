"""Evaluate trials on a Dask cluster: each thread of its workers has a process of its own for them, which can be killed."""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
from collections import OrderedDict
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any

from spotsvm.errors import WorkersError
from spotsvm.study.workers.dask_cluster import dask_client
from spotsvm.study.workers.executor import OnExecutor, Reply, Token, payload_of
from spotsvm.study.workers.killable_pool import KillablePool
from spotsvm.study.workers.protocol import LoadingError, packed
from spotsvm.trials.evaluation import Objective
from spotsvm.trials.outcome import Outcome

_log = logging.getLogger(__name__)
#: seconds between two requests for the number of threads, and between two checks that a run goes on
_LOOK = 1.0
#: seconds after which a warning tells that there is no worker, and after which a run ends that has lost all of them
_PATIENCE, NO_WORKERS_SECONDS = 60.0, 600.0
#: seconds that the workers may take to end the processes of a run
_CLOSING = 1.0
#: processes that a thread of a worker keeps: two studies may take turns on one cluster
_MOST_POOLS = 2


class OnDask(OnExecutor):
    """Evaluate trials on the workers of a Dask cluster, as many at once as these have threads, while workers join and leave.

    Each thread has a `KillablePool` of one process, to which limits apply; Dask runs trials of a dead worker again. A run that
    has lost all workers ends after 10 minutes, or `distributed.scheduler.no-workers-timeout`.
    """

    def __init__(
        self,
        objective: Objective,
        client: Any = "dask",
        *,
        n_jobs: int | None = None,
        trial_timeout: float | None = None,
        memory_limit: int | str | None = None,
    ):
        self._client, self._n_jobs = dask_client(client), n_jobs
        self._address = str(self._client.scheduler.address)
        self._n_threads, self._looked_at, self._seen_at = 0, -_LOOK, time.monotonic()
        self._had_workers = self._warned = False
        # the processes of the workers keep the limits, so nothing is left to be checked here
        super().__init__(objective, _DaskExecutor(self._client, trial_timeout), 1, None, memory_limit, is_ours=True)
        self._shared.check_pickled()

    @property
    def n_workers(self) -> int:
        """Number of trials that can be evaluated at once now; 1 if there is no worker yet, so that one trial waits for it."""
        if time.monotonic() - self._looked_at >= _LOOK:
            self._look()
        return self._n_jobs or max(self._n_threads, 1)

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial is completed; return all that are, in the order of completion."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            left = _LOOK if until is None else min(max(until - time.monotonic(), 0.0), _LOOK)
            if completed := super().wait(left):
                return completed
            if not self._pending or (until is not None and time.monotonic() >= until):
                return []
            self._look()
            self._check_for_workers()

    def _look(self) -> None:
        """Request the number of the cluster's threads."""
        self._check_broken()
        try:
            self._n_threads = sum(self._client.nthreads().values())
        except (OSError, RuntimeError) as error:  # raised by a call on a broken connection
            raise self._gone() from error
        self._looked_at = time.monotonic()
        if self._n_threads:
            self._had_workers, self._warned, self._seen_at = True, False, self._looked_at

    def _check_for_workers(self) -> None:
        """Say once that there is no worker; raise WorkersError if there has been none for too long after the last one."""
        waited = time.monotonic() - self._seen_at
        if self._n_threads or waited < min(_PATIENCE, NO_WORKERS_SECONDS):
            return
        if self._had_workers and waited >= NO_WORKERS_SECONDS:
            raise WorkersError(
                f"the Dask cluster at {self._address} has had no worker for {waited:.3g} s, and {len(self._pending)} trials wait "
                "for one; completed trials are kept. Start workers, or a new cluster, and run again"
            )
        if not self._warned:
            _log.warning("the Dask cluster at %s has no worker; %d trials wait for one", self._address, len(self._pending))
            self._warned = True

    def _outcome_of_error(self, trial: Any, error: BaseException) -> Outcome:
        """Return the outcome for an error of Dask itself; raise WorkersError if no further trial can be evaluated."""
        self._check_broken()
        if type(error).__name__ == "NoValidWorkerError":
            raise WorkersError(
                f"no worker has appeared within distributed.scheduler.no-workers-timeout ({error}); completed trials are kept: "
                "start workers and run again"
            ) from error
        return super()._outcome_of_error(trial, error)

    def _check_broken(self) -> None:
        if self._client.status != "running":
            raise self._gone()
        super()._check_broken()

    def _gone(self) -> WorkersError:
        return WorkersError(
            f"the connection to the Dask scheduler at {self._address} is lost; completed trials are kept: run again with a "
            "client of a running cluster to resume the study"
        )

    def __exit__(self, *details: object) -> None:
        digest = self._shared.token.digest

        def close() -> None:
            with suppress(Exception):  # workers that leave at this moment
                self._client.run(close_pools, digest, on_error="ignore")

        super().__exit__(*details)
        if self._client.status == "running":
            closing = threading.Thread(target=close, name="spotsvm-close", daemon=True)
            closing.start()
            closing.join(_CLOSING)


class _DaskExecutor(Executor):
    """Dask's executor for a client, on whose workers trials run in processes of their own."""

    def __init__(self, client: Any, trial_timeout: float | None):
        self._client, self._timeout = client, trial_timeout
        self._executor = client.get_executor(pure=False)
        self._payload: Any = None

    def submit(self, _: Any, /, *args: Any, **named: Any) -> Future[Any]:
        """Run a trial at a worker; the arguments are those of `run_trial`."""
        token, _, params, memory_limit, payload = args
        if payload is not None and self._payload is None:
            self._payload = self._client.scatter([payload], hash=False)[0]
        sent = None if payload is None else self._payload
        future: Future[Any] = self._executor.submit(run_in_pool, token, params, self._timeout, memory_limit, sent)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel what runs."""
        with suppress(Exception):  # of a client that is closed, or has lost its scheduler
            self._executor.shutdown(wait=False)


# in a worker

#: the pools of a thread, by the objective and the limits
_Pools = OrderedDict[tuple[str, float | None, int | None], KillablePool]
_pools: dict[int, _Pools] = {}
_lock = threading.Lock()


def run_in_pool(token: Token, params: Any, trial_timeout: float | None, memory_limit: int | None, payload: bytes | None) -> Reply:
    """Evaluate a trial in the process of this thread, which is started if need be."""
    key = token.digest, trial_timeout, memory_limit
    with _lock:
        mine = _pools.setdefault(threading.get_ident(), OrderedDict())
        pool = mine.get(key)
    if pool is None:
        if (pickled := payload_of(token, payload)) is None:
            return Reply(needs_payload=True)
        # the workers of a nanny are daemons, which may have no children; ours die with their parent
        multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
        pool = KillablePool(pickled, 1, trial_timeout, memory_limit)
        with _lock:
            mine[key] = pool
            old = [mine.popitem(last=False)[1] for _ in range(len(mine) - _MOST_POOLS)]
        for one in old:
            one.abandon()
    try:
        pool.submit(0, params)
        while not (completed := pool.wait(_LOOK)):
            if mine.get(key) is not pool:
                return Reply(packed(Outcome("failed", reason="the run has ended", lost=True)))
    except BaseException as error:
        with _lock:
            mine.pop(key, None)
        pool.abandon()
        if isinstance(error, LoadingError):
            return Reply(load_error=error.reason)
        raise
    return Reply(packed(completed[0][1]))


def close_pools(digest: str) -> None:
    """End the processes that have an objective."""
    with _lock:
        closed = [mine.pop(key) for mine in _pools.values() for key in [*mine] if key[0] == digest]
    for pool in closed:
        pool.abandon()

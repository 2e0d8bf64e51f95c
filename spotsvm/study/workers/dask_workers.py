"""Evaluate trials on a Dask cluster."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import pickle
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import cloudpickle

from spotsvm.common.text import shown_value
from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.dask_connection import LOOK, DaskConnection, dask_client
from spotsvm.study.workers.limits import checked_memory_limit, limited_memory, one_thread, with_limit_named
from spotsvm.study.workers.protocol import in_time, packed, unpacked
from spotsvm.trials.evaluation import Objective, call
from spotsvm.trials.outcome import Outcome, failed_by, timed_out

_log = logging.getLogger(__name__)

# seconds after which a warning tells that there is no worker, or the run ends because all of them hang
_PATIENCE = 60.0
#: seconds after which a run ends on a cluster that has lost all its workers
NO_WORKERS_SECONDS = 600.0
# how often a trial is requeued because its worker was told to leave
_MAX_REQUEUES = 3
# seconds: messages are sent in batches every 2 ms, and an objective that does not release the interpreter delays them
_SEND_TIME = 0.01
# objectives that a worker process holds
_MAX_OBJECTIVES = 8


@dataclass
class _Job:
    """A trial: its number, its pickled configuration, and how often it was requeued because its worker left."""

    key: int
    params: bytes
    n_requeued: int = 0


@dataclass
class _Attempt:
    """A trial at a worker: the end of its time, its process there, and whether a nanny can kill that."""

    job: _Job
    worker: str
    future: Any = None
    deadline: float | None = None
    pid: int = 0
    nanny: bool = False


class DaskWorkers(AbstractContextManager["DaskWorkers"]):
    """Evaluate trials on the workers of a Dask cluster, as many at once as these have threads, while workers join and leave.

    Trials wait without limit for the first worker of a cluster, which may be in a queue. A cluster that has lost all its workers,
    in this run or before it, is given 10 minutes. Dask's setting `distributed.scheduler.no-workers-timeout`, such as "2 hours",
    replaces both.

    The objective is sent to each worker once, where threads share it. A trial is bound to a worker with a free thread: when that
    worker dies, the trial is returned as lost, and Dask does not run it again. When a trial exceeds `trial_timeout` seconds from
    its start, a worker with a nanny is killed, and its other trials are requeued; one without continues, and its thread is not
    counted until it ends. The threads of a worker share the sum of their memory limits. `n_jobs` is the number of trials at once,
    by default that of the cluster's threads; an adaptive cluster grows up to so many.

    Raises ArgumentError if there is no such client, it is asynchronous, or the objective cannot be pickled; any method raises
    WorkersError if the scheduler is gone, all workers hang or are lost, or a worker cannot load what is sent to it.

    References
    ----------
    M. Rocklin (2015): Dask: Parallel computation with blocked algorithms and task scheduling. Proceedings of SciPy.
    https://doi.org/10.25080/Majora-7b98e3ed-013

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(
    ...     processes=False,
    ...     n_workers=1,
    ...     threads_per_worker=2,
    ...     dashboard_address="127.0.0.1:0",
    ... ) as client:
    ...     with DaskWorkers(lambda params: params["x"] ** 2, client) as workers:
    ...         workers.submit(7, {"x": 3})
    ...         [(key, outcome.value) for key, outcome in workers.wait()]
    [(7, 9.0)]
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
        self._objective, self._timeout, self._n_jobs = objective, trial_timeout, n_jobs
        self._memory_limit = checked_memory_limit(memory_limit)
        self._numbers = itertools.count()
        self._queued: deque[_Job] = deque()
        self._pending: dict[int, _Attempt] = {}
        self._completed: list[tuple[int, Outcome]] = []
        #: attempts that were given up, but occupy a thread of a worker
        self._stuck: dict[int, str] = {}
        self._killed: set[str] = set()
        self._stuck_since: float | None = None
        self._no_workers_seconds = _no_workers_timeout()
        self._had_workers: bool | None = None
        self._warned = False
        self._cluster = DaskConnection(dask_client(client), self._on_message, self._on_worker_left)

    @property
    def n_workers(self) -> int:
        """Number of trials that can be evaluated at once now; 1 if there is no worker yet, so that one trial waits for it."""
        if self._n_jobs is not None:
            return self._n_jobs
        self._cluster.wait(0)
        return max(sum(self._capacity().values()), 1)

    def _capacity(self) -> dict[str, int]:
        """Return the threads of each worker that can take trials."""
        stuck = Counter(self._stuck.values())
        return {worker: n - stuck[worker] for worker, n in self._cluster.threads().items() if worker not in self._killed}

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Submit a trial; it starts at once, or as soon as a worker is free."""
        self._queued.append(_Job(key, cloudpickle.dumps(params)))
        self._cluster.wait(0)
        self._assign()

    def _assign(self) -> None:
        """Submit queued trials to free workers, and report to the cluster how many are left."""
        free = Counter(self._capacity()) if self._queued else Counter()
        free.subtract(Counter(attempt.worker for attempt in self._pending.values()))
        left = len(self._queued) if self._n_jobs is None else self._n_jobs - len(self._pending)
        while self._queued and left > 0 and free and max(free.values()) > 0:
            worker = max(free, key=free.__getitem__)
            self._submit_to(worker, self._queued.popleft())
            free[worker] -= 1
            left -= 1
        self._cluster.request_workers(placeholder, max(min(len(self._queued), left), 0))

    def _submit_to(self, worker: str, job: _Job) -> None:
        number = next(self._numbers)
        topic = None if self._timeout is None else self._cluster.topic
        done = partial(self._on_done, number)
        self._pending[number] = attempt = _Attempt(job, worker)
        attempt.future = self._cluster.submit(
            evaluate, self._objective, job.params, number, topic, self._memory_limit, worker=worker, done=done
        )

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial is completed; return all that are, in the order of completion."""
        until = None if timeout is None else time.monotonic() + timeout
        self._cluster.wait(0)
        while True:
            self._cluster.check()
            if self._cluster.threads():
                self._had_workers = True
            self._time_out()
            self._assign()
            if self._completed or not (self._pending or self._queued):
                break
            self._check_for_workers()
            now = time.monotonic()
            if until is not None and now >= until:
                break
            ends = [until, *(attempt.deadline for attempt in self._pending.values())]
            self._cluster.wait(max(min([LOOK, *(at - now for at in ends if at is not None)]), 0.0))
        completed, self._completed = self._completed, []
        return completed

    def _time_out(self) -> None:
        """Give up trials past their time, and kill their workers where a nanny can."""
        now = time.monotonic()
        for number, attempt in list(self._pending.items()):
            if attempt.deadline is None or now < attempt.deadline:
                continue
            del self._pending[number]
            self._cluster.cancel([attempt.future])
            self._completed.append((attempt.job.key, timed_out(self._timeout)))
            if not attempt.nanny:
                self._stuck[number] = attempt.worker
            elif attempt.worker not in self._killed:
                self._killed.add(attempt.worker)
                self._cluster.kill_worker(attempt.worker, attempt.pid)

    def _check_for_workers(self) -> None:
        """If trials are queued and none runs, log a warning once, and raise WorkersError if no worker can be expected."""
        if self._pending:
            self._stuck_since, self._warned = None, False
            return
        now = time.monotonic()
        self._stuck_since = now if self._stuck_since is None else self._stuck_since
        waited = now - self._stuck_since
        if not self._stuck:
            self._check_patience(waited)
        if waited < _PATIENCE:
            return
        if self._stuck:
            raise WorkersError(
                f"all workers of the Dask cluster at {self._cluster.address} hang past trial_timeout={self._timeout:g}, and none "
                "has a nanny that could kill it; completed trials are kept. Restart the workers, with nannies, and run again"
            )
        if not self._warned:
            _log.warning("the Dask cluster at %s has no worker; %d trials wait for one", self._cluster.address, len(self._queued))
            self._warned = True

    def _check_patience(self, waited: float) -> None:
        """Raise WorkersError if there has been no worker for too long."""
        patience = self._no_workers_seconds
        if patience is None and waited >= NO_WORKERS_SECONDS:
            if self._had_workers is None:
                self._had_workers = self._cluster.had_workers()
            patience = NO_WORKERS_SECONDS if self._had_workers else None
        if patience is not None and waited >= patience:
            raise WorkersError(
                f"the Dask cluster at {self._cluster.address} has had no worker for {patience:g} s, and {len(self._queued)} "
                "trials wait for one; completed trials are kept. Start workers, or a new cluster, and run again; if workers "
                "take longer to start, set distributed.scheduler.no-workers-timeout in Dask's configuration"
            )

    def _on_message(self, message: Mapping[str, Any]) -> None:
        """Handle the message that a task has started, and where, or that it is completed."""
        if "completed" in message:
            self._stuck.pop(message["completed"], None)
            return
        attempt = self._pending.get(message["started"])
        if attempt is not None and self._timeout is not None:
            attempt.deadline, attempt.pid, attempt.nanny = time.monotonic() + self._timeout, message["pid"], message["nanny"]

    def _on_done(self, number: int, sent: bytes | None, error: BaseException | None) -> None:
        """Handle the result of an attempt, if it is still pending."""
        attempt = self._pending.get(number)
        if attempt is None:
            return
        if error is None and sent is None:  # other studies have displaced the objective
            self._requeue(number, counted=False)
        elif sent is not None:
            del self._pending[number]
            self._completed.append((attempt.job.key, in_time(unpacked(sent), self._timeout)))
        elif getattr(error, "reason", "") == "scheduler-connection-lost":
            raise self._cluster.connection_lost() from error
        elif isinstance(error, CancelledError):
            self._requeue(number)
        elif type(error).__name__ == "KilledWorker":
            self._complete_lost(number)
        else:
            raise WorkersError(
                f"the Dask worker {attempt.worker} cannot evaluate trials: {type(error).__name__}: {error}; "
                "completed trials are kept"
            ) from error

    def _on_worker_left(self, worker: str, message: Mapping[str, Any]) -> None:
        """Complete the trials of a dead worker as lost; requeue those of one that was told to leave, or was killed."""
        there = {*message.get("processing-tasks", ()), *message.get("lost-computed-tasks", ())}
        expected = worker in self._killed or message.get("expected", False)
        self._killed.discard(worker)
        self._stuck = {number: at for number, at in self._stuck.items() if at != worker}
        for number, attempt in list(self._pending.items()):
            if attempt.worker == worker:
                # a task that arrived after the worker had left has never started
                (self._requeue if expected or attempt.future.key not in there else self._complete_lost)(number)

    def _complete_lost(self, number: int) -> None:
        attempt = self._pending.pop(number)
        self._cluster.cancel([attempt.future])
        reason = f"the Dask worker {attempt.worker} died (killed, out of memory, or a crash in compiled code)"
        self._completed.append((attempt.job.key, Outcome("failed", reason=reason, lost=True)))

    def _requeue(self, number: int, *, counted: bool = True) -> None:
        job = self._pending[number].job
        if counted and job.n_requeued >= _MAX_REQUEUES:
            self._complete_lost(number)
            return
        attempt = self._pending.pop(number)
        self._cluster.cancel([attempt.future])
        job.n_requeued += counted
        self._queued.appendleft(job)

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Return the completed trials and cancel the others."""
        with suppress(WorkersError):  # an error of the cluster has been reported before
            self._cluster.wait(0)
        completed, self._completed = self._completed, []
        self._queued.clear()
        self._cluster.request_workers(placeholder, 0)
        self._cluster.cancel([attempt.future for attempt in self._pending.values()])
        self._pending.clear()
        return completed

    def __exit__(self, *details: object) -> None:
        self._cluster.close(drop_objective)


def _no_workers_timeout() -> float | None:
    """Return the seconds after which Dask is set to give up waiting for a worker, or None."""
    import dask
    from dask.utils import parse_timedelta

    given = dask.config.get("distributed.scheduler.no-workers-timeout", None)
    try:
        seconds: float | None = parse_timedelta(given)
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"distributed.scheduler.no-workers-timeout={shown_value(given)} in Dask's configuration is not a duration; "
            "use one such as '10 min'"
        ) from error
    return seconds


# in the worker process

# by study; Dask drops copies of its data that no task waits for
_objectives: OrderedDict[str, Objective] = OrderedDict()
_lock = threading.Lock()


def evaluate(
    objective: Objective | None, study: str, params: bytes, number: int, topic: str | None, memory_limit: int | None
) -> bytes | None:
    """Evaluate one trial in a thread of a Dask worker; return its outcome, `packed`, or None if it has no objective.

    The objective is stored for the study, so that later trials pass None. If a topic is given, the start and the end are
    reported on it, with the number of the attempt.
    """
    if objective is None:
        objective = _objectives.get(study)  # another thread may drop it at any moment
        if objective is None:
            return None
    with _lock:
        _objectives[study] = objective
        _objectives.move_to_end(study)
        while len(_objectives) > _MAX_OBJECTIVES:
            _objectives.popitem(last=False)
    if topic is not None:
        from distributed import get_worker  # not above: this file is also imported without Dask, for the error that it is missing
        from distributed.utils import sync

        worker = get_worker()

        async def report() -> None:
            # a nanny, if there is one, can kill this process and start another
            worker.log_event(topic, {"started": number, "pid": os.getpid(), "nanny": bool(worker.nanny)})
            await asyncio.sleep(_SEND_TIME)

        sync(worker.loop, report)
    began = time.perf_counter()
    try:
        with one_thread():
            outcome = with_limit_named(call(objective, pickle.loads(params), limited_memory(memory_limit)), memory_limit)
    except (SystemExit, KeyboardInterrupt) as error:  # either would end the worker
        outcome = replace(failed_by(error, time.perf_counter() - began), error=None)
    finally:
        if topic is not None:
            worker.log_event(topic, {"completed": number})
    return packed(outcome)


def drop_objective(study: str) -> None:
    """Drop the objective of a study."""
    with _lock:
        _objectives.pop(study, None)


def placeholder(number: int) -> None:
    """Do nothing: no worker can run this task, which shows an adaptive cluster that it is too small."""

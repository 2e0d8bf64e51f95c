"""Evaluate trials on a Dask cluster."""

from __future__ import annotations

import itertools
import logging
import time
from collections import Counter, deque
from collections.abc import Mapping
from concurrent.futures import CancelledError
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.evaluation import Objective, Outcome, timed_out
from spotsvm.printable import shown_value
from spotsvm.workers.dask_connection import LOOK, DaskConnection, dask_client
from spotsvm.workers.dask_task import evaluate, forget, want_worker
from spotsvm.workers.memory_limit import checked_memory_limit
from spotsvm.workers.protocol import unpacked

_log = logging.getLogger(__name__)

# seconds after which it is said that no worker is there, or the run ends as all of them hang
_PATIENCE = 60.0
#: seconds after which a run ends on a cluster that has lost all its workers
NO_WORKERS_SECONDS = 600.0
# how often a trial is begun anew because its worker left as it was told to
_MOVES = 3


@dataclass
class _Job:
    """A trial: its number, its configuration pickled, and how often it was begun anew because its worker left."""

    key: int
    params: bytes
    moves: int = 0


@dataclass
class _Attempt:
    """A trial at a worker: when it began there, in which process, and whether a nanny can kill that."""

    job: _Job
    worker: str
    future: Any = None
    began: float | None = None
    pid: int = 0
    nanny: bool = False


class DaskWorkers(AbstractContextManager["DaskWorkers"]):
    """Trials on the workers of a Dask cluster, as many at once as these have threads, however they come and go.

    For the first worker of a cluster trials wait without end, as it may be in a queue. A cluster that has lost all its workers,
    in this run or before it, is given 10 minutes. Dask's setting `distributed.scheduler.no-workers-timeout`, such as "2 hours",
    takes the place of both.

    The objective is sent to each worker once. A trial is bound to a worker with a free thread: when that worker dies, the trial
    comes back as lost at its first death, and Dask does not quietly run it again.

    Parameters
    ----------
    objective : callable
        What is evaluated. Threads of a worker share it.
    client : distributed.Client or "dask"
        A client of the cluster; "dask" is the one in use.
    n_jobs : int or None, default=None
        Trials at once; None is the number of the cluster's threads. An adaptive cluster grows up to so many.
    trial_timeout : float or None, default=None
        Seconds, from its beginning in a worker, after which a trial is ended. A worker with a nanny is killed, and the nanny
        starts another; other trials in it are begun anew. One without goes on, and its thread is not counted until it ends.
    memory_limit : int, str or None, default=None
        Memory that a trial may take, see `checked_memory_limit`; the threads of a worker share the sum of theirs. Dask's own
        limit for a worker stands beside it, and a worker that its nanny kills for it has died.
    kill : bool, default=True
        Whether a worker may be killed for a trial past its time; where others use the cluster their tasks die too, and Dask
        runs them again.

    Raises
    ------
    ArgumentError
        If there is no such client, the client is asynchronous, or the objective cannot be pickled.
    WorkersError
        By any method: if the scheduler is gone, all workers hang or are lost, or a worker cannot load what is sent to it.

    References
    ----------
    M. Rocklin (2015): Dask: Parallel computation with blocked algorithms and task scheduling. Proceedings of SciPy.
    https://doi.org/10.25080/Majora-7b98e3ed-013

    Examples
    --------
    >>> from distributed import Client
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as client:
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
        kill: bool = True,
    ):
        self._objective, self._timeout, self._kill = objective, trial_timeout, kill
        self._n_jobs = n_jobs
        self._memory_limit = checked_memory_limit(memory_limit)
        self._numbers = itertools.count()
        self._waiting: deque[_Job] = deque()
        self._running: dict[int, _Attempt] = {}
        self._ended: list[tuple[int, Outcome]] = []
        #: attempts that were given up, but hold a thread of a worker
        self._hung: dict[int, str] = {}
        self._killed: set[str] = set()
        self._stuck_since: float | None = None
        self._no_workers_seconds = _no_workers_timeout()
        self._had_workers: bool | None = None
        self._warned = False
        self._cluster = DaskConnection(dask_client(client), self)

    @property
    def n_workers(self) -> int:
        """How many trials it can evaluate at once, now; 1 where no worker is there yet, for that one trial to wait for it."""
        if self._n_jobs is not None:
            return self._n_jobs
        self._cluster.wait(0)
        return max(sum(self._capacity().values()), 1)

    def _capacity(self) -> dict[str, int]:
        """Give the threads of each worker that can have trials."""
        hung = Counter(self._hung.values())
        return {worker: n - hung[worker] for worker, n in self._cluster.threads().items() if worker not in self._killed}

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Hand over a trial; it starts at once, or as soon as a worker is free."""
        self._waiting.append(_Job(key, cloudpickle.dumps(params)))
        self._cluster.wait(0)
        self._start()

    def _start(self) -> None:
        """Bind trials that wait to workers that are free, and let the cluster know how many are left."""
        free = Counter(self._capacity()) if self._waiting else Counter()
        free.subtract(Counter(attempt.worker for attempt in self._running.values()))
        left = len(self._waiting) if self._n_jobs is None else self._n_jobs - len(self._running)
        while self._waiting and left > 0 and free and max(free.values()) > 0:
            worker = max(free, key=free.__getitem__)
            self._start_at(worker, self._waiting.popleft())
            free[worker] -= 1
            left -= 1
        self._cluster.want_workers(want_worker, max(min(len(self._waiting), left), 0))

    def _start_at(self, worker: str, job: _Job) -> None:
        number = next(self._numbers)
        topic = None if self._timeout is None else self._cluster.topic
        self._running[number] = attempt = _Attempt(job, worker)
        attempt.future = self._cluster.submit(
            evaluate,
            self._objective,
            job.params,
            number,
            topic,
            self._memory_limit,
            worker=worker,
            done=lambda sent, error: self._on_done(number, sent, error),
        )

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial has ended; give all that have, in the order in which they ended."""
        until = None if timeout is None else time.monotonic() + timeout
        self._cluster.wait(0)
        while True:
            self._cluster.check()
            if self._cluster.threads():
                self._had_workers = True
            self._give_up_late()
            self._start()
            if self._ended or not (self._running or self._waiting):
                break
            self._check_for_workers()
            now = time.monotonic()
            if until is not None and now >= until:
                break
            self._cluster.wait(max(min([LOOK, *(at - now for at in [until, *self._ends()] if at is not None)]), 0.0))
        ended, self._ended = self._ended, []
        return ended

    def _ends(self) -> list[float]:
        """Give when the time of each trial that has begun is up."""
        if self._timeout is None:
            return []
        return [attempt.began + self._timeout for attempt in self._running.values() if attempt.began is not None]

    def _give_up_late(self) -> None:
        """End trials past their time, and have their workers killed where a nanny can."""
        now = time.monotonic()
        for number, attempt in list(self._running.items()):
            if self._timeout is None or attempt.began is None or now < attempt.began + self._timeout:
                continue
            del self._running[number]
            self._cluster.cancel([attempt.future])
            self._ended.append((attempt.job.key, timed_out(self._timeout)))
            if not (self._kill and attempt.nanny):
                self._hung[number] = attempt.worker
            elif attempt.worker not in self._killed:
                self._killed.add(attempt.worker)
                self._cluster.kill_worker(attempt.worker, attempt.pid)

    def _check_for_workers(self) -> None:
        """Where trials wait and none runs, say so once, and end it if nothing is left to wait for."""
        if self._running:
            self._stuck_since, self._warned = None, False
            return
        now = time.monotonic()
        self._stuck_since = now if self._stuck_since is None else self._stuck_since
        waited = now - self._stuck_since
        if not self._hung:
            self._end_without_workers(waited)
        if waited < _PATIENCE:
            return
        if self._hung:
            raise WorkersError(
                f"all workers of the Dask cluster at {self._cluster.address} hang past trial_timeout={self._timeout:g}, and none "
                "has a nanny that could kill it; everything told is kept. Restart the workers, with nannies, and run again"
            )
        if not self._warned:
            _log.warning(
                "the Dask cluster at %s has no worker; %d trials wait for one", self._cluster.address, len(self._waiting)
            )
            self._warned = True

    def _end_without_workers(self, waited: float) -> None:
        """Raise WorkersError if no worker has been there for too long."""
        patience = self._no_workers_seconds
        if patience is None and waited >= NO_WORKERS_SECONDS:
            if self._had_workers is None:
                self._had_workers = self._cluster.had_workers()
            patience = NO_WORKERS_SECONDS if self._had_workers else None
        if patience is not None and waited >= patience:
            raise WorkersError(
                f"the Dask cluster at {self._cluster.address} has had no worker for {patience:g} s, and {len(self._waiting)} "
                "trials wait for one; everything told is kept. Start workers, or a new cluster, and run again; where workers "
                "take longer to come, set distributed.scheduler.no-workers-timeout in Dask's configuration"
            )

    def on_told(self, message: Mapping[str, Any]) -> None:
        """Take what a task tells: that it has begun, and where, or that it has ended."""
        if "ended" in message:
            self._hung.pop(message["ended"], None)
            return
        attempt = self._running.get(message["began"])
        if attempt is not None:
            attempt.began, attempt.pid, attempt.nanny = time.monotonic(), message["pid"], message["nanny"]

    def _on_done(self, number: int, sent: bytes | None, error: BaseException | None) -> None:
        """Take what came of an attempt, if anybody still waits for it."""
        attempt = self._running.get(number)
        if attempt is None:
            return
        if error is None and sent is None:  # others' studies have pushed the objective out
            self._begin_anew(number, moved=False)
        elif sent is not None:
            del self._running[number]
            outcome = unpacked(sent)
            late = self._timeout is not None and (outcome.seconds or 0.0) > self._timeout
            self._ended.append((attempt.job.key, timed_out(self._timeout) if late else outcome))
        elif getattr(error, "reason", "") == "scheduler-connection-lost":
            raise self._cluster.lost() from error
        elif isinstance(error, CancelledError):
            self._begin_anew(number)
        elif type(error).__name__ == "KilledWorker":
            self._lose(number)
        else:
            raise WorkersError(
                f"the Dask worker {attempt.worker} cannot evaluate trials: {type(error).__name__}: {error}; what is told is kept"
            ) from error

    def on_worker_left(self, worker: str, message: Mapping[str, Any]) -> None:
        """Lose the trials of a worker that died; begin anew those of one that was told to leave, or that we had killed."""
        there = {*message.get("processing-tasks", ()), *message.get("lost-computed-tasks", ())}
        innocent = worker in self._killed or message.get("expected", False)
        self._killed.discard(worker)
        self._hung = {number: at for number, at in self._hung.items() if at != worker}
        for number, attempt in list(self._running.items()):
            if attempt.worker == worker:
                # a task that came too late for the worker was never in it
                (self._begin_anew if innocent or attempt.future.key not in there else self._lose)(number)

    def _lose(self, number: int) -> None:
        attempt = self._running.pop(number)
        self._cluster.cancel([attempt.future])
        reason = f"the Dask worker {attempt.worker} died (killed, out of memory, or a crash in compiled code)"
        self._ended.append((attempt.job.key, Outcome("failed", reason=reason, lost=True)))

    def _begin_anew(self, number: int, *, moved: bool = True) -> None:
        job = self._running[number].job
        if moved and job.moves >= _MOVES:
            self._lose(number)
            return
        attempt = self._running.pop(number)
        self._cluster.cancel([attempt.future])
        job.moves += moved
        self._waiting.appendleft(job)

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Give what has ended meanwhile, and cancel the rest."""
        with suppress(WorkersError):  # what broke the cluster is known by now
            self._cluster.wait(0)
        ended, self._ended = self._ended, []
        self._waiting.clear()
        self._cluster.want_workers(want_worker, 0)
        self._cluster.cancel([attempt.future for attempt in self._running.values()])
        self._running.clear()
        return ended

    def __exit__(self, *details: object) -> None:
        self._cluster.close(forget)


def _no_workers_timeout() -> float | None:
    """Return the seconds after which Dask is set to give up waiting for a worker, or None."""
    import dask
    from dask.utils import parse_timedelta

    given = dask.config.get("distributed.scheduler.no-workers-timeout", None)
    try:
        seconds: float | None = parse_timedelta(given)
    except (KeyError, TypeError, ValueError) as error:
        raise ArgumentError(
            f"distributed.scheduler.no-workers-timeout={shown_value(given)} in Dask's configuration is no time; use one, such as "
            "'10 min'"
        ) from error
    return seconds

"""A cluster that is not there: an executor of many workers, each busy for as long as chance says, on one thread."""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(order=True)
class _Task:
    due: float
    order: int
    future: Future[Any] = field(compare=False)
    call: Callable[[], Any] = field(compare=False)


class VirtualCluster(Executor):
    """An executor whose workers are a heap of times: a task ends when it is due, and is computed then, in no time.

    To a study it is a cluster of `n_workers`, of which each is busy with one task at a time; on this machine it costs a thread.
    A task that finds no worker free waits for one, in the order of submission.

    Parameters
    ----------
    n_workers : int, default=256
        At least 1.
    mean_seconds : float, default=1.0
        Mean duration of a task.
    spread : float, default=0.5
        Standard deviation of the logarithm of the durations, which are log-normal; 0 makes all equal.
    seed : int, default=0
        Of the durations: the k-th task takes the same time in each cluster of this seed.

    Attributes
    ----------
    spans : list of (float, float)
        When each task started and when it was due, in seconds of `time.monotonic`.
    submitted : list of float
        When each task was submitted.

    Examples
    --------
    >>> with VirtualCluster(4, 0.01) as cluster:
    ...     list(cluster.map(abs, [-1, -2, -3]))
    [1, 2, 3]
    """

    def __init__(self, n_workers: int = 256, mean_seconds: float = 1.0, spread: float = 0.5, seed: int = 0):
        self._max_workers = n_workers  # by which a study knows how many trials to keep running
        self._mean, self._spread, self._seed = mean_seconds, spread, seed
        self._running: list[_Task] = []
        self._waiting: deque[_Task] = deque()
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._open = True
        self.spans: list[tuple[float, float]] = []
        self.submitted: list[float] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Give a task to a worker that is free, or else to the first that will be."""
        with self._changed:
            if not self._open:
                raise RuntimeError("the cluster is shut down; it takes no more tasks")
            task = _Task(0.0, next(self._numbers), Future(), lambda: fn(*args, **kwargs))
            self.submitted.append(time.monotonic())
            if len(self._running) < self._max_workers:
                self._start(task, self.submitted[-1])
            else:
                self._waiting.append(task)
            self._changed.notify()
        return task.future

    def _start(self, task: _Task, now: float) -> None:
        if not task.future.set_running_or_notify_cancel():
            return
        task.due = now + self._duration(task.order)
        self.spans.append((now, task.due))
        heapq.heappush(self._running, task)

    def _duration(self, number: int) -> float:
        normal = np.random.default_rng([self._seed, number]).normal()
        return float(self._mean * np.exp(self._spread * normal - self._spread**2 / 2))

    def _serve(self) -> None:
        while True:
            with self._changed:
                while self._open and not (self._running and self._running[0].due <= time.monotonic()):
                    self._changed.wait(self._running[0].due - time.monotonic() if self._running else None)
                if not self._open:
                    return
                task = heapq.heappop(self._running)
                # a real worker takes the next task at once, however late this thread is
                while self._waiting and len(self._running) < self._max_workers:
                    self._start(self._waiting.popleft(), task.due)
            try:
                task.future.set_result(task.call())
            except BaseException as error:
                task.future.set_exception(error)

    def busy_share(self) -> float:
        """Give the share of the workers' time in which they had a task.

        From the start of the first task to the submission of the last: the end, at which nothing more is to be done, does not
        count, and neither does what comes before the first.
        """
        first, last = self.spans[0][0], self.submitted[-1]
        busy = sum(min(due, last) - start for start, due in self.spans if start < last)
        return busy / (self._max_workers * (last - first))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End it at once: what runs or waits is cancelled."""
        with self._changed:
            self._open = False
            left = [*self._running, *self._waiting]
            self._changed.notify()
        for task in left:
            task.future.cancel()
        if wait:
            self._thread.join()

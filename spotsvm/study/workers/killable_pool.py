"""Evaluate trials in worker processes, each of which can be killed without affecting the others.

Pebble's ProcessPool was tried in its place (5.2.3, on loky's context). A trial that ends its process with exit code 0 is
reported at its time limit or never, a pool that is closed while a worker starts prints a traceback, and what a killed trial
has started lives on.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from functools import partial
from typing import Any

import cloudpickle

from spotsvm.errors import WorkersError
from spotsvm.study.workers.limits import checked_memory_limit
from spotsvm.study.workers.process import WorkerSlot, describe_end
from spotsvm.study.workers.protocol import LoadingError, in_time, pickled_objective, unpacked
from spotsvm.trials.evaluation import Objective
from spotsvm.trials.outcome import Outcome, reason_of, timed_out

_GRACE = 0.05  # seconds that the result of a trial within its time may take to arrive
_CHECK_INTERVAL = 1.0  # seconds between two checks that the workers are alive
_STARTS = 3  # consecutive deaths of workers that are starting


class KillablePool(AbstractContextManager["KillablePool"]):
    """Evaluate trials in worker processes of its own; a trial past its time is killed, and nothing else.

    Processes do not import the user's script, ignore Ctrl-C, die with this one and use one thread; a dead one is replaced. Time
    counts from the start of the objective. WorkersError if three die in a row while they start.
    """

    def __init__(
        self,
        objective: Objective | bytes,
        n_workers: int = 1,
        trial_timeout: float | None = None,
        memory_limit: int | str | None = None,
    ):
        self.n_workers, self._timeout = n_workers, trial_timeout
        self._memory_limit = checked_memory_limit(memory_limit)
        self._payload = objective if isinstance(objective, bytes) else pickled_objective(objective)
        self._pending: set[int] = set()
        self._completed: queue.SimpleQueue[tuple[int, Outcome] | BaseException] = queue.SimpleQueue()
        # all that follows is used by the supervising thread alone, which handles one message after the other
        self._messages: queue.Queue[Callable[[], None]] = queue.Queue()
        self._queued: deque[tuple[int, bytes]] = deque()
        self._slots: list[WorkerSlot] = []
        self._failed_starts = 0
        self._closing = False
        self._thread = threading.Thread(target=self._supervise, name="spotsvm-workers", daemon=True)
        self._thread.start()

    def submit(self, key: int, params: dict[str, Any] | bytes) -> None:
        """Submit a trial, with its parameters or their pickle."""
        if self._closing:
            raise WorkersError("the workers are closed; open new ones")
        self._pending.add(key)
        try:
            sent = params if isinstance(params, bytes) else cloudpickle.dumps(params)
        except Exception as error:
            self._completed.put((key, Outcome("failed", reason=reason_of(error), error=error)))
            return
        self._messages.put(partial(self._queued.append, (key, sent)))

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial is completed; return all that are, in the order of completion."""
        found: list[tuple[int, Outcome]] = []
        with suppress(queue.Empty):
            while self._pending:
                found.append(self._next(0.0 if found else timeout))
        return found

    def _next(self, timeout: float | None) -> tuple[int, Outcome]:
        completed = self._completed.get(timeout=timeout)
        if isinstance(completed, BaseException):
            self._completed.put(completed)  # for the next call
            raise completed
        self._pending.discard(completed[0])
        return completed

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Kill the pending trials; return those completed before."""
        self.__exit__()
        self._pending.clear()
        found = [self._completed.get() for _ in range(self._completed.qsize())]
        return [completed for completed in found if not isinstance(completed, BaseException)]

    def __exit__(self, *details: object) -> None:
        self._messages.put(self._close)
        self._thread.join()

    # in the supervising thread

    def _supervise(self) -> None:
        try:
            while not self._closing:
                try:
                    self._messages.get(timeout=self._seconds_to_next_check())()
                except queue.Empty:
                    self._check_workers()
                self._assign()
        except BaseException as error:
            self._completed.put(error)
        finally:
            for slot in self._slots:
                slot.kill()
            for slot in self._slots:
                slot.join()

    def _seconds_to_next_check(self) -> float:
        if self._timeout is None:
            return _CHECK_INTERVAL
        due = [slot.started_at + self._timeout + _GRACE for slot in self._slots if slot.state == "busy"]
        return min(max(min(due, default=_CHECK_INTERVAL + time.monotonic()) - time.monotonic(), 0.0), _CHECK_INTERVAL)

    def _close(self) -> None:
        self._closing = True

    def _assign(self) -> None:
        for slot in self._slots:
            if not self._queued:
                return
            if slot.state == "ready" and slot.is_dead():
                self._replace(slot)
            elif slot.state == "ready":
                slot.evaluate(*self._queued.popleft())
        starting = sum(slot.state == "starting" for slot in self._slots)
        while len(self._queued) > starting and len(self._slots) < self.n_workers:
            self._slots.append(WorkerSlot(self._payload, self._memory_limit, self._notify, announces=not self._slots))
            starting += 1

    def _notify(self, slot: WorkerSlot, future: Future[Any]) -> None:
        self._messages.put(partial(self._handle, slot, future))

    def _handle(self, slot: WorkerSlot, future: Future[Any]) -> None:
        """Handle the reply of a process, unless it has been killed since."""
        if future is not slot.future:
            return
        error = future.exception()
        if slot.state == "starting":
            self._handle_start(slot, None if error is not None else future.result())
        elif error is not None:
            self._handle_death(slot)
        elif future.result() is None:
            self._queued.appendleft((slot.key, slot.params))
            self._replace(slot)
        else:
            sent, is_full = future.result()
            self._completed.put((slot.key, in_time(unpacked(sent), self._timeout)))
            slot.state = "ready"
            if is_full:
                self._replace(slot)

    def _handle_start(self, slot: WorkerSlot, load_error: str | None) -> None:
        if load_error:
            raise LoadingError(load_error)
        if load_error is None:
            self._failed_starts += 1
            if self._failed_starts == _STARTS:
                raise WorkersError(
                    f"worker processes died while they started, {_STARTS} times in a row: {describe_end(slot.exit_code())}; "
                    "try the objective without n_jobs, trial_timeout and memory_limit, or with fewer n_jobs"
                )
            self._replace(slot)
            return
        self._failed_starts = 0
        slot.state = "ready"

    def _handle_death(self, slot: WorkerSlot) -> None:
        reason = describe_end(slot.exit_code(), self._memory_limit)
        self._completed.put((slot.key, Outcome("failed", reason=reason, seconds=time.monotonic() - slot.started_at, lost=True)))
        self._replace(slot)

    def _check_workers(self) -> None:
        """Kill trials past their time; replace processes that died without notice."""
        now = time.monotonic()
        for slot in self._slots:
            if slot.state == "busy" and self._timeout is not None and now >= slot.started_at + self._timeout + _GRACE:
                if slot.future.done():
                    continue  # its message is under way
                self._completed.put((slot.key, timed_out(self._timeout)))
                self._replace(slot)
            elif slot.is_dead() and not slot.future.done():
                if slot.state == "starting":
                    self._handle_start(slot, None)
                else:
                    self._handle_death(slot)
            elif slot.is_dead() and slot.state == "ready":
                self._replace(slot)

    def _replace(self, slot: WorkerSlot) -> None:
        slot.kill()
        slot.start()

"""Evaluate trials in worker processes of our own, where each can be killed without touching the others."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.evaluation import Objective, Outcome, reason_of, timed_out
from spotsvm.workers.memory_limit import checked_memory_limit
from spotsvm.workers.protocol import unpacked
from spotsvm.workers.worker_slot import WorkerSlot, describe_end

_GRACE = 0.05  # seconds that a result in time may take to be heard of
_LOOK = 1.0  # seconds after which to look whether the workers live
_STARTS = 3  # times that a worker may die while it starts, one after the other


class KillablePool(AbstractContextManager["KillablePool"]):
    """Trials in worker processes of our own; a trial past its time is killed, and so is nothing else.

    The objective, with its data, is sent once to each process. The processes do not import the user's script, ignore Ctrl-C, die
    with this process, and are held to one thread each. A process that dies, or is killed, is replaced; its trial has failed.

    Parameters
    ----------
    objective : callable
        What is evaluated; lambdas and closures will do.
    n_workers : int, default=1
        Processes, at least 1; each is started when it is first needed.
    trial_timeout : float, optional
        Seconds that a trial may take, from the start of the objective: the start of a process and its imports do not count.
    memory_limit : int or str, optional
        Memory that a trial may take beyond what its process has, in bytes or as text such as "2GB"; Linux only.

    Raises
    ------
    ArgumentError
        If the objective cannot be sent to a process, or loaded there; if a limit makes no sense.
    WorkersError
        From `wait`, if the processes die while they start, again and again.

    Examples
    --------
    >>> with KillablePool(lambda params: params["x"] ** 2, 2, trial_timeout=60.0) as workers:
    ...     workers.submit(0, {"x": 3})
    ...     [(key, outcome.value) for key, outcome in workers.wait()]
    [(0, 9.0)]
    """

    def __init__(
        self,
        objective: Objective,
        n_workers: int = 1,
        trial_timeout: float | None = None,
        memory_limit: int | str | None = None,
    ):
        self.n_workers, self._timeout = n_workers, trial_timeout
        self._memory_limit = checked_memory_limit(memory_limit)
        try:
            self._payload = cloudpickle.dumps(objective)
        except Exception as error:  # what an object of the user's raises when it is pickled can be anything
            raise ArgumentError(
                f"the objective cannot be sent to a worker process: {reason_of(error)}; make what cannot be pickled inside it"
            ) from error
        self._open: set[int] = set()
        self._ended: queue.SimpleQueue[tuple[int, Outcome] | BaseException] = queue.SimpleQueue()
        # all that follows belongs to the thread alone, which does one message after the other
        self._messages: queue.Queue[Callable[[], None]] = queue.Queue()
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._slots: list[WorkerSlot] = []
        self._failed_starts = 0
        self._closing = False
        self._thread = threading.Thread(target=self._supervise, name="spotsvm-workers", daemon=True)
        self._thread.start()

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Hand over a trial."""
        if self._closing:
            raise WorkersError("the workers are closed; open new ones")
        self._open.add(key)
        try:
            sent = cloudpickle.dumps(params)
        except Exception as error:
            self._ended.put((key, Outcome("failed", reason=reason_of(error), error=error)))
            return
        self._messages.put(partial(self._take, key, sent))

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial has ended; give all that have, in the order in which they ended."""
        if not self._open:
            return []
        found = []
        try:
            found.append(self._next(timeout=timeout))
            while True:
                found.append(self._next(block=False))
        except queue.Empty:
            return found

    def _next(self, **how: Any) -> tuple[int, Outcome]:
        ended = self._ended.get(**how)
        if isinstance(ended, BaseException):
            self._ended.put(ended)  # for whoever asks again
            raise ended
        self._open.discard(ended[0])
        return ended

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Kill what is under way; give what had ended before."""
        self.__exit__()
        ended = []
        while not self._ended.empty():
            found = self._ended.get()
            if not isinstance(found, BaseException):
                ended.append(found)
        self._open.clear()
        return ended

    def __exit__(self, *details: object) -> None:
        self._messages.put(self._close)
        self._thread.join()

    # in the thread

    def _supervise(self) -> None:
        try:
            while not self._closing:
                try:
                    self._messages.get(timeout=self._until_something_is_due())()
                except queue.Empty:
                    self._look()
                self._hand_out()
        except BaseException as error:
            self._ended.put(error)
        finally:
            for slot in self._slots:
                slot.kill()
            for slot in self._slots:
                slot.join()

    def _until_something_is_due(self) -> float:
        if self._timeout is None:
            return _LOOK
        due = [slot.began + self._timeout + _GRACE for slot in self._slots if slot.state == "busy"]
        return min(max(min(due, default=_LOOK + time.monotonic()) - time.monotonic(), 0.0), _LOOK)

    def _take(self, key: int, params: bytes) -> None:
        self._waiting.append((key, params))

    def _close(self) -> None:
        self._closing = True

    def _hand_out(self) -> None:
        for slot in self._slots:
            if not self._waiting:
                return
            if slot.state == "ready" and slot.is_dead():
                self._replace(slot)
            elif slot.state == "ready":
                slot.evaluate(*self._waiting.popleft())
        starting = sum(slot.state == "starting" for slot in self._slots)
        while len(self._waiting) > starting and len(self._slots) < self.n_workers:
            self._slots.append(WorkerSlot(self._payload, self._memory_limit, self._tell))
            starting += 1

    def _tell(self, slot: WorkerSlot, future: Future[Any]) -> None:
        self._messages.put(partial(self._done, slot, future))

    def _done(self, slot: WorkerSlot, future: Future[Any]) -> None:
        """Take what a process has answered, unless it has been killed since."""
        if future is not slot.future:
            return
        error = future.exception()
        if slot.state == "starting":
            self._started(slot, None if error is not None else future.result())
        elif error is not None:
            self._died(slot)
        elif future.result() is None:
            self._waiting.appendleft((slot.key, slot.params))
            self._replace(slot)
        else:
            sent, is_full = future.result()
            outcome = unpacked(sent)
            late = self._timeout is not None and (outcome.seconds or 0.0) > self._timeout
            self._ended.put((slot.key, timed_out(self._timeout) if late else outcome))
            slot.state = "ready"
            if is_full:
                self._replace(slot)

    def _started(self, slot: WorkerSlot, trouble: str | None) -> None:
        if trouble:
            raise ArgumentError(f"the objective cannot be loaded in a worker process: {trouble}")
        if trouble is None:
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

    def _died(self, slot: WorkerSlot) -> None:
        reason = describe_end(slot.exit_code(), self._memory_limit)
        self._ended.put((slot.key, Outcome("failed", reason=reason, seconds=time.monotonic() - slot.began, lost=True)))
        self._replace(slot)

    def _look(self) -> None:
        """Kill what is past its time; replace processes that died unheard of."""
        now = time.monotonic()
        for slot in self._slots:
            if slot.state == "busy" and self._timeout is not None and now >= slot.began + self._timeout + _GRACE:
                if slot.future.done():
                    continue  # its message is on the way
                self._ended.put((slot.key, timed_out(self._timeout)))
                self._replace(slot)
            elif slot.is_dead() and not slot.future.done():
                if slot.state == "starting":
                    self._started(slot, None)
                else:
                    self._died(slot)
            elif slot.is_dead() and slot.state == "ready":
                self._replace(slot)

    def _replace(self, slot: WorkerSlot) -> None:
        slot.kill()
        slot.start()

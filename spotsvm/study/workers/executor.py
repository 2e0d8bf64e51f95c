"""Evaluate trials on an executor of concurrent.futures."""

from __future__ import annotations

import itertools
import queue
import time
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.limits import checked_memory_limit, shown
from spotsvm.study.workers.protocol import in_time
from spotsvm.study.workers.transport import Reply, SharedObjective, run_trial
from spotsvm.trials.trial import Objective, Outcome, one_line, reason_of, timed_out

_CHECK_INTERVAL = 0.05  # seconds between two checks of the time, where trials have a limit
_START = 60.0  # seconds that an executor whose workers cannot report the start of a trial may take to start it


@dataclass
class _Pending:
    """A trial that is submitted and not completed."""

    key: int
    params: bytes | dict[str, Any]
    ticket: int = -1
    future: Future[Reply] | None = None
    first_in_line: float | None = None


class OnExecutor(AbstractContextManager["OnExecutor"]):
    """Evaluate trials on an executor of the user: threads, processes, or anything else with `submit`.

    The objective, with its data, reaches each worker once. A trial past its time is given up, but cannot be killed: its worker
    stays busy, and is counted again when the trial has ended.

    Limits: see `open_workers`; that on memory is for processes alone. ArgumentError is raised if one is invalid or cannot be
    enforced, and by `wait` if the objective cannot be sent to the workers or loaded there; WorkersError if the executor is broken
    or closed, or all its workers are stuck in trials past their time. `is_ours` is whether to close the executor at the end.
    """

    def __init__(
        self,
        objective: Objective,
        executor: Executor,
        n_workers: int,
        trial_timeout: float | None = None,
        memory_limit: int | str | None = None,
        *,
        is_ours: bool = False,
    ):
        self._executor, self._size, self._timeout, self._is_ours = executor, n_workers, trial_timeout, is_ours
        self._memory_limit = checked_memory_limit(memory_limit)
        if isinstance(executor, ThreadPoolExecutor):
            self._refuse_threads()
        self._pending: dict[int, _Pending] = {}
        self._completed: list[tuple[int, Outcome]] = []
        self._done: queue.SimpleQueue[_Pending] = queue.SimpleQueue()
        self._stuck: set[Future[Reply]] = set()
        self._all_stuck_since: float | None = None
        self._broken = ""
        self._reports_start: bool | None = None
        self._has_loaded = False
        self._tickets = itertools.count()
        self._shared = SharedObjective(objective, in_threads=isinstance(executor, ThreadPoolExecutor))

    @property
    def n_workers(self) -> int:
        """Trials that it can evaluate at once, now; workers stuck in a trial past its time do not count."""
        self._stuck = {future for future in self._stuck if not future.done()}
        return max(self._size - len(self._stuck), 0)

    def submit(self, key: int, params: dict[str, Any]) -> None:
        """Submit a trial."""
        self._check_broken()
        self._pending[key] = trial = _Pending(key, params)
        with suppress(Exception):  # threads need no pickle
            trial.params = cloudpickle.dumps(params)
        self._send(trial)
        self._check_broken()

    def wait(self, timeout: float | None = None) -> list[tuple[int, Outcome]]:
        """Wait until at least one trial is completed; return all that are, in the order of completion."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            self._collect(0.0)
            if self._timeout is not None:
                self._check_times(self._timeout)
            if self._completed or not self._pending:
                completed, self._completed = self._completed, []
                return completed
            left = None if until is None else until - time.monotonic()
            if left is not None and left <= 0:
                return []
            if self._timeout is not None:
                left = _CHECK_INTERVAL if left is None else min(left, _CHECK_INTERVAL)
            self._collect(left)

    def abandon(self) -> list[tuple[int, Outcome]]:
        """Return the completed trials and cancel the others; those that have started run on in their workers, unobserved."""
        self._collect(0.0)
        self._cancel()
        completed, self._completed = self._completed, []
        return completed

    def _cancel(self) -> None:
        for trial in self._pending.values():
            if trial.future is not None:
                trial.future.cancel()
        self._pending.clear()

    def __exit__(self, *details: object) -> None:
        self._cancel()
        self._shared.__exit__()
        if self._is_ours:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def _send(self, trial: _Pending, payload: bytes | None = None) -> None:
        trial.ticket = next(self._tickets)  # not the key: a trial that was lost may be submitted again
        ticket = None if self._timeout is None else trial.ticket
        try:
            trial.future = self._executor.submit(run_trial, self._shared.token, ticket, trial.params, self._memory_limit, payload)
        except Exception as error:  # each kind of executor has its own error for being broken or closed
            self._broken = reason_of(error.with_traceback(None))
            self._pending.pop(trial.key, None)
            return
        trial.future.add_done_callback(lambda _: self._done.put(trial))

    def _collect(self, timeout: float | None) -> None:
        with suppress(queue.Empty):
            trial = self._done.get(timeout=timeout)
            while True:
                if self._pending.get(trial.key) is trial:
                    self._handle(trial)
                trial = self._done.get(block=False)

    def _handle(self, trial: _Pending) -> None:
        """Handle the result of a trial."""
        assert trial.future is not None
        try:
            reply = trial.future.result()
        except (Exception, CancelledError) as error:
            self._complete(trial, self._outcome_of_error(trial, error))
            return
        if reply.needs_payload:
            self._reports_start = False
            trial.first_in_line = None
            self._send(trial, self._shared.payload)
            return
        if reply.load_error:
            if not self._has_loaded:
                raise ArgumentError(f"the objective cannot be loaded in a worker process: {reply.load_error}")
            reason = f"the worker cannot load the objective: {reply.load_error}"
            self._complete(trial, Outcome("failed", reason=reason, lost=True))
            return
        if reply.is_thread:
            self._refuse_threads()
        self._has_loaded = True
        self._complete(trial, in_time(reply.read(), self._timeout))

    def _outcome_of_error(self, trial: _Pending, error: BaseException) -> Outcome:
        """Return the outcome for an error of the executor itself: what the objective raises is in its outcome."""
        reason = reason_of(error.with_traceback(None))  # the place in the executor does not help
        if isinstance(error, BrokenExecutor | CancelledError):
            self._broken = reason
            what = "a worker process died, and broke the executor" if isinstance(error, BrokenExecutor) else "it was cancelled"
            return Outcome("failed", reason=f"{what}: {reason}", lost=True)
        if isinstance(trial.params, dict):  # the parameters could not be pickled
            return Outcome("failed", reason=reason, error=error if isinstance(error, Exception) else None)
        return Outcome("failed", reason=f"the executor failed: {reason}", lost=True)

    def _complete(self, trial: _Pending, outcome: Outcome) -> None:
        del self._pending[trial.key]
        self._shared.forget(trial.ticket)
        self._completed.append((trial.key, outcome))

    def _check_times(self, timeout: float) -> None:
        """Give up trials past their time, and raise WorkersError if no worker is left for those that wait."""
        now = time.monotonic()
        free = self.n_workers
        for place, trial in enumerate(list(self._pending.values())):
            started_at = self._started_at(trial, now, is_first=place < free)
            if started_at is not None and now - started_at > timeout and trial.future is not None and not trial.future.done():
                self._complete(trial, timed_out(timeout))
                if not trial.future.cancel():
                    self._stuck.add(trial.future)
        if self.n_workers or not self._pending:
            self._all_stuck_since = None
            return
        self._all_stuck_since = self._all_stuck_since or now
        if now - self._all_stuck_since > max(timeout, 1.0) and not self._completed:
            raise WorkersError(
                f"all {self._size} workers of the executor are stuck in trials past trial_timeout={timeout:g} s, and only "
                "executor=None has workers that can be killed; continue without the executor, or with a new one"
            )

    def _started_at(self, trial: _Pending, now: float, *, is_first: bool) -> float | None:
        """Return when a trial started; if its worker cannot report this, when it was first in line and had time to start."""
        started_at = self._shared.started_at(trial.ticket)
        if started_at is not None:
            self._reports_start = True
            return started_at
        if self._reports_start or not is_first or trial.future is None or not trial.future.running():
            return None
        if trial.first_in_line is None:
            trial.first_in_line = now
        return trial.first_in_line + (_START if self._reports_start is None else 0.0)

    def _check_broken(self) -> None:
        if self._broken:
            raise WorkersError(f"the executor takes no more trials ({one_line(self._broken)}); continue with a new one")

    def _refuse_threads(self) -> None:
        if self._memory_limit is not None:
            raise ArgumentError(
                f"memory_limit={shown(self._memory_limit)} cannot be enforced in threads, which share their memory; "
                "use executor=None or 'loky'"
            )

"""Evaluate trials on an executor of concurrent.futures, or anything else with `submit`."""

from __future__ import annotations

import hashlib
import itertools
import os
import queue
import shutil
import tempfile
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.limits import checked_memory_limit, hold_process_to_one_thread, memory_text, one_thread
from spotsvm.study.workers.process import call_safely
from spotsvm.study.workers.protocol import LoadingError, in_time, packed, pickled_objective, unpacked
from spotsvm.trials.evaluation import Objective
from spotsvm.trials.outcome import Outcome, one_line, reason_of, timed_out

_MAX_LOADED = 2  # objectives that a worker process keeps: two studies may take turns on one executor


@dataclass(frozen=True)
class Token:
    """A reference to an objective, sent with each trial in its place.

    `name` is known to threads of the process that created it, whose id is `process`. The private `folder` holds the pickle
    "objective"; `digest` is its SHA-256: nothing else is unpickled.
    """

    name: str
    process: int
    folder: str
    digest: str


class SharedObjective(AbstractContextManager["SharedObjective"]):
    """An objective for workers of any kind: threads use it as it is, processes read it from a private file once each.

    A worker on another machine, which cannot read the file, gets `payload` once. Leaving the context removes the file. `token` is
    the reference for workers, and `started` tells when trials started, by ticket and the monotonic clock.
    """

    def __init__(self, objective: Objective, *, in_threads: bool = False):
        self.objective = objective
        self.started: dict[int, float] = {}
        self._folder = None if in_threads else Path(tempfile.mkdtemp(prefix="spotsvm-"))
        self._pickling_error: ArgumentError | None = None
        self._unwritten = b""
        digest = "" if self._folder is None else self._write(self._folder)
        self.token = Token(uuid.uuid4().hex, os.getpid(), str(self._folder or ""), digest)
        _in_this_process[self.token.name] = self

    def _write(self, folder: Path) -> str:
        """Pickle the objective and return the digest. An error is raised only when a worker turns out to be a process."""
        try:
            pickled = pickled_objective(self.objective)
        except ArgumentError as error:
            self._pickling_error = error
            return ""
        try:
            (folder / "objective").write_bytes(pickled)
        except OSError:  # a full disk: all workers then receive the payload
            self._unwritten = pickled
        return hashlib.sha256(pickled).hexdigest()

    @property
    def payload(self) -> bytes:
        """The pickle, for a worker that cannot read the file."""
        self.check_pickled()
        return self._unwritten or (Path(self.token.folder) / "objective").read_bytes()

    def check_pickled(self) -> None:
        """Raise ArgumentError if the objective cannot be pickled."""
        if self._pickling_error is not None:
            raise self._pickling_error

    def started_at(self, ticket: int) -> float | None:
        """Return the latest time at which a trial can have started, by the monotonic clock; None if no start is known."""
        if ticket not in self.started and self._folder is not None and (self._folder / f"{ticket}.started").exists():
            self.started[ticket] = time.monotonic()
        return self.started.get(ticket)

    def forget(self, ticket: int) -> None:
        """Forget the start of a completed trial."""
        if self.started.pop(ticket, None) is not None and self._folder is not None:
            (self._folder / f"{ticket}.started").unlink(missing_ok=True)

    def __exit__(self, *details: object) -> None:
        _in_this_process.pop(self.token.name, None)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


_in_this_process: dict[str, SharedObjective] = {}
_loaded: OrderedDict[str, Objective] = OrderedDict()
_lock = threading.Lock()


def shared_in_this_process(token: Token) -> SharedObjective | None:
    """Return the shared objective itself in the process that created it, and None in others, forks included."""
    return _in_this_process.get(token.name) if os.getpid() == token.process else None


def payload_of(token: Token, payload: bytes | None = None) -> bytes | None:
    """Return the pickled objective, that was sent or is in the file; None if it cannot be read here."""
    if payload is None:
        try:
            payload = (Path(token.folder) / "objective").read_bytes()
        except OSError:
            return None
    return payload if hashlib.sha256(payload).hexdigest() == token.digest else None


def load_objective(token: Token, payload: bytes | None = None) -> Objective | None:
    """Return the objective, loaded if this process has not loaded it yet; None if it cannot be read here."""
    if (shared := shared_in_this_process(token)) is not None:
        return shared.objective
    with _lock:
        if token.digest in _loaded:
            _loaded.move_to_end(token.digest)
            return _loaded[token.digest]
        if (payload := payload_of(token, payload)) is None:
            return None
        while len(_loaded) >= _MAX_LOADED:
            _loaded.popitem(last=False)
        objective: Objective = cloudpickle.loads(payload)
        _loaded[token.digest] = objective
        return objective


def report_start(token: Token, ticket: int | None) -> None:
    """Report that a trial starts now, if the process that waits for it can be reached."""
    if ticket is None:
        return
    if (shared := shared_in_this_process(token)) is not None:
        shared.started[ticket] = time.monotonic()
        return
    with suppress(OSError):  # another machine
        (Path(token.folder) / f"{ticket}.started").touch()


@dataclass(frozen=True)
class Reply:
    """The reply of a worker: the outcome, packed if it comes from another process, or the reason why there is none.

    `needs_payload` tells that the objective cannot be read there, and `load_error` is the error of unpickling it.
    """

    outcome: Outcome | bytes = b""
    needs_payload: bool = False
    load_error: str = ""
    is_thread: bool = False

    def read(self) -> Outcome:
        """Return the outcome."""
        return unpacked(self.outcome) if isinstance(self.outcome, bytes) else self.outcome


def run_trial(
    token: Token, ticket: int | None, params: bytes | dict[str, Any], memory_limit: int | None, payload: bytes | None
) -> Reply:
    """Evaluate a trial in a worker: a thread of the process that submitted it, another process, or another machine.

    `ticket` is the number by which the start is reported, and `payload` the pickled objective, for a worker that could not read
    its file.
    """
    is_thread = shared_in_this_process(token) is not None
    if is_thread and memory_limit is not None:
        return Reply(is_thread=True)
    try:
        objective = load_objective(token, payload)
    except BaseException as error:  # what an object of the user's raises when it is unpickled can be anything
        return Reply(load_error=reason_of(error))
    if objective is None:
        return Reply(needs_payload=True)
    if is_thread:
        with one_thread():
            report_start(token, ticket)
            return Reply(call_safely(objective, params), is_thread=True)
    hold_process_to_one_thread()
    report_start(token, ticket)
    return Reply(packed(call_safely(objective, params, memory_limit)))


_LOOK = 0.1  # seconds between two checks of jobs that do not report their end


class PolledExecutor(Executor):
    """An object with `submit`, such as an executor of submitit, whose jobs have `done` and `result`, as an executor.

    Jobs that are futures of concurrent.futures are used directly; a thread checks other jobs ten times a second.
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

    A trial past its time is given up, but cannot be killed: its worker is counted again when it has ended. A memory limit is for
    processes only. `is_ours` is whether to close the executor at the end.
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
        """Number of trials that can be evaluated at once now, without workers stuck in a trial past its time."""
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
                raise LoadingError(reply.load_error)
            reason = f"the worker cannot load the objective: {reply.load_error}"
            self._complete(trial, Outcome("failed", reason=reason, lost=True))
            return
        if reply.is_thread:
            self._refuse_threads()
        self._has_loaded = True
        self._complete(trial, in_time(reply.read(), self._timeout))

    def _outcome_of_error(self, trial: _Pending, error: BaseException) -> Outcome:
        """Return the outcome for an error of the executor itself: what the objective raises is in its outcome."""
        reason = reason_of(error.with_traceback(None))  # the traceback in the executor does not help
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
                f"memory_limit={memory_text(self._memory_limit)} cannot be enforced in threads, which share their memory; "
                "use executor=None or 'loky'"
            )

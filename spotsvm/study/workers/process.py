"""A worker process that can be killed and replaced, what runs in it, and a single call in one."""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal

import cloudpickle

from spotsvm.common.worker_interrupts import interrupts_blocked
from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.limits import (
    ENVIRONMENT,
    hold_process_to_one_thread,
    limited_memory,
    memory_text,
    own_memory,
    with_limit_named,
)
from spotsvm.study.workers.protocol import packed
from spotsvm.trials.evaluation import Objective, call
from spotsvm.trials.outcome import Outcome, failed_by, one_line, reason_of, traceback_of

_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_WAITS = "spotsvm.surrogates.compiled"  # logs compilation: else a worker may be silent for half a minute

OnDone = Callable[["WorkerSlot", "Future[Any]"], None]


class WorkerSlot:
    """A pool of a single process, whose death affects no other worker.

    While it is "busy", `key` and `params` (pickled) are the trial's, `started_at` is by the monotonic clock. With `announces` the
    worker says on standard error that it compiles, if this process logs that.
    """

    def __init__(self, payload: bytes, memory_limit: int | None, on_done: OnDone, announces: bool = True):
        self._payload, self._memory_limit, self._on_done = payload, memory_limit, on_done
        self._announces = announces and logging.getLogger(_WAITS).isEnabledFor(logging.INFO)
        self.key, self.params, self.started_at = -1, b"", 0.0
        self._closing: list[tuple[threading.Thread, Any]] = []
        self.start()

    def start(self) -> None:
        """Start the process, and load the objective there."""
        self.state: Literal["starting", "ready", "busy"] = "starting"  # it loads the objective
        self._process: Any = None
        self._pool = pool_of_one(self._announces, ENVIRONMENT)
        self._submit(load, self._payload, self._memory_limit)

    def evaluate(self, key: int, params: bytes) -> None:
        """Send a trial to the process, which must be ready."""
        self.state, self.key, self.params = "busy", key, params
        self.started_at = time.monotonic()
        self._submit(evaluate, params, self._memory_limit)

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            with interrupts_blocked():
                future = self._pool.submit(function, *arguments)
        except (BrokenExecutor, OSError) as error:  # it died while it was idle, or cannot be started
            future = Future()
            future.set_exception(error)
        else:
            self._process = next(iter(self._pool._processes.values()), self._process)
        self.future: Future[Any] = future
        future.add_done_callback(lambda done: self._on_done(self, done))

    def is_dead(self) -> bool:
        """Return whether the process has ended."""
        return self._process is not None and not self._process.is_alive()

    def exit_code(self) -> int | None:
        """Return the exit code of a dead process, or None if it is not known within half a second."""
        until = time.monotonic() + 0.5
        while self._process is not None and time.monotonic() < until:
            code: int | None = self._process.exitcode
            if code is not None:
                return code
            time.sleep(0.005)
        return None

    def kill(self) -> None:
        """Kill the process and those it has started; its pending future ends with an error."""
        closing = threading.Thread(target=shut_down, args=(self._pool,), daemon=True)
        closing.start()
        self._closing = [(thread, process) for thread, process in self._closing if thread.is_alive()]
        self._closing.append((closing, self._process))

    def join(self, patience: float = 5.0) -> None:
        """Wait until all that was killed is cleaned up: loky warns of what is left when the interpreter exits."""
        until = time.monotonic() + patience
        for thread, _ in self._closing:
            thread.join(max(until - time.monotonic(), 0.0))
        for _, process in self._closing:
            if process is not None and process.is_alive():
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM if os.name != "posix" else signal.SIGKILL)


def pool_of_one(announces: bool = False, environment: dict[str, str] | None = None) -> Any:
    """Return an executor with a process that starts at its first task; WorkersError where the system has no semaphores."""
    import loky  # not above: other executors use what runs in a worker, without loky

    try:
        return loky.ProcessPoolExecutor(
            1,
            context=loky.backend.get_context("loky"),
            initializer=initialize,
            initargs=(os.getpid(), announces),
            env=environment,
        )
    except (OSError, ImportError, NotImplementedError) as error:  # by what the system lacks
        why = getattr(error, "strerror", None) or one_line(str(error))
        raise WorkersError(
            f"worker processes cannot be started: the system gives no semaphores ({why}), which Linux keeps in /dev/shm; make it "
            "writable, or evaluate in this process, without n_jobs and limits of time and memory"
        ) from error


def shut_down(pool: Any) -> None:
    """Kill the processes of a pool, and wait until it and the thread that feeds them are gone."""
    queue = pool._call_queue
    pool.shutdown(wait=True, kill_workers=True)
    if queue is not None and queue._thread is not None:
        queue._reader.close()  # or its thread would wait for ever to send what nobody reads
        # it holds semaphores, which must not be half released when the interpreter exits
        queue._thread.join()


# in the worker process

_objective: Objective | None = None
_own_memory = 0


def initialize(parent: int, announces: bool = False) -> None:
    """Prepare this process: Ctrl-C, which a terminal sends to all its processes, is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)
    if announces:
        handler, logger = logging.StreamHandler(), logging.getLogger(_WAITS)
        handler.setFormatter(logging.Formatter("spotsvm: notice: a worker process is %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)


def load(payload: bytes, memory_limit: int | None) -> str:
    """Load the objective with its data; return the error, or an empty string."""
    global _objective, _own_memory
    try:
        _objective = cloudpickle.loads(payload)
    except BaseException as error:  # what an object of the user's raises when it is unpickled can be anything
        return reason_of(error)
    hold_process_to_one_thread()
    _own_memory = 0 if memory_limit is None else own_memory()
    return ""


def evaluate(params: bytes, memory_limit: int | None) -> tuple[bytes, bool] | None:
    """Evaluate one trial; return its outcome, `packed`, and whether the process holds so much memory that it should be replaced.

    None is returned if no objective has been loaded: the pool has replaced the process by itself.
    """
    if _objective is None:
        return None
    outcome = call_safely(_objective, params, memory_limit)
    sent = packed(outcome)
    del outcome  # the frames of its error hold the data of the trial
    return sent, memory_limit is not None and own_memory() - _own_memory > memory_limit


def call_safely(objective: Objective, params: bytes | dict[str, Any], memory_limit: int | None = None) -> Outcome:
    """Evaluate the objective once; an attempt to leave the interpreter becomes a failed outcome."""
    try:
        loaded = cloudpickle.loads(params) if isinstance(params, bytes) else params
    except BaseException as error:
        return Outcome("failed", reason=f"its parameters cannot be unpickled in the worker: {reason_of(error)}")
    try:
        outcome = call(objective, loaded, limited_memory(memory_limit))
    except SystemExit as error:
        code = "" if error.code is None else one_line(repr(error.code))[:80]
        reason = f"the objective left by sys.exit({code})"
        return Outcome("failed", reason=reason, error=RuntimeError("sys.exit"), traceback=traceback_of(error))
    except BaseException as error:  # such as a KeyboardInterrupt that the objective raises
        return replace(failed_by(error), error=RuntimeError(reason_of(error)))
    return with_limit_named(outcome, memory_limit)


def describe_end(exit_code: int | None, memory_limit: int | None = None) -> str:
    """Describe how a worker process died; a negative exit code is the number of the signal that killed it."""
    if exit_code is None:
        return "the worker process died"
    if exit_code >= 0:
        return f"the worker process ended with exit code {exit_code}"
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    text = f"the worker process was killed by {name}"
    if name == "SIGKILL":
        return f"{text}, as the system does where memory runs out"
    if name not in _CRASHES:
        return text
    limit = "" if memory_limit is None else f", for which memory_limit={memory_text(memory_limit)} may have been too little"
    return f"{text}, a crash in compiled code{limit}"


def die_with_parent(parent: int) -> None:
    """Let this process be killed when its parent ends.

    On Linux the system does so, even in compiled code that never returns. Elsewhere a thread checks every second, which compiled
    code that does not release the interpreter delays.
    """
    if sys.platform.startswith("linux") and ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        if os.getppid() != parent:  # it died before the call
            os._exit(1)
        return
    threading.Thread(target=_watch_parent, args=(parent,), daemon=True).start()


def _watch_parent(parent: int, interval: float = 1.0) -> None:
    while os.getppid() == parent:
        time.sleep(interval)
    os._exit(1)


class TimeUpError(TimeoutError):
    """A call exceeded its time limit."""


def call_within(function: Callable[[], Any], seconds: float) -> Any:
    """Call a function in a worker process and return its result; it may take `seconds`, without start and imports.

    TimeUpError, and the process is killed, if the time is up; WorkersError if it dies. It ignores Ctrl-C, which ends the wait,
    and so the process.
    """
    try:
        sent = cloudpickle.dumps(function)
    except Exception as error:  # pickling an object of the user can raise anything
        raise ArgumentError(f"{function!r} cannot be sent to a worker process: {reason_of(error)}") from error
    pool = pool_of_one()
    try:
        with interrupts_blocked():  # the process starts with its first task
            loading = pool.submit(_load, sent)
        if why := loading.result():
            raise ArgumentError(f"{function!r} cannot be loaded in a worker process: {why}")
        future = pool.submit(_call)
        if not wait([future], seconds).done:
            raise TimeUpError(f"the call took longer than {seconds:g} s")
        returned = future.result()
    except BrokenExecutor as error:
        raise WorkersError(f"the worker process died: {reason_of(error.with_traceback(None))}") from error
    finally:
        shut_down(pool)
    return cloudpickle.loads(returned)


# in the worker process

_function: Callable[[], Any]


def _load(sent: bytes) -> str:
    global _function
    try:
        _function = cloudpickle.loads(sent)
    except BaseException as error:  # what an object of the user's raises when it is unpickled can be anything
        return reason_of(error)
    return ""


def _call() -> bytes:
    returned: bytes = cloudpickle.dumps(_function())
    return returned

"""One worker process of ours, which can be killed, and is then replaced."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import Any, Literal

import cloudpickle

from spotsvm.evaluation import Objective, Outcome, call, one_line, reason_of
from spotsvm.workers.memory_limit import limited_memory, own_memory, shown, with_limit_named
from spotsvm.workers.one_thread import ENVIRONMENT, hold_process_to_one_thread
from spotsvm.workers.protocol import packed

_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")
_PR_SET_PDEATHSIG = 1  # linux/prctl.h

Ended = Callable[["WorkerSlot", "Future[Any]"], None]


class WorkerSlot:
    """A pool of a single process: killing it, or its death, touches no other worker.

    Parameters
    ----------
    ended : callable
        Called with the slot and a future that is done, in a thread of the pool's.

    Attributes
    ----------
    state : {"starting", "ready", "busy"}
        Whether it loads the objective, waits for a trial, or evaluates one.
    key : int
        The trial, while it is busy.
    params : bytes
        Its parameters, pickled.
    began : float
        When the trial was handed to the worker, which was waiting for it, by the monotonic clock.
    """

    def __init__(self, payload: bytes, memory_limit: int | None, ended: Ended):
        self._payload, self._memory_limit, self._ended = payload, memory_limit, ended
        self.key, self.params, self.began = -1, b"", 0.0
        self._closing: list[tuple[threading.Thread, Any]] = []
        self.start()

    def start(self) -> None:
        """Start the process, and load the objective there."""
        import loky  # not above: executors of others need what runs in a worker, and no loky

        self.state: Literal["starting", "ready", "busy"] = "starting"
        self._process: Any = None
        self._pool = loky.ProcessPoolExecutor(
            1,
            context=loky.backend.get_context("loky"),
            initializer=begin,
            initargs=(os.getpid(),),
            env=ENVIRONMENT,
        )
        _hold_back_interrupts()
        self._follow(load, self._payload, self._memory_limit)

    def evaluate(self, key: int, params: bytes) -> None:
        """Hand a trial to the process, which must be ready."""
        self.state, self.key, self.params = "busy", key, params
        self.began = time.monotonic()
        self._follow(evaluate, params, self._memory_limit)

    def _follow(self, function: Callable[..., Any], *arguments: Any) -> None:
        try:
            future = self._pool.submit(function, *arguments)
        except (BrokenExecutor, OSError) as error:  # it died while it was idle, or cannot be started
            future = Future()
            future.set_exception(error)
        else:
            self._process = next(iter(self._pool._processes.values()), self._process)
        self.future: Future[Any] = future
        future.add_done_callback(lambda done: self._ended(self, done))

    def is_dead(self) -> bool:
        """Tell whether the process has ended."""
        return self._process is not None and not self._process.is_alive()

    def exit_code(self, patience: float = 0.5) -> int | None:
        """Give the exit code of a process that has died, or None if the system does not tell within `patience` seconds."""
        until = time.monotonic() + patience
        while self._process is not None and time.monotonic() < until:
            code: int | None = self._process.exitcode
            if code is not None:
                return code
            time.sleep(0.005)
        return None

    def kill(self) -> None:
        """Kill the process and those it has started; what is under way on it ends with an error."""
        closing = threading.Thread(target=_shut_down, args=(self._pool,), daemon=True)
        closing.start()
        self._closing = [(thread, process) for thread, process in self._closing if thread.is_alive()]
        self._closing.append((closing, self._process))

    def join(self, patience: float = 5.0) -> None:
        """Wait until all that was killed is gone and tidied up: of what is left as the interpreter ends loky complains."""
        until = time.monotonic() + patience
        for thread, _ in self._closing:
            thread.join(max(until - time.monotonic(), 0.0))
        for _, process in self._closing:
            if process is not None and process.is_alive():
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGTERM if os.name != "posix" else signal.SIGKILL)


def _shut_down(pool: Any) -> None:
    """Kill the processes of a pool, and wait until it and the thread that feeds them are gone."""
    queue = pool._call_queue
    pool.shutdown(wait=True, kill_workers=True)
    if queue is not None and queue._thread is not None:
        queue._reader.close()  # or it would wait for ever to get rid of what nobody reads
        # what it holds are semaphores, which must not be half gone as the interpreter ends
        queue._thread.join()


def _hold_back_interrupts() -> None:
    """Hold Ctrl-C back in this thread: the process that it starts next inherits that, and so gets none before it ignores it."""
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # it lets Ctrl-C through again when it starts
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


# in the worker process

_objective: Objective | None = None
_own_memory = 0


def begin(parent: int) -> None:
    """Prepare this process: Ctrl-C, which a terminal sends to all its processes, is the parent's to answer."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent(parent)


def load(payload: bytes, memory_limit: int | None) -> str:
    """Load the objective, with its data; give why it cannot be, or nothing."""
    global _objective, _own_memory
    try:
        _objective = cloudpickle.loads(payload)
    except BaseException as error:  # what an object of the user's raises when it is unpickled can be anything
        return reason_of(error)
    hold_process_to_one_thread()
    _own_memory = 0 if memory_limit is None else own_memory()
    return ""


def evaluate(params: bytes, memory_limit: int | None) -> tuple[bytes, bool] | None:
    """Evaluate one trial.

    Returns
    -------
    tuple of (bytes, bool) or None
        The outcome, `packed`, and whether the process now keeps so much more than its own that it had better be replaced; None
        where no objective has been loaded: the pool has replaced the process by itself.
    """
    if _objective is None:
        return None
    outcome = call_to_the_end(_objective, params, memory_limit)
    sent = packed(outcome)
    del outcome  # the frames of its error hold what the trial made
    return sent, memory_limit is not None and own_memory() - _own_memory > memory_limit


def call_to_the_end(objective: Objective, params: bytes | dict[str, Any], memory_limit: int | None = None) -> Outcome:
    """Evaluate the objective once; whatever it does to end the process becomes a failed outcome, short of ending it.

    Parameters
    ----------
    objective : callable
        What is evaluated.
    params : bytes or dict
        The configuration, pickled or not.
    memory_limit : int, optional
        Bytes that it may take beyond what the process has.
    """
    try:
        loaded = cloudpickle.loads(params) if isinstance(params, bytes) else params
    except BaseException as error:
        return Outcome("failed", reason=f"its parameters cannot be unpickled in the worker: {reason_of(error)}")
    try:
        outcome = call(objective, loaded, limited_memory(memory_limit))
    except SystemExit as error:
        return Outcome("failed", reason=f"the objective left by sys.exit({_code(error)})", error=RuntimeError("sys.exit"))
    except BaseException as error:  # KeyboardInterrupt of the objective's own making, and the like
        return Outcome("failed", reason=reason_of(error), error=RuntimeError(reason_of(error)))
    return with_limit_named(outcome, memory_limit)


def _code(error: SystemExit) -> str:
    return "" if error.code is None else one_line(repr(error.code))[:80]


def describe_end(exit_code: int | None, memory_limit: int | None = None) -> str:
    """Say how a worker process died.

    Parameters
    ----------
    exit_code : int or None
        Of the process; a negative one is the number of the signal that killed it.
    memory_limit : int, optional
        The limit that was set.

    Examples
    --------
    >>> describe_end(-11)
    'the worker process was killed by SIGSEGV, a crash in compiled code'
    >>> describe_end(3)
    'the worker process ended with exit code 3'
    """
    if exit_code is None:
        return "the worker process died"
    if exit_code >= 0:
        return f"the worker process ended with exit code {exit_code}"
    name = _signal_name(-exit_code)
    said = f"the worker process was killed by {name}"
    if name == "SIGKILL":
        return f"{said}, as the system does where memory runs out"
    if name not in _CRASHES:
        return said
    limit = "" if memory_limit is None else f", for which memory_limit={shown(memory_limit)} may have been too little"
    return f"{said}, a crash in compiled code{limit}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def die_with_parent(parent: int) -> None:
    """See to it that this process is killed when its parent is gone.

    On Linux the system does so, be this process in compiled code that never returns. Elsewhere a thread looks every second, which
    compiled code that does not let other threads run can hold up.

    Parameters
    ----------
    parent : int
        The parent's process id.
    """
    if sys.platform.startswith("linux") and ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        if os.getppid() != parent:  # it died before the call
            os._exit(1)
        return
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int, interval: float = 1.0) -> None:
    while os.getppid() == parent:
        time.sleep(interval)
    os._exit(1)

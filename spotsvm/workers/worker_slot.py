"""One worker process of ours, which can be killed, and is then replaced."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Future
from contextlib import suppress
from multiprocessing import resource_tracker
from typing import Any, Literal

import loky

from spotsvm.workers import worker_process
from spotsvm.workers.one_thread import ENVIRONMENT

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
        self.state: Literal["starting", "ready", "busy"] = "starting"
        self._process: Any = None
        self._pool = loky.ProcessPoolExecutor(
            1,
            context=loky.backend.get_context("loky"),
            initializer=worker_process.begin,
            initargs=(os.getpid(),),
            env=ENVIRONMENT,
        )
        _hold_back_interrupts()
        self._follow(worker_process.load, self._payload, self._memory_limit)

    def evaluate(self, key: int, params: bytes) -> None:
        """Hand a trial to the process, which must be ready."""
        self.state, self.key, self.params = "busy", key, params
        self.began = time.monotonic()
        self._follow(worker_process.evaluate, params, self._memory_limit)

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

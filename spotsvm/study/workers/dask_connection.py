"""Connections to a Dask cluster: its current workers, its tasks and its messages."""

from __future__ import annotations

import logging
import os
import queue
import signal
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError

_log = logging.getLogger(__name__)
#: seconds between two requests for the list of workers
LOOK = 1.0
_CLOSING = 5.0
_FETCHING = 4
_FORGETTING = 1.0


class DaskConnection:
    """A connection of a study to a Dask cluster, by its own client: the user's client may have handlers of the same topics.

    `name` is unique, `topic` is for the messages of tasks, and `address` is that of the scheduler. Events are handled in the
    thread that calls `wait`: a message on the topic by `on_message`, and the end of a worker by `on_worker_left`, with the
    message of the scheduler, or an empty one if that was missed.
    """

    def __init__(
        self,
        client: Any,
        on_message: Callable[[Mapping[str, Any]], None],
        on_worker_left: Callable[[str, Mapping[str, Any]], None],
    ):
        self._given = client
        self.address = str(client.scheduler.address)
        self._client = connect(self.address, "executor: the cluster at", security=client.security)
        self.name = uuid.uuid4().hex
        self.topic = f"spotsvm-{self.name}"
        self._on_worker_left = on_worker_left
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._fetching = ThreadPoolExecutor(_FETCHING, thread_name_prefix="spotsvm-fetch")
        self._threads: dict[str, int] = {}
        self._missing: set[str] = set()
        self._paused: set[str] = set()
        self._with_objective: set[str] = set()
        self._looked_at = -LOOK
        self._data: Any = None
        self._placeholders: list[Any] = []
        self._requested_at = -LOOK
        self._n_submitted = 0
        self._client.subscribe_topic(self.topic, lambda event: self._inbox.put(partial(on_message, event[1])))

    def threads(self) -> dict[str, int]:
        """Return the addresses of the workers that take tasks, each with its number of threads."""
        if time.monotonic() - self._looked_at >= LOOK:
            self._look()
        return {worker: n for worker, n in self._threads.items() if worker not in self._paused}

    def had_workers(self) -> bool:
        """Return whether the scheduler remembers a worker of this run or of an earlier one."""
        try:
            events = self._client.get_events("all")
        except (OSError, RuntimeError) as error:
            raise self.connection_lost(error) from error
        return any(isinstance(event, dict) and event.get("action") == "add-worker" for _, event in events)

    def _look(self) -> None:
        """Request the list of workers, and subscribe to the topic of each, which reports at once when it leaves."""
        self.check()
        try:
            found = dict(self._client.nthreads())
        except (OSError, RuntimeError) as error:  # raised by a call on a broken connection
            raise self.connection_lost(error) from error
        self._looked_at = time.monotonic()
        for worker in found.keys() - self._threads.keys():
            self._client.subscribe_topic(worker, partial(self._on_event, worker))
        # its message may be under way at the first request, and is not at the second
        missed = (self._missing & self._threads.keys()) - found.keys()
        self._missing = self._threads.keys() - found.keys() - missed
        self._threads = found | {worker: self._threads[worker] for worker in self._missing}
        for worker in missed:
            self._inbox.put(partial(self._handle_event, worker, {"action": "remove-worker"}))

    def _on_event(self, worker: str, event: tuple[float, Any]) -> None:
        """Receive a message of the scheduler, in the thread of the client."""
        if isinstance(event[1], dict):
            self._inbox.put(partial(self._handle_event, worker, event[1]))

    def _handle_event(self, worker: str, message: Mapping[str, Any]) -> None:
        action = message.get("action")
        if action == "worker-status-change":
            (self._paused.discard if message.get("status") == "running" else self._paused.add)(worker)
        elif action == "remove-worker":
            self._threads.pop(worker, None)
            self._paused.discard(worker)
            self._with_objective.discard(worker)
            if self._data is not None and self._data.key in message.get("lost-scattered-tasks", ()):
                self._data = None
            self._on_worker_left(worker, message)

    def submit(
        self, task: Callable[..., Any], objective: Any, *args: Any, worker: str, done: Callable[[Any, BaseException | None], None]
    ) -> Any:
        """Run a task at one worker, with the objective, or None if the worker has it already, and the name of the connection.

        Dask by itself would run a task again whose worker died, but not one that is bound to that worker. At its end `wait`
        calls `done` with its result and None, or with None and an error.
        """
        data = None if worker in self._with_objective else self._data_of(objective)
        future = self._client.submit(
            task, data, self.name, *args, key=self._new_key(), workers=[worker], allow_other_workers=False, pure=False
        )
        # Dask has one thread for all callbacks, and finding that a result was lost with its worker takes time
        future.add_done_callback(lambda completed: self._fetch(completed, worker, done))
        return future

    def _fetch(self, future: Any, worker: str, done: Callable[[Any, BaseException | None], None]) -> None:
        def fetch() -> None:
            try:
                returned = future.result()
                self._inbox.put(partial((self._with_objective.discard if returned is None else self._with_objective.add), worker))
                self._inbox.put(partial(done, returned, None))
            except (Exception, CancelledError) as error:
                self._inbox.put(partial(done, None, error))

        with suppress(RuntimeError):  # closed in the meantime
            self._fetching.submit(fetch)

    def _new_key(self) -> str:
        # Dask estimates durations by the part of the key before the first hyphen
        self._n_submitted += 1
        return f"spotsvm_trial-{self.name}-{self._n_submitted}"

    def _data_of(self, objective: Any) -> Any:
        if self._data is None or self._data.status != "finished":
            if not self.address.startswith("inproc://"):  # workers in this process, which receive the objective itself
                _check_pickles(objective)
            try:
                self._data = self._client.scatter([objective], hash=False)[0]
            except OSError as error:
                raise self.connection_lost(error) from error
            except Exception as error:  # loading it can raise anything
                raise WorkersError(
                    f"Dask's workers cannot load the objective: {error}; they need spotsvm and all that the objective imports"
                ) from error
        return self._data

    def request_workers(self, task: Callable[[int], None], n: int) -> None:
        """Submit `n` tasks that no worker can run: an adaptive cluster grows with the tasks that wait.

        More often than the list of workers is requested, only n = 0 has an effect.
        """
        if n == len(self._placeholders) or (n > 0 and time.monotonic() - self._requested_at < LOOK):
            return
        self._requested_at = time.monotonic()
        while len(self._placeholders) < n:
            further = {"spotsvm: a further worker": 1}
            self._placeholders.append(self._client.submit(task, 0, key=self._new_key(), resources=further, pure=False))
        if self._placeholders[n:]:
            self.cancel(self._placeholders[n:])
            del self._placeholders[n:]

    def wait(self, timeout: float) -> None:
        """Wait at most `timeout` seconds for messages, and handle all that have arrived."""
        with suppress(queue.Empty):
            (self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait())()
            while True:
                self._inbox.get_nowait()()

    def kill_worker(self, worker: str, pid: int) -> None:
        """Ask the nanny of a worker to kill its process and start another."""

        def kill() -> None:
            try:
                self._client.run(os.kill, pid, getattr(signal, "SIGKILL", signal.SIGTERM), workers=[worker], nanny=True)
            except Exception as error:  # it may have died by itself, or the connection may be closed
                _log.warning("the Dask worker %s, process %d, could not be killed: %s", worker, pid, error)

        threading.Thread(target=kill, name="spotsvm-kill-worker", daemon=True).start()

    def cancel(self, futures: list[Any]) -> None:
        """Cancel tasks; what runs already continues in its worker, unobserved."""
        with suppress(OSError, RuntimeError):
            self._client.cancel(futures, force=True)

    def check(self) -> None:
        """Raise WorkersError if the connection is lost or the client of the user is closed."""
        if self._client.status != "running" or self._given.status in ("closing", "closed"):
            raise self.connection_lost()

    def connection_lost(self, error: BaseException | None = None) -> WorkersError:
        """Return the error of a connection that is lost, even if it has been restored."""
        why = "" if error is None else f" ({type(error).__name__}: {error})"
        return WorkersError(
            f"the connection to the Dask scheduler at {self.address} is lost{why}; completed trials are kept: run "
            "again with a client of a running cluster to resume the study"
        )

    def close(self, forget: Callable[[str], None]) -> None:
        """Have the workers forget this connection by its name, and close it."""

        def let_forget() -> None:
            with suppress(Exception):  # workers that hang, or leave at this moment
                self._client.run(forget, self.name, on_error="ignore")

        if self._with_objective and self._client.status == "running":
            told = threading.Thread(target=let_forget, name="spotsvm-forget", daemon=True)
            told.start()
            told.join(_FORGETTING)
        with suppress(Exception):  # a lost scheduler
            self._client.close(timeout=_CLOSING)
        self._fetching.shutdown(wait=False, cancel_futures=True)


class _NullFile:
    def write(self, written: bytes) -> int:
        return len(written)


def _check_pickles(objective: Any) -> None:
    """Raise ArgumentError if an objective cannot be pickled, which Dask would log on a page. Arrays are not copied."""
    try:
        cloudpickle.Pickler(_NullFile(), protocol=5, buffer_callback=lambda buffer: None).dump(objective)
    except Exception as error:  # pickling can raise anything
        raise ArgumentError(f"objective={objective!r} cannot be pickled for Dask's workers: {error}") from error


def is_dask(executor: Any) -> bool:
    """Return whether an executor is a Dask client or "dask", without importing Dask.

    Examples
    --------
    >>> is_dask("dask"), is_dask("loky"), is_dask(None)
    (True, False, False)
    """
    if isinstance(executor, str):
        return executor == "dask"
    return any(kind.__name__ == "Client" and kind.__module__.split(".")[0] == "distributed" for kind in type(executor).__mro__)


def dask_client(executor: Any) -> Any:
    """Return the Dask client that is given, or for "dask" the current one; raise ArgumentError if it cannot be used."""
    client = executor
    if isinstance(executor, str):
        distributed = _distributed('executor="dask"')
        try:
            client = distributed.Client.current()
        except ValueError as error:
            raise ArgumentError(
                'executor="dask" needs a client in use, and there is none; create one with distributed.Client(...), or pass one'
            ) from error
    if client.asynchronous:
        raise ArgumentError(
            f"executor={client!r} is an asynchronous client, which works only where it is awaited; use Client(...) without "
            "asynchronous=True"
        )
    if client.status != "running":
        raise ArgumentError(f"executor={client!r} is {client.status}; use a client that is connected to a scheduler")
    return client


def _distributed(wanted_by: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError(f'{wanted_by} needs Dask; install it by pip install "spotsvm[dask]"') from error
    return distributed


def connect(address: str, name: str, *, security: Any = None, timeout: float | str | None = None) -> Any:
    """Open a client that does not become the default client.

    `name` is the argument or option that gave the address, for messages, and `timeout` as Dask takes it. Raises ArgumentError if
    Dask is not installed or the address is not valid, and WorkersError if no scheduler answers there.
    """
    distributed = _distributed(name)
    options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
    try:
        _check_address(address)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            client = distributed.Client(address, security=security, set_as_default=False, name="spotsvm", **options)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            f"{name} {address!r} is not the address of a Dask scheduler: {error}; use one such as tcp://host:8786"
        ) from error
    except (OSError, ImportError) as error:  # a timeout is an OSError
        raise WorkersError(f"{name} {address}: no Dask scheduler answers there ({type(error).__name__}: {error})") from error
    for warning in caught:
        if type(warning.message).__name__ == "VersionMismatchWarning":
            _log.warning("%s %s: %s", name, address, _differences(client))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return client


def _check_address(address: str) -> None:
    """Raise ValueError for an invalid address, at which a client would try to close for half a minute."""
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.comm.registry import get_backend

    scheme, _ = parse_address(address, strict=True)
    get_backend(scheme)
    if scheme in ("tcp", "tls", "ucx", "ws", "wss"):
        get_address_host_port(address, strict=True)


def _differences(client: Any) -> str:
    """Return one line on the versions that differ between this process, the scheduler and the workers."""
    versions = client.get_versions()
    here = versions["client"]["packages"]
    there = {"the scheduler": versions["scheduler"], **versions["workers"]}
    differing = [
        f"{package} {other['packages'].get(package)} at {place} (here {version})"
        for place, other in there.items()
        for package, version in here.items()
        if other["packages"].get(package) != version
    ]
    more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
    return f"versions differ, and trials may fail: {', '.join(differing[:5])}{more}"

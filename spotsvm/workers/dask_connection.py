"""A connection of our own to a Dask cluster: its workers as they come and go, and what it tells."""

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
from typing import Any, Protocol

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError

_log = logging.getLogger(__name__)
#: seconds between two looks at the list of workers
LOOK = 1.0
_CLOSING = 5.0
_FETCHING = 4
_FORGETTING = 1.0


class Listener(Protocol):
    """Hears of a cluster, in the thread that calls `DaskConnection.wait`."""

    def on_worker_left(self, worker: str, message: Mapping[str, Any]) -> None:
        """Hear that the worker of that address left, with the scheduler's message of it; empty if that was missed."""
        ...

    def on_told(self, message: Mapping[str, Any]) -> None:
        """Hear what a task told on the connection's topic."""
        ...


class DaskConnection:
    """What a study needs of a Dask cluster.

    It is a client of its own, because a client has one handler for each topic of messages, and the user's may have others.

    Parameters
    ----------
    client : distributed.Client
        A client of the cluster.
    listener : Listener
        Who hears of it.

    Attributes
    ----------
    name : str
        A name that no other connection has.
    topic : str
        A topic for the messages of tasks.
    address : str
        The scheduler's.

    Raises
    ------
    WorkersError
        If the scheduler does not answer.
    """

    def __init__(self, client: Any, listener: Listener):
        self._given = client
        self.address = str(client.scheduler.address)
        self._client = connect(self.address, "executor: the cluster at", security=client.security)
        self.name = uuid.uuid4().hex
        self.topic = f"spotsvm-{self.name}"
        self._listener = listener
        self._inbox: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._fetching = ThreadPoolExecutor(_FETCHING, thread_name_prefix="spotsvm-fetch")
        self._threads: dict[str, int] = {}
        self._gone: set[str] = set()
        self._resting: set[str] = set()
        self._served: set[str] = set()
        self._looked_at = -LOOK
        self._data: Any = None
        self._wanting: list[Any] = []
        self._wanted_at = -LOOK
        self._n_submitted = 0
        self._client.subscribe_topic(self.topic, lambda event: self._inbox.put(partial(listener.on_told, event[1])))

    def threads(self) -> dict[str, int]:
        """Give the addresses of the workers that take tasks, each with the number of its threads."""
        if time.monotonic() - self._looked_at >= LOOK:
            self._look()
        return {worker: n for worker, n in self._threads.items() if worker not in self._resting}

    def had_workers(self) -> bool:
        """Return whether the scheduler remembers a worker, of this run or of an earlier one."""
        try:
            events = self._client.get_events("all")
        except (OSError, RuntimeError) as error:
            raise self.lost(error) from error
        return any(isinstance(event, dict) and event.get("action") == "add-worker" for _, event in events)

    def _look(self) -> None:
        """Ask for the list of workers, and hear of each: its topic tells at once what the next look would tell too late."""
        self.check()
        try:
            found = dict(self._client.nthreads())
        except (OSError, RuntimeError) as error:  # what a call on a broken connection raises
            raise self.lost(error) from error
        self._looked_at = time.monotonic()
        for worker in found.keys() - self._threads.keys():
            self._client.subscribe_topic(worker, partial(self._hear, worker))
        # its message may be under way; at the second look it is not
        missed = (self._gone & self._threads.keys()) - found.keys()
        self._gone = self._threads.keys() - found.keys() - missed
        self._threads = found | {worker: self._threads[worker] for worker in self._gone}
        for worker in missed:
            self._inbox.put(partial(self._note, worker, {"action": "remove-worker"}))

    def _hear(self, worker: str, event: tuple[float, Any]) -> None:
        """Take a message of the scheduler's, in the client's own thread."""
        if isinstance(event[1], dict):
            self._inbox.put(partial(self._note, worker, event[1]))

    def _note(self, worker: str, message: Mapping[str, Any]) -> None:
        action = message.get("action")
        if action == "worker-status-change":
            (self._resting.discard if message.get("status") == "running" else self._resting.add)(worker)
        elif action == "remove-worker":
            self._threads.pop(worker, None)
            self._resting.discard(worker)
            self._served.discard(worker)
            if self._data is not None and self._data.key in message.get("lost-scattered-tasks", ()):
                self._data = None
            self._listener.on_worker_left(worker, message)

    def submit(
        self, task: Callable[..., Any], objective: Any, *args: Any, worker: str, done: Callable[[Any, BaseException | None], None]
    ) -> Any:
        """Run a task at one worker, with the objective, or None where the worker has kept it, and this connection's name.

        Dask itself would run a task again whose worker died; one that is bound to that worker waits for it in vain. At its end
        `wait` calls `done` with what it returned and None, or with None and an error.
        """
        data = None if worker in self._served else self._data_of(objective)
        future = self._client.submit(
            task, data, self.name, *args, key=self._new_key(), workers=[worker], allow_other_workers=False, pure=False
        )
        # Dask calls back in one thread for all; a result whose worker has died since takes time to be known as lost
        future.add_done_callback(lambda ended: self._fetch(ended, worker, done))
        return future

    def _fetch(self, future: Any, worker: str, done: Callable[[Any, BaseException | None], None]) -> None:
        def fetch() -> None:
            try:
                returned = future.result()
                self._inbox.put(partial((self._served.discard if returned is None else self._served.add), worker))
                self._inbox.put(partial(done, returned, None))
            except (Exception, CancelledError) as error:
                self._inbox.put(partial(done, None, error))

        with suppress(RuntimeError):  # closed meanwhile
            self._fetching.submit(fetch)

    def _new_key(self) -> str:
        # Dask learns how long tasks take by what stands before the first hyphen
        self._n_submitted += 1
        return f"spotsvm_trial-{self.name}-{self._n_submitted}"

    def _data_of(self, objective: Any) -> Any:
        if self._data is None or self._data.status != "finished":
            if not self.address.startswith("inproc://"):  # workers in this process, which get the objective itself
                _check_pickles(objective)
            try:
                self._data = self._client.scatter([objective], hash=False)[0]
            except OSError as error:
                raise self.lost(error) from error
            except Exception as error:  # what loading it raises can be anything
                raise WorkersError(
                    f"Dask's workers cannot load the objective: {error}; they need spotsvm and all else that it is made of"
                ) from error
        return self._data

    def want_workers(self, task: Callable[[int], None], n: int) -> None:
        """Let `n` tasks wait for a worker that none is: an adaptive cluster grows by what waits and how long it takes.

        More often than the list of workers is looked at, only none at all are told.
        """
        if n == len(self._wanting) or (n > 0 and time.monotonic() - self._wanted_at < LOOK):
            return
        self._wanted_at = time.monotonic()
        while len(self._wanting) < n:
            further = {"spotsvm: a further worker": 1}
            self._wanting.append(self._client.submit(task, 0, key=self._new_key(), resources=further, pure=False))
        if self._wanting[n:]:
            self.cancel(self._wanting[n:])
            del self._wanting[n:]

    def wait(self, timeout: float) -> None:
        """Wait for messages so many seconds at most, and handle all that have come."""
        with suppress(queue.Empty):
            (self._inbox.get(timeout=timeout) if timeout > 0 else self._inbox.get_nowait())()
            while True:
                self._inbox.get_nowait()()

    def kill_worker(self, worker: str, pid: int) -> None:
        """Let the nanny of a worker kill its process; it then starts another."""

        def kill() -> None:
            try:
                self._client.run(os.kill, pid, getattr(signal, "SIGKILL", signal.SIGTERM), workers=[worker], nanny=True)
            except Exception as error:  # it may have died by itself, or the connection been closed
                _log.warning("the Dask worker %s, process %d, could not be killed: %s", worker, pid, error)

        threading.Thread(target=kill, name="spotsvm-kill-worker", daemon=True).start()

    def cancel(self, futures: list[Any]) -> None:
        """Cancel tasks; what runs already goes on in its worker, and nobody hears of it."""
        with suppress(OSError, RuntimeError):
            self._client.cancel(futures, force=True)

    def check(self) -> None:
        """Raise WorkersError if the connection is lost, or the user's client closed."""
        if self._client.status != "running" or self._given.status in ("closing", "closed"):
            raise self.lost()

    def lost(self, error: BaseException | None = None) -> WorkersError:
        """Make the error of a connection that is lost, be it up again or not."""
        why = "" if error is None else f" ({type(error).__name__}: {error})"
        return WorkersError(
            f"the connection to the Dask scheduler at {self.address} is lost{why}; everything told is kept: run again with a "
            "client of a cluster that is up, and the study goes on"
        )

    def close(self, forget: Callable[[str], None]) -> None:
        """Cancel what is left, let the workers call `forget` with this connection's name, and close it."""

        def let_forget() -> None:
            with suppress(Exception):  # workers that hang, or go at this moment
                self._client.run(forget, self.name, on_error="ignore")

        if self._served and self._client.status == "running":
            told = threading.Thread(target=let_forget, name="spotsvm-forget", daemon=True)
            told.start()
            told.join(_FORGETTING)
        with suppress(Exception):  # a scheduler that is gone
            self._client.close(timeout=_CLOSING)
        self._fetching.shutdown(wait=False, cancel_futures=True)


class _Nowhere:
    def write(self, written: bytes) -> int:
        return len(written)


def _check_pickles(objective: Any) -> None:
    """Raise ArgumentError if an objective cannot be pickled; Dask would say so on a page of its log. Arrays are not copied."""
    try:
        cloudpickle.Pickler(_Nowhere(), protocol=5, buffer_callback=lambda buffer: None).dump(objective)
    except Exception as error:  # what pickling raises can be anything
        raise ArgumentError(f"objective={objective!r} cannot be pickled for Dask's workers: {error}") from error


def is_dask(executor: Any) -> bool:
    """Tell whether an executor is a Dask client, or "dask", without loading Dask.

    Examples
    --------
    >>> is_dask("dask"), is_dask("loky"), is_dask(None)
    (True, False, False)
    """
    if isinstance(executor, str):
        return executor == "dask"
    return any(kind.__name__ == "Client" and kind.__module__.split(".")[0] == "distributed" for kind in type(executor).__mro__)


def dask_client(executor: Any) -> Any:
    """Give the client that `is_dask` is true of, or for "dask" the one in use.

    Raises
    ------
    ArgumentError
        If Dask is not installed, no client is in use, or the client is an asynchronous or a closed one.
    """
    client = _client_in_use() if isinstance(executor, str) else executor
    if client.asynchronous:
        raise ArgumentError(
            f"executor={client!r} is an asynchronous client, which answers only where it is awaited; use Client(...) without "
            "asynchronous=True"
        )
    if client.status != "running":
        raise ArgumentError(f"executor={client!r} is {client.status}; use a client that is connected to a scheduler")
    return client


def _client_in_use() -> Any:
    distributed = _distributed('executor="dask"')
    try:
        return distributed.Client.current()
    except ValueError as error:
        raise ArgumentError(
            'executor="dask" needs a client in use, and there is none; make one by distributed.Client(...), or give one'
        ) from error


def _distributed(wanted_by: str) -> Any:
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError(f'{wanted_by} needs Dask; install it by pip install "spotsvm[dask]"') from error
    return distributed


def connect(address: str, name: str, *, security: Any = None, timeout: float | str | None = None) -> Any:
    """Open a client of our own, which is nobody's default client.

    Parameters
    ----------
    address : str
        The scheduler's, as tcp://host:8786.
    name : str
        What gave the address, for messages.
    security : distributed.Security or None
        As of `distributed.Client`.
    timeout : float, str or None
        Seconds within which the scheduler must answer; None is what Dask is set to.

    Raises
    ------
    ArgumentError
        If Dask is not installed, or the address is none.
    WorkersError
        If no scheduler answers there.
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
            f"{name} {address!r} is no address of a Dask scheduler: {error}; use one as tcp://host:8786"
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
    """Raise ValueError for what is no address; a client that fails so tries in vain to close for half a minute."""
    from distributed.comm.addressing import get_address_host_port, parse_address
    from distributed.comm.registry import get_backend

    scheme, _ = parse_address(address, strict=True)
    get_backend(scheme)
    if scheme in ("tcp", "tls", "ucx", "ws", "wss"):
        get_address_host_port(address, strict=True)


def _differences(client: Any) -> str:
    """Say in one line which versions differ between this process, the scheduler and the workers."""
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

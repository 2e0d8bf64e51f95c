"""Send an objective with its data to each worker of an executor once, and evaluate trials there."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections import OrderedDict
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError
from spotsvm.study.workers.limits import hold_process_to_one_thread, one_thread
from spotsvm.study.workers.process import call_safely
from spotsvm.study.workers.protocol import packed, pickled_objective, unpacked
from spotsvm.trials.trial import Objective, Outcome, reason_of

_MAX_LOADED = 2  # objectives that a worker process holds: two studies may take turns on one executor


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
        if self._pickling_error is not None:
            raise self._pickling_error
        return self._unwritten or (Path(self.token.folder) / "objective").read_bytes()

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


def load_objective(token: Token, payload: bytes | None = None) -> Objective | None:
    """Return the objective, loaded if this process has not loaded it yet; None if it cannot be read here."""
    if (shared := shared_in_this_process(token)) is not None:
        return shared.objective
    with _lock:
        if token.digest in _loaded:
            _loaded.move_to_end(token.digest)
            return _loaded[token.digest]
        if payload is None:
            try:
                payload = (Path(token.folder) / "objective").read_bytes()
            except OSError:
                return None
        if hashlib.sha256(payload).hexdigest() != token.digest:
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

"""Give each worker of an executor the objective, with its data, once, and not with every trial."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections import OrderedDict
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError
from spotsvm.evaluation import Objective, Outcome, reason_of
from spotsvm.workers.one_thread import hold_process_to_one_thread, one_thread
from spotsvm.workers.protocol import packed, unpacked
from spotsvm.workers.worker_slot import call_to_the_end

_KEPT = 2  # objectives that a worker process keeps: two studies may take turns on one executor


@dataclass(frozen=True)
class Token:
    """What is sent with a trial in place of the objective: where a worker finds it.

    Attributes
    ----------
    name : str
        By which threads of the process that made it find it.
    process : int
        Id of that process.
    folder : str
        Private folder that holds its pickle, "objective".
    digest : str
        SHA-256 of the pickle: nothing else is unpickled.
    """

    name: str
    process: int
    folder: str
    digest: str


class SharedObjective(AbstractContextManager["SharedObjective"]):
    """An objective, for workers of any kind: threads use it as it is, processes read it from a private file once each.

    A worker on another machine, which cannot read the file, gets `payload` once. Leaving the context removes the file.

    Parameters
    ----------
    objective : callable
        What is evaluated.
    in_threads : bool, default=False
        Whether all workers are threads of this process, so that it need not be pickled.

    Attributes
    ----------
    token : Token
        What a worker finds it by.
    began : dict of int to float
        When trials began, by ticket and the monotonic clock; other processes leave a file in the folder, see `has_begun`.

    Examples
    --------
    >>> with SharedObjective(abs) as shared:
    ...     find(shared.token) is abs
    True
    """

    def __init__(self, objective: Objective, *, in_threads: bool = False):
        self.objective = objective
        self.began: dict[int, float] = {}
        self._folder = None if in_threads else Path(tempfile.mkdtemp(prefix="spotsvm-"))
        self._trouble, self._kept = "", b""
        digest = "" if in_threads else self._write()
        self.token = Token(uuid.uuid4().hex, os.getpid(), str(self._folder or ""), digest)
        _here[self.token.name] = self

    def _write(self) -> str:
        """Pickle the objective; give the digest. One that cannot be pickled may yet do, if the workers turn out to be threads."""
        assert self._folder is not None
        try:
            pickled = cloudpickle.dumps(self.objective)
        except Exception as error:  # what an object of the user's raises when it is pickled can be anything
            self._trouble = reason_of(error)
            return ""
        try:
            (self._folder / "objective").write_bytes(pickled)
        except OSError:  # a full disk: all workers then get the payload
            self._kept = pickled
        return hashlib.sha256(pickled).hexdigest()

    @property
    def payload(self) -> bytes:
        """The pickle, for a worker that cannot read the file."""
        if self._trouble:
            raise ArgumentError(
                f"the objective cannot be sent to a worker process: {self._trouble}; make what cannot be pickled inside it"
            )
        return self._kept or (Path(self.token.folder) / "objective").read_bytes()

    def has_begun(self, ticket: int) -> float | None:
        """Tell when a trial began, by the monotonic clock, at the latest; None where it has not, or not in sight of here."""
        if ticket not in self.began and self._folder is not None and (self._folder / f"{ticket}.began").exists():
            self.began[ticket] = time.monotonic()
        return self.began.get(ticket)

    def forget(self, ticket: int) -> None:
        """Drop what is known of a trial that has ended."""
        if self.began.pop(ticket, None) is not None and self._folder is not None:
            (self._folder / f"{ticket}.began").unlink(missing_ok=True)

    def __exit__(self, *details: object) -> None:
        _here.pop(self.token.name, None)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


_here: dict[str, SharedObjective] = {}
_loaded: OrderedDict[str, Objective] = OrderedDict()
_lock = threading.Lock()


def shared_here(token: Token) -> SharedObjective | None:
    """Give the shared objective itself, if this is the process that made it; a fork of that is another."""
    return _here.get(token.name) if os.getpid() == token.process else None


def find(token: Token, payload: bytes | None = None) -> Objective | None:
    """Give the objective, loading it if this process has not; None if it cannot be read from here.

    Parameters
    ----------
    token : Token
        Of the objective.
    payload : bytes, optional
        Its pickle, for a process that could not read the file.
    """
    shared = shared_here(token)
    if shared is not None:
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
        while len(_loaded) >= _KEPT:
            _loaded.popitem(last=False)
        objective: Objective = cloudpickle.loads(payload)
        _loaded[token.digest] = objective
        return objective


def tell_begin(token: Token, ticket: int | None) -> None:
    """Let whoever waits for a trial know that it begins now, where a word from here reaches there."""
    if ticket is None:
        return
    shared = shared_here(token)
    if shared is not None:
        shared.began[ticket] = time.monotonic()
        return
    try:
        (Path(token.folder) / f"{ticket}.began").touch()
    except OSError:  # another machine
        return


@dataclass(frozen=True)
class Reply:
    """What a worker answers: the outcome, packed where it comes from another process; or why there is none.

    `lacks` is whether it cannot read the objective, and `trouble` what came of unpickling it.
    """

    outcome: Outcome | bytes = b""
    lacks: bool = False
    trouble: str = ""
    is_thread: bool = False

    def read(self) -> Outcome:
        """Give the outcome."""
        return unpacked(self.outcome) if isinstance(self.outcome, bytes) else self.outcome


def run_trial(
    token: Token, ticket: int | None, params: bytes | dict[str, Any], memory_limit: int | None, payload: bytes | None
) -> Reply:
    """Evaluate a trial in whatever this is: a thread of the process that asks, another process, another machine.

    Parameters
    ----------
    token : Token
        Of the objective.
    ticket : int or None
        By which the beginning is told; None where nobody asks.
    params : bytes or dict
        Its configuration, pickled; as it is where it cannot be.
    memory_limit : int or None
        Bytes that it may take beyond what the process has; not held in threads.
    payload : bytes or None
        The pickled objective, for a worker that could not read its file.
    """
    is_thread = shared_here(token) is not None
    if is_thread and memory_limit is not None:
        return Reply(is_thread=True)
    try:
        objective = find(token, payload)
    except BaseException as error:  # what an object of the user's raises when it is unpickled can be anything
        return Reply(trouble=reason_of(error))
    if objective is None:
        return Reply(lacks=True)
    if is_thread:
        with one_thread():
            tell_begin(token, ticket)
            return Reply(call_to_the_end(objective, params), is_thread=True)
    hold_process_to_one_thread()
    tell_begin(token, ticket)
    return Reply(packed(call_to_the_end(objective, params, memory_limit)))

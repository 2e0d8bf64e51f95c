"""Processes to be killed, forked from one that has imported everything: one takes milliseconds, not the seconds of an import."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studies.durability_cases import CaseSkippedError

# seconds
_POLL = 0.001
_PATIENCE = 1.0


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes
    ----------
    code : int
        What it exited with, or less the number of the signal that ended it.
    seconds : float
        How long it lived.
    hung : bool
        Whether it was killed because it took longer than it could have.
    left : int
        Processes of its own that were still there a second later, where the system tells; they are killed.
    """

    code: int
    seconds: float
    hung: bool
    left: int


class ForkServer(AbstractContextManager["ForkServer"]):
    """A process that has run `warm_up` once and runs each job in a fork of itself.

    A fork has nobody else's threads and locks, as a fork of the caller could. A job is a function of this package's and
    arguments of JSON's types.

    Parameters
    ----------
    warm_up : str
        "module:function", called before the first fork; it must not leave threads behind.
    *arguments : object
        What it is called with, of JSON's types.

    Raises
    ------
    CaseSkippedError
        Where there is no fork.

    Examples
    --------
    >>> with ForkServer("time:time") as server:  # doctest: +SKIP
    ...     server.run("studies.kill_child:run_to_end", {"path": "run.db"}, kill_after=0.1).code
    -9
    """

    def __init__(self, warm_up: str, *arguments: Any):
        if not hasattr(os, "fork"):
            raise CaseSkippedError("this system has no fork")
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "studies.fork_server", warm_up, json.dumps(arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def run(self, target: str, arguments: Mapping[str, Any], *, kill_after: float | None = None, at_most: float = 120.0) -> Ended:
        """Run a job in a process of its own, to its end or until it is killed with SIGKILL.

        Parameters
        ----------
        target : str
            "module:function"; it is called with the arguments by name.
        arguments : mapping
            Of JSON's types.
        kill_after : float or None, default=None
            Seconds after which to kill it.
        at_most : float, default=120
            Seconds after which it counts as hung.

        Raises
        ------
        RuntimeError
            If the server itself has died.
        """
        job = {"target": target, "arguments": dict(arguments), "kill_after": kill_after, "at_most": at_most}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the fork server ended with {self._process.wait()}")
        return Ended(**json.loads(answer))

    def __exit__(self, *details: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def function_named(name: str) -> Any:
    """Give the function that "module:function" names."""
    module, _, function = name.partition(":")
    return getattr(importlib.import_module(module), function)


def _serve(warm_up: str, arguments: Sequence[Any]) -> None:
    answers = os.fdopen(os.dup(1), "w")  # what a job prints must not be taken for an answer
    os.dup2(2, 1)
    os.set_inheritable(answers.fileno(), False)
    function_named(warm_up)(*arguments)
    while line := _line():
        job = json.loads(line)
        pid = os.fork()
        if pid == 0:
            _run(job["target"], job["arguments"])
        answers.write(json.dumps(_awaited(pid, job["kill_after"], job["at_most"])) + "\n")
        answers.flush()


def _line() -> bytes:
    """Read a line and no byte more: a fork must not have what is for the server in a buffer of its own."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return b""
        line += byte
    return line


def _run(target: str, arguments: Mapping[str, Any]) -> None:
    code = 1
    try:
        os.setsid()  # so that what it leaves behind can be found
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        function_named(target)(**arguments)
        code = 0
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _awaited(pid: int, kill_after: float | None, at_most: float) -> dict[str, Any]:
    """Wait until a fork ends, killing it when its time comes."""
    began = time.monotonic()
    killed = False
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        seconds = time.monotonic() - began
        if ended:
            break
        if not killed and seconds >= (at_most if kill_after is None else kill_after):
            os.kill(pid, signal.SIGKILL)
            killed = True
        time.sleep(_POLL)
    hung = killed and kill_after is None
    return {"code": os.waitstatus_to_exitcode(status), "seconds": seconds, "hung": hung, "left": _end_group(pid)}


def _end_group(group: int) -> int:
    """Give how many processes of a group do not end by themselves, where the system tells, and kill them."""
    until = time.monotonic() + _PATIENCE
    while (left := _n_living(group)) and time.monotonic() < until:
        time.sleep(20 * _POLL)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
    return left


def _n_living(group: int) -> int:
    living = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, in_group = entry.read_text().rpartition(")")[2].split()[:3]
            living += int(in_group) == group and state != "Z"
    return living


if __name__ == "__main__":
    _serve(sys.argv[1], json.loads(sys.argv[2]))

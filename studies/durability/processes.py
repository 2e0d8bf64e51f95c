"""Processes that may be killed, forked from a server that has imported the study: each starts within milliseconds."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spotsvm.studies.durability.cases import CaseSkippedError

_PATIENCE = 1.0  # seconds


@dataclass(frozen=True)
class Ended:
    """How a process ended.

    Attributes
    ----------
    code : int
        Its exit code, or minus the number of the signal that ended it.
    seconds : float
        How long it lived.
    hung : bool
        Whether it was killed because it took longer than `at_most`.
    left : int
        Processes of its own that were still there a second later, where the system tells; they are killed.
    """

    code: int
    seconds: float
    hung: bool
    left: int


def run_job(
    target: Callable[..., object], arguments: Mapping[str, Any], *, kill_after: float | None = None, at_most: float = 120.0
) -> Ended:
    """Run a function in a process of its own, to its end or until it is killed with SIGKILL.

    Parameters
    ----------
    target : callable
        A function of a module.
    arguments : mapping
        Its arguments by name.
    kill_after : float or None, default=None
        Seconds after which to kill the process.
    at_most : float, default=120
        Seconds after which it counts as hung.

    Raises
    ------
    CaseSkippedError
        Where the system has no fork.
    """
    if "forkserver" not in multiprocessing.get_all_start_methods():
        raise CaseSkippedError("this system has no fork")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["spotsvm.studies.durability.killable_runs", "cma", "spotsvm.solvers.search.multi_objective.genetic_algorithm"]
    )
    process = context.Process(target=_in_own_group, args=(target, dict(arguments)))
    process.start()
    began = time.monotonic()
    process.join(at_most if kill_after is None else kill_after)
    killed = process.is_alive()
    if killed:
        process.kill()
        process.join()
    assert process.pid is not None
    assert process.exitcode is not None
    seconds = time.monotonic() - began
    return Ended(process.exitcode, seconds, killed and kill_after is None, _end_group(process.pid))


def _in_own_group(target: Callable[..., object], arguments: dict[str, Any]) -> None:
    os.setsid()  # so that what it leaves behind can be found
    target(**arguments)


def _end_group(group: int) -> int:
    """Return how many processes of a group do not end by themselves, where the system tells, and kill them."""
    until = time.monotonic() + _PATIENCE
    while (left := _n_living(group)) and time.monotonic() < until:
        time.sleep(0.02)
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

"""What runs in a worker process of ours."""

from __future__ import annotations

import signal
from typing import Any

import cloudpickle

from spotsvm.evaluation import Objective, Outcome, call, one_line, reason_of
from spotsvm.workers.memory_limit import limited_memory, own_memory, shown, with_limit_named
from spotsvm.workers.one_thread import hold_process_to_one_thread
from spotsvm.workers.parent_death import die_with_parent
from spotsvm.workers.sent_outcome import packed

_CRASHES = ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT")

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

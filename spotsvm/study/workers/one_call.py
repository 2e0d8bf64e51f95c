"""Call a function in a worker process, which is killed when the time is up."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, wait
from typing import Any

import cloudpickle

from spotsvm.errors import ArgumentError, WorkersError
from spotsvm.study.workers.process import initialize, shut_down
from spotsvm.trials.trial import reason_of


class TimeUpError(TimeoutError):
    """A call took longer than it may."""


def call_within(function: Callable[[], Any], seconds: float) -> Any:
    """Return what a function returns in a worker process that may take `seconds` for it, without its start and its imports.

    The process dies with this one and ignores Ctrl-C, which ends the wait, and so the process. An error of the function is
    raised.

    Raises
    ------
    TimeUpError
        If the time is up; the process is killed.
    ArgumentError
        If the function cannot be sent to a process, or loaded there.
    WorkersError
        If the process dies.

    Examples
    --------
    >>> call_within(lambda: 6 * 7, 60.0)
    42
    """
    import loky

    try:
        sent = cloudpickle.dumps(function)
    except Exception as error:  # pickling an object of the user can raise anything
        raise ArgumentError(f"{function!r} cannot be sent to a worker process: {reason_of(error)}") from error
    context = loky.backend.get_context("loky")
    pool = loky.ProcessPoolExecutor(1, context=context, initializer=initialize, initargs=(os.getpid(),))
    try:
        if why := pool.submit(_load, sent).result():
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

"""A call that is killed before each step that it takes in the file system, one after the other."""

from __future__ import annotations

import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator

#: what Python says before it opens a file, and before it changes a folder
_EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod")
_MOST = 1000


def killed_at_each_file_event(call: Callable[[], object]) -> Iterator[int]:
    """Fork a process for each file event of a call, in which SIGKILL comes just before it; yield its number once it is dead.

    The last number is that of a call which came to its end. Events of files of Python itself, which it reads, do not count.
    """
    for number in range(_MOST):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads, since Python 3.12
            child = os.fork()
        if child == 0:
            _die_at(number)
            try:
                call()
            except BaseException:
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, -signal.SIGKILL), f"at event {number} the call ended with {code}"
        yield number
        if code == 0:
            return
    raise AssertionError(f"the call has more than {_MOST} events")


def _die_at(number: int) -> None:
    left, thread = number, threading.get_ident()

    def count(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event not in _EVENTS or threading.get_ident() != thread or (event == "open" and not _writes(arguments)):
            return
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    sys.addaudithook(count)


def _writes(arguments: tuple[object, ...]) -> bool:
    _, mode, flags = arguments
    if isinstance(mode, str):
        return not mode.startswith("r") or "+" in mode
    return isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) != 0

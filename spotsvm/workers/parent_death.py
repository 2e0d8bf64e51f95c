"""Let a worker process die with the process that started it, however that dies."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def die_with_parent(parent: int) -> None:
    """See to it that this process is killed when its parent is gone.

    On Linux the system does so, be this process in compiled code that never returns. Elsewhere a thread looks every second, which
    compiled code that does not let other threads run can hold up.

    Parameters
    ----------
    parent : int
        The parent's process id.
    """
    if sys.platform.startswith("linux") and ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        if os.getppid() != parent:  # it died before the call
            os._exit(1)
        return
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int, interval: float = 1.0) -> None:
    while os.getppid() == parent:
        time.sleep(interval)
    os._exit(1)

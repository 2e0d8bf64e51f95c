"""Limit the memory of trials that run in threads of one process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from spotsvm.workers.memory_limit import own_memory

_lock = threading.Lock()
_n_inside = 0
_before = (0, 0)
_base = 0
_highest = 0


@contextmanager
def limited_process(memory_limit: int | None) -> Iterator[None]:
    """Hold this process, while trials run in threads of it, to what it had before and `memory_limit` bytes for each of them.

    The system counts a process, not a thread: a trial alone has its limit, several at once share the sum of theirs. What goes
    beyond raises MemoryError.

    Parameters
    ----------
    memory_limit : int or None
        Bytes for each trial; None sets no limit.

    Examples
    --------
    >>> with limited_process(None):
    ...     pass
    """
    global _n_inside, _before, _base, _highest
    if memory_limit is None:
        yield
        return
    import resource

    with _lock:
        if _n_inside == 0:
            _before, _base, _highest = resource.getrlimit(resource.RLIMIT_DATA), own_memory(), 0
        _n_inside += 1
        # it never falls while trials run: what they have taken would leave those that begin with nothing
        _highest = max(_highest, _base + _n_inside * memory_limit)
        soft = _highest if _before[1] < 0 else min(_highest, _before[1])
        resource.setrlimit(resource.RLIMIT_DATA, (soft, _before[1]))
    try:
        yield
    finally:
        with _lock:
            _n_inside -= 1
            if _n_inside == 0:
                resource.setrlimit(resource.RLIMIT_DATA, _before)

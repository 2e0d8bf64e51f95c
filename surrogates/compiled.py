"""A decorator for loops that numba compiles, which says in the log when that takes time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit
from numba.core import event

_LOG = logging.getLogger(__name__)

_LONG = "compiling what this installation uses for the first time, which takes up to half a minute"
_KEPT = f"{_LONG} once; `spotsvm warmup` does it in advance"
_NOT_KEPT = f"{_LONG} in each process, as no folder to keep it can be written; set NUMBA_CACHE_DIR to one that can"


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function of plain arrays and numbers, and keep the machine code beside the source, or in the user's cache folder.

    Where no such folder can be written, the function is compiled anew in each process. The first compilation in a process is
    logged, at the level INFO.

    Parameters
    ----------
    function : callable
        The function; without it, a decorator with the options is returned.
    **options
        As `numba.njit` takes them. By default a function releases the lock of the interpreter and divides as numpy does.

    Examples
    --------
    >>> import numpy as np
    >>> @compiled
    ... def total(values):
    ...     out = 0.0
    ...     for value in values:
    ...         out += value
    ...     return out
    >>> total(np.arange(4.0))
    6.0
    """
    if function is None:
        return partial(compiled, **options)
    options = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, **options}
    try:
        dispatcher = njit(function, cache=True, **options)
    except RuntimeError:  # numba's word for no folder
        dispatcher = njit(function, **options)
    _ANNOUNCEMENT.of.append(dispatcher)
    return dispatcher


class _Announcement(event.Listener):
    """Log once that a function is being compiled: numba tells of it beforehand, and not where the cache has the function."""

    def __init__(self) -> None:
        self.made, self.of = False, list[Any]()

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if not self.made and any(dispatcher is one for one in self.of):
            self.made = True
            _LOG.info(_KEPT if dispatcher.stats.cache_path else _NOT_KEPT)

    def on_end(self, event: Any) -> None:
        pass


_ANNOUNCEMENT = _Announcement()
event.register("numba:compile", _ANNOUNCEMENT)  # type: ignore[no-untyped-call]

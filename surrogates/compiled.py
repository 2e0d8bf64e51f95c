"""A decorator that compiles loops with numba, and logs when compiling takes time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from numba import njit
from numba.core import event

_LOG = logging.getLogger(__name__)

_LONG = "compiling functions at their first use in this installation, which takes up to half a minute"
_KEPT = f"{_LONG} once; `spotsvm warmup` does it in advance"
_NOT_KEPT = f"{_LONG} in each process, because no cache folder is writable; set NUMBA_CACHE_DIR to a writable folder"


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function of arrays and numbers, and cache the machine code beside the source or in the user's cache folder.

    If neither folder is writable, the function is compiled again in each process. The first compilation in a process is
    logged, at the level INFO.

    Parameters
    ----------
    function : callable
        The function. If it is omitted, a decorator with the options is returned.
    **options
        Options of `numba.njit`. By default a function releases the GIL and divides as numpy does.

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
    except RuntimeError:  # numba found no cache folder
        dispatcher = njit(function, **options)
    _ANNOUNCEMENT.of.append(dispatcher)
    return dispatcher


class _Announcement(event.Listener):
    """Log once that a function is being compiled; numba sends no event for a function that it loads from the cache."""

    def __init__(self) -> None:
        self.made, self.of = False, list[Any]()

    def on_start(self, event: Any) -> None:
        dispatcher = event.data["dispatcher"]
        if not self.made and any(dispatcher is ours for ours in self.of):
            self.made = True
            _LOG.info(_KEPT if dispatcher.stats.cache_path else _NOT_KEPT)

    def on_end(self, event: Any) -> None:
        pass


_ANNOUNCEMENT = _Announcement()
event.register("numba:compile", _ANNOUNCEMENT)  # type: ignore[no-untyped-call]

"""A decorator for loops that numba compiles, and an announcement where that is still to be done."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from numba import njit

_LOG = logging.getLogger(__name__)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a function of plain arrays and numbers, and keep the machine code beside the source, or in the user's cache folder.

    Where no such folder can be written, the function is compiled anew in each process.

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
        return njit(function, cache=True, **options)
    except RuntimeError:  # numba's word for no folder
        return njit(function, **options)


@cache
def announce_compilation(function: Any, what: str) -> None:
    """Log, once in a process, that a compiled function is not in the cache yet, so that its first call takes some seconds.

    Parameters
    ----------
    function : callable
        A function made by `compiled`.
    what : str
        What the message says is being compiled.
    """
    folder = Path(getattr(function.stats, "cache_path", None) or "")
    if not function.signatures and not any(folder.glob(f"*.{function.py_func.__qualname__}-*.nbi")):
        _LOG.info("compiling %s, which takes some seconds once; `spotsvm warmup` does it in advance", what)

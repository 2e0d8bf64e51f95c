"""Checks of arguments that come from a user or a file."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError


def as_float(value: Any) -> float:
    """Return a real number as a float; nan if `value` is not a number, infinity if it is too large, of either sign."""
    if not isinstance(value, Real) or isinstance(value, bool | np.timedelta64):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf  # also for minus infinity: callers reject both


def as_floats(values: Any) -> NDArray[np.float64]:
    """Return an array of float64, not always a copy; raise TypeError or ValueError for strings and complex numbers too."""
    array = np.asarray(values)
    if np.iscomplexobj(array):
        raise TypeError("its entries are complex")
    if array.dtype.kind in "USO":
        for value in array.ravel().tolist():
            if isinstance(value, (str, bytes)):
                raise TypeError(f"it holds the string {value!r}")
    try:
        return np.asarray(array, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(str(error)) from error


def is_count(value: Any, least: int = 1) -> bool:
    """Return whether a value is a whole number, `least` or more."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def check_choice(name: str, value: Any, choices: Sequence[str], further: str = "") -> None:
    """Raise SolverError unless a value is one of the choices; `further` describes other allowed values."""
    if not (isinstance(value, str) and value in choices):
        *others, last = [*map(repr, choices), *([further] if further else [])]
        raise SolverError(f"{name}={value!r} is unknown; use {', '.join(others)} or {last}")


def check_counts(**counts: Any) -> None:
    """Raise SolverError unless each value is a whole number, 1 or more."""
    for name, value in counts.items():
        if not is_count(value):
            raise SolverError(f"{name}={value!r}; use 1 or more, a whole number")


def check_flag(name: str, value: Any) -> bool:
    """Return True or False, or raise SolverError for any other value."""
    if not isinstance(value, (bool, np.bool_)):
        raise SolverError(f"{name}={value!r}; use True or False")
    return bool(value)

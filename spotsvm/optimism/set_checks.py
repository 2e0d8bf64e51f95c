"""Checks of the sets and the values of an oversearching matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import ArgumentError

Floats = NDArray[np.float64]


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the sets; raise ArgumentError unless there are two or more, all different."""
    if isinstance(names, str) or not all(isinstance(name, str) and name for name in names):
        raise ArgumentError(f"sets={names!r} are not names; use a list of strings")
    given = tuple(names)
    if len(given) < 2:
        raise ArgumentError(
            f"there is only {len(given)} set; use two or more, so that the result tuned on one can be applied to another"
        )
    if twice := [name for name in given if given.count(name) > 1]:
        raise ArgumentError(f"two sets are named {twice[0]!r}; use a different name for each")
    return given


def checked_values(values: ArrayLike, names: Sequence[str]) -> Floats:
    """Return values as an array of shape (n_seeds, n_sets, n_sets), or raise ArgumentError; see `OversearchingMatrix`."""
    array = np.asarray(values, dtype=float)
    array = array[None] if array.ndim == 2 else array
    n = len(names)
    if array.ndim != 3 or array.shape[1:] != (n, n) or not len(array):
        raise ArgumentError(f"values have the shape {array.shape}; use (seeds, {n}, {n}) or ({n}, {n}) for {n} sets")
    if len(bad := np.argwhere(~np.isfinite(array))):
        k, v, t = bad[0]
        raise ArgumentError(
            f"tuned on {names[v]!r} and applied to {names[t]!r} has the value {array[k, v, t]} (run {k}); leave that run out"
        )
    own = np.diagonal(array, axis1=1, axis2=2)
    if len(low := np.argwhere(own <= 0)):
        k, t = low[0]
        raise ArgumentError(
            f"tuned on and applied to {names[t]!r} has the value {own[k, t]:g} (run {k}), and V_t is relative to it; use an "
            "error or a score above 0"
        )
    return array

"""The state of a Kriging search in a record, checked when it is read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.errors import SolverError

Floats = NDArray[np.float64]

#: of a logarithm, so that its exponential and the square of that are numbers
LARGEST = 300.0
MOST = 1000


def checked_chains(content: Any) -> Floats:
    """Return chains from what JSON has of them.

    Parameters
    ----------
    content : list of list of float
        A row a chain; each number is a logarithm.

    Raises
    ------
    SolverError
        If it is no such table.

    Examples
    --------
    >>> checked_chains([[0.5, -9.0]]).shape
    (1, 2)
    """
    try:
        chains = np.array(content, dtype=float)
    except (TypeError, ValueError, OverflowError):
        chains = np.empty(0)
    if chains.ndim != 2 or not 0 < chains.size <= MOST * MOST or not np.all(np.abs(chains) <= LARGEST):
        raise SolverError("the search's state holds no valid table of chains; the record is damaged")
    return chains


def checked_count(content: Any) -> int | None:
    """Return a number of trials from what JSON has of it, or None.

    Raises
    ------
    SolverError
        If it is neither.

    Examples
    --------
    >>> checked_count(12), checked_count(None)
    (12, None)
    """
    if content is None or (isinstance(content, int) and not isinstance(content, bool) and content >= 0):
        return content
    raise SolverError("the search's state holds an invalid number of trials; the record is damaged")

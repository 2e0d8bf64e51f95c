"""What a method gives back, and when an exact one gives up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Solution(NamedTuple):
    """What a method gives back, before it is measured."""

    alpha: Floats
    iterations: int
    evaluations: int
    converged: bool
    message: str


def iteration_cap(n: int) -> int:
    """Give the largest number of steps of an exact solver on n variables."""
    return 100_000 + 2_000 * n


def stop_message(converged: bool, iterations: int, tol: float, cap: int) -> str:
    """Say why an exact solver stopped."""
    if converged:
        return f"the KKT violation is at most tol={tol:g} after {iterations} steps"
    if iterations < cap:
        return f"not converged: rounding keeps the KKT violation above tol={tol:g} after {iterations} steps"
    return f"not converged: the cap of {iterations} steps came before a KKT violation of tol={tol:g}"

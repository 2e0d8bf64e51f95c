"""The raw solution of a method, and the maximum number of steps of an exact method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Solution(NamedTuple):
    """The raw result of a method, before it is measured."""

    alpha: Floats
    iterations: int
    evaluations: int
    converged: bool
    message: str


def iteration_cap(n: int) -> int:
    """Return the default maximum number of steps of an exact solver on n variables."""
    return 100_000 + 2_000 * n


def confirm(converged: bool, message: str, violation: float, tol: float, decision: Floats, terms: float) -> tuple[bool, str]:
    """Return `converged` and `message`; not converged if the recomputed violation exceeds tol by more than rounding.

    `terms` is an upper bound on the sums of absolute values of the terms of the decision function. More than twice the tolerance
    is never accepted.
    """
    rounding = 1e-12 * float(np.abs(decision).max()) + 1e-14 * terms
    if not converged or violation <= tol + min(rounding, tol):
        return converged, message
    return False, f"not converged: the KKT violation of the solution is {violation:.3g}, above tol={tol:g}; scale K or C"


def stop_message(converged: bool, iterations: int, tol: float, cap: int) -> str:
    """Return the reason for which an exact solver stopped."""
    if converged:
        return f"the KKT violation is at most tol={tol:g} after {iterations} steps"
    if iterations < cap:
        return f"not converged: rounding keeps the KKT violation above tol={tol:g} after {iterations} steps"
    return f"not converged: the cap of {iterations} steps came before a KKT violation of tol={tol:g}"

"""The results of the solvers of the dual: as a method leaves them, and measured."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DualResult:
    """A solution of the support vector machine's dual problem.

    Attributes
    ----------
    alpha : ndarray of shape (n,)
        The solution: 0 <= alpha_i <= C_i. For regression it is alpha - alpha*, between -C_i and C_i.
    objective : float
        The dual objective that is maximised (Mierswa 2006, eq. 31): sum(alpha) - alpha' Q alpha / 2, Q_ij = y_i y_j K_ij.
        For regression `y' beta - epsilon |beta|_1 - beta' K beta / 2`, where beta is `alpha`.
    bias : float
        The threshold b of the decision function sum_j alpha_j y_j k(x_j, x) + b; 0 if the problem has no bias, unless
        bias="after" requests a threshold computed from the solution.
    decision : ndarray of shape (n,)
        The decision function at the rows of the problem.
    iterations : int
        Number of generations of an evolution, or of steps of an exact solver.
    evaluations : int
        Number of evaluations of the objective; an update in O(n) counts as an evaluation.
    converged : bool
        Whether the solver stopped by its own rule: the exact solver with a KKT violation below its tolerance, an evolution before
        its maximum number of generations.
    message : str
        The reason for stopping.
    kkt_violation : float
        Largest violation of the optimality conditions, in units of the decision function; at most the tolerance at an optimum, or
        at a stationary point if K is indefinite.
    duality_gap : float
        Primal minus dual objective; an upper bound on the distance to the optimal objective if K is positive semidefinite.

    Examples
    --------
    >>> from spotsvm import solve_dual
    >>> result = solve_dual([[1.0, -1.0], [-1.0, 1.0]], [1, -1], C=10.0, bias=True)
    >>> result.converged, result.alpha.tolist(), round(result.objective, 6)
    (True, [0.5, 0.5], 0.5)
    """

    alpha: NDArray[np.float64]
    objective: float
    bias: float
    decision: NDArray[np.float64]
    iterations: int
    evaluations: int
    converged: bool
    message: str
    kkt_violation: float
    duality_gap: float


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


def confirmed(result: DualResult, K: Floats, tol: float) -> DualResult:
    """Return the result; not converged if its recomputed violation exceeds tol by more than rounding, or by more than tol."""
    terms = float(np.abs(result.alpha).sum()) * max(float(K.max()), -float(K.min()))  # a bound on the sums of absolute values
    rounding = 1e-12 * float(np.abs(result.decision).max()) + 1e-14 * terms
    violation = result.kkt_violation
    if not result.converged or violation <= tol + min(rounding, tol):
        return result
    message = f"not converged: the KKT violation of the solution is {violation:.3g}, above tol={tol:g}; scale K or C"
    return replace(result, converged=False, message=message)


def stop_message(converged: bool, iterations: int, tol: float, cap: int) -> str:
    """Return the reason for which an exact solver stopped."""
    if converged:
        return f"the KKT violation is at most tol={tol:g} after {iterations} steps"
    if iterations < cap:
        return f"not converged: rounding keeps the KKT violation above tol={tol:g} after {iterations} steps"
    return f"not converged: the cap of {iterations} steps came before a KKT violation of tol={tol:g}"

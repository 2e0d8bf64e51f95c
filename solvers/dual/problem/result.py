"""The result of every solver of the dual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


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

    See Also
    --------
    spotsvm.solve_dual : Returns it.

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

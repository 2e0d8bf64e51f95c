"""The dual of epsilon-insensitive support vector regression."""

from __future__ import annotations

from typing import Any

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.dual.exact.exact import balanced, pair_violation, solve_pairs
from spotsvm.solvers.dual.problem.problem import (
    Floats,
    bias_interval,
    check_bounds,
    check_kernel_matrix,
    check_numbers,
    check_objective_finite,
    check_stopping,
    kernel_sums,
    middle_bias,
)
from spotsvm.solvers.dual.problem.result import DualResult, confirmed, iteration_cap, stop_message


def solve_dual_regression(
    K: Any, y: Any, C: Any = 1.0, epsilon: float = 0.1, *, start: Any = None, tol: float = 1e-3, max_iter: int | None = None
) -> DualResult:
    """Solve the dual of support vector regression exactly.

    Maximise `y' beta - epsilon |beta|_1 - beta' K beta / 2` over -C <= beta <= C with sum(beta) = 0, where beta is
    alpha - alpha* (Smola and Schoelkopf 2004, eq. 10).

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix.
    y : array-like of shape (n,)
        Target.
    C : float or array-like of shape (n,), default=1.0
        A bound, or a bound for each row; positive and finite.
    epsilon : float, default=0.1
        Half the width of the tube in which errors cost nothing; 0 or more.
    start : array-like of shape (n,) or None, default=None
        A beta to start from.
    tol : float, default=1e-3
        Largest KKT violation.
    max_iter : int or None, default=None
        Maximum number of steps; None for a maximum that grows with n.

    Returns
    -------
    DualResult
        The solution, with beta as `alpha`.

    Raises
    ------
    SolverError
        If an argument is invalid.

    Notes
    -----
    Equation :eq:`dual-regression` of the chapter :doc:`/method/index`.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1, 1, 21)
    >>> result = solve_dual_regression(
    ...     np.outer(x, x), 3 * x + 1, C=10, epsilon=0.1
    ... )
    >>> bool(abs(result.decision - (3 * x + 1)).max() < 0.11)
    True
    """
    matrix = check_kernel_matrix(K)
    target = check_numbers("y", y, len(matrix))
    bounds = check_bounds(C, len(matrix))
    check_objective_finite(matrix, bounds)
    tol, max_iter = check_stopping(tol, max_iter)
    if not 0 <= as_float(epsilon) < np.inf:
        raise SolverError(f"epsilon={epsilon!r}; use 0 or a positive number")
    cap = iteration_cap(2 * len(matrix)) if max_iter is None else max_iter
    beta = np.zeros(len(matrix)) if start is None else balanced(check_numbers("start", start, len(matrix)), -bounds, bounds)
    beta, iterations, converged = solve_pairs(matrix, target, -bounds, bounds, float(epsilon), beta, tol, cap)
    return _measure(matrix, target, bounds, float(epsilon), beta, iterations, converged, tol, cap)


def _measure(
    K: Floats, y: Floats, C: Floats, epsilon: float, beta: Floats, iterations: int, converged: bool, tol: float, cap: int
) -> DualResult:
    f = kernel_sums(K, beta)
    slope = f - y
    bias = middle_bias(*bias_interval(slope, beta, -C, C, epsilon))
    objective = float(y @ beta - epsilon * np.abs(beta).sum() - 0.5 * beta @ f)
    slack = np.maximum(np.abs(y - f - bias) - epsilon, 0.0)
    gap = float(0.5 * beta @ f + C @ slack) - objective
    violation = max(pair_violation(slope, beta, -C, C, epsilon), 0.0)
    message = stop_message(converged, iterations, tol, cap)
    result = DualResult(beta, objective, bias, f + bias, iterations, iterations, converged, message, violation, gap)
    return confirmed(result, K, tol)

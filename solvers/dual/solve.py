"""Solve the dual of a support vector machine by a method's name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_flag
from spotsvm.solvers.dual.exact.exact import solve_exact
from spotsvm.solvers.dual.problem.problem import DualProblem, check_numbers, check_stopping, make_problem
from spotsvm.solvers.dual.problem.result import DualResult, Solution, confirmed

DualMethod = Literal["auto", "exact", "memetic", "gaussian", "switching", "hybrid", "two_stage", "swarm"]
METHODS: tuple[DualMethod, ...] = get_args(DualMethod)


def solve_dual(
    K: Any,
    y: Any,
    C: Any = 1.0,
    method: DualMethod = "auto",
    *,
    bias: bool | Literal["after"] = False,
    random_state: Any = None,
    start: Any = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
    definite: bool | None = None,
    settings: Any = None,
) -> DualResult:
    """Maximise the dual of a support vector classifier on a kernel matrix.

    The objective is sum(alpha) - alpha' Q alpha / 2 with Q_ij = y_i y_j K_ij over 0 <= alpha <= C (Mierswa 2006, eq. 31 and
    32); with `bias` also sum(alpha y) = 0 (eq. 33), the problem of scikit-learn's SVC.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric kernel matrix; it may be indefinite.
    y : array-like of shape (n,)
        Labels, -1 and 1.
    C : float or array-like of shape (n,), default=1.0
        Upper bound, or an upper bound for each row; positive (single rows may have 0) and finite.
    method : {"auto", "exact", "memetic", "gaussian", "switching", "hybrid", "two_stage", "swarm"}, default="auto"
        "exact": pairs of coordinates and Newton steps, with or without bias; gives a stationary point if K is indefinite.
        "memetic": an evolution of exact solutions, for indefinite K. "gaussian", "switching", "hybrid", "swarm": EvoSVM-G,
        -S, -H and PsoSVM as in the paper, without bias; "two_stage": switching, then Gaussian mutation. "auto": "exact" if K
        is positive semidefinite, otherwise "memetic".
    bias : bool or "after", default=False
        Whether the problem has a bias. With "after" the problem has no bias, and a threshold is computed from its solution: the
        mean of y minus the decision over the rows with 0 < alpha < C, as in mySVM; without such rows the middle of the thresholds
        that agree with the solution.
    random_state : int, numpy.random.Generator or None, default=None
        Seed of all random numbers.
    start : array-like of shape (n,), optional
        An alpha from which "exact" starts, also if "auto" chooses it.
    tol : float, default=1e-3
        KKT violation at which an exact solver stops, positive.
    max_iter : int, optional
        Maximum number of steps of an exact solver, or of generations of an evolution.
    definite : bool, optional
        Whether K is positive semidefinite; by default this is checked by a Cholesky factor.
    settings : EvolutionSettings, SwarmSettings or MemeticSettings, optional
        Settings of the method instead of its defaults; "auto" takes MemeticSettings, "exact" has no settings.

    Returns
    -------
    DualResult
        The solution, its objective, the reason for stopping, and its violation of the optimality conditions.

    Raises
    ------
    SolverError
        If an argument is invalid; a ValueError.

    Notes
    -----
    Equation :eq:`dual` of the chapter :doc:`/method/index`.

    References
    ----------
    Mierswa 2006, "Evolutionary Learning with Kernels", section 4.

    Examples
    --------
    >>> K = [[2.0, 0.0], [0.0, 2.0]]
    >>> result = solve_dual(K, [1, -1], C=10.0, method="exact", bias=True)
    >>> result.alpha, result.objective, result.converged
    (array([0.5, 0.5]), 0.5, True)
    """
    _check_arguments(method, definite, start, settings)
    has_bias, threshold_after = _read_bias(bias, method)
    tol, max_iter = check_stopping(tol, max_iter)
    problem = make_problem(K, y, C, has_bias)
    try:
        rng = np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise SolverError(f"random_state={random_state!r}; use a seed, a Generator or None: {error}") from error
    alpha = np.zeros(problem.n) if start is None else check_numbers("start", start, problem.n)
    if method == "auto":
        from spotsvm.solvers.dual.problem.spectrum import is_concave

        definite = is_concave(problem) if definite is None else definite
        method = "exact" if definite else "memetic"
    solution = _run(method, problem, rng, alpha, tol, max_iter, definite, settings)
    result = measured(problem, solution)
    if method in ("exact", "memetic"):
        result = confirmed(result, problem.K, tol)
    if not threshold_after:
        return result
    threshold = problem.threshold(result.alpha, result.decision)
    return replace(result, bias=threshold, decision=result.decision + threshold)


def _read_bias(bias: Any, method: str) -> tuple[bool, bool]:
    """Return whether the problem has a bias, and whether a threshold is computed from its solution."""
    if isinstance(bias, str) and bias == "after":
        return False, True
    if not isinstance(bias, bool | np.bool_):
        raise SolverError(f"bias={bias!r}; use True, False or 'after'")
    if bias and method not in ("auto", "exact", "memetic"):
        raise SolverError(
            f"bias=True with method={method!r}, which solves the problem without a bias; use bias='after' for a threshold "
            "that is computed from the solution, or the method 'exact' or 'memetic'"
        )
    return bool(bias), False


def _run(
    method: str,
    problem: DualProblem,
    rng: np.random.Generator,
    start: NDArray[np.float64],
    tol: float,
    max_iter: int | None,
    definite: bool | None,
    settings: Any,
) -> Solution:
    if method == "exact":
        return solve_exact(problem, start, tol, max_iter)
    if method == "memetic":
        from spotsvm.solvers.dual.evolution.memetic import MemeticSettings, memetic

        return memetic(problem, rng, tol, max_iter, definite, _settings(settings, MemeticSettings))
    if method == "swarm":
        from spotsvm.solvers.dual.evolution.swarm import SwarmSettings, swarm

        return swarm(problem, rng, _settings(settings, SwarmSettings, max_iter))
    from spotsvm.solvers.dual.evolution.evolution import EvolutionSettings, evolve

    return evolve(problem, method, rng, _settings(settings, EvolutionSettings, max_iter))


def _settings(settings: Any, kind: Any, max_generations: int | None = None) -> Any:
    settings = kind() if settings is None else settings
    if not isinstance(settings, kind):
        raise SolverError(f"settings={settings!r}; this method takes {kind.__name__}, or None for its defaults")
    return settings if max_generations is None else replace(settings, max_generations=max_generations)


def measured(problem: DualProblem, solution: Solution) -> DualResult:
    """Return a solution with its objective, its bias and its violation of the optimality conditions."""
    alpha, iterations, evaluations, converged, message = solution
    decision = problem.decision(alpha)
    violation, bias = problem.kkt(alpha, decision)
    objective = problem.objective(alpha, decision)
    gap = problem.primal(alpha, decision, bias) - objective
    return DualResult(alpha, objective, bias, decision + bias, iterations, evaluations, converged, message, violation, gap)


def _check_arguments(method: Any, definite: Any, start: Any, settings: Any) -> None:
    if not (isinstance(method, str) and method in METHODS):
        raise SolverError(f"method={method!r}; use one of {', '.join(map(repr, METHODS))}")
    if definite is not None:
        check_flag("definite", definite)
    if start is not None and method not in ("auto", "exact"):
        raise SolverError(f"start is set, but method={method!r} does not use it; use the method 'exact', or start=None")
    if settings is not None and method == "exact":
        raise SolverError(f"settings={settings!r} with method='exact', which has no settings; use None")
    if method == "auto":
        from spotsvm.solvers.dual.evolution.memetic import MemeticSettings

        _settings(settings, MemeticSettings)

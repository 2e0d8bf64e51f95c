"""The dual of a support vector classifier by LIBSVM, on a kernel matrix."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from solvers.dual.problem import make_problem
from solvers.dual.result import DualResult
from solvers.dual.solve import finish

Floats = NDArray[np.float64]


def solve_by_libsvm(
    K: Floats, y: Floats, C: Floats, *, tol: float = 1e-3, max_iter: int | None = None, cache_size: float = 200
) -> DualResult:
    """Maximise the dual with a bias by scikit-learn's SVC.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric kernel matrix.
    y : ndarray of shape (n,)
        Labels, -1 and 1.
    C : ndarray of shape (n,)
        Upper bounds, positive.
    tol : float, default=1e-3
        Violation of the optimality conditions at which it stops, positive.
    max_iter : int, optional
        Cap on its iterations; by default it has none.
    cache_size : float, default=200
        Megabytes of its cache.

    Returns
    -------
    DualResult
        As `solve_dual` gives it; the bias, and with it the decision, is LIBSVM's own.

    Raises
    ------
    SolverError
        If K, y or C make no sense; a ValueError.

    Examples
    --------
    >>> result = solve_by_libsvm(2 * np.eye(2), np.array([1.0, -1.0]), np.array([10.0, 10.0]))
    >>> result.alpha, result.objective
    (array([0.5, 0.5]), 0.5)
    """
    problem = make_problem(K, y, C, bias=True)
    machine = SVC(C=1.0, kernel="precomputed", tol=tol, cache_size=cache_size, max_iter=-1 if max_iter is None else max_iter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it is in the result
        machine.fit(problem.K, problem.y, sample_weight=problem.C)
    alpha = np.zeros(problem.n)
    alpha[machine.support_] = np.minimum(np.abs(machine.dual_coef_[0]), problem.C[machine.support_])
    steps = int(np.max(machine.n_iter_))
    converged = max_iter is None or steps < max_iter
    message = f"LIBSVM stopped at tol={tol:g}" if converged else f"not converged: the cap of {steps} LIBSVM steps came first"
    found = finish(problem, alpha, steps, steps, converged, message)
    bias = float(machine.intercept_[0])
    return replace(found, bias=bias, decision=found.decision - found.bias + bias)

"""Cross-validation of all solvers of the dual: errors, times and objectives on each fold."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from spotsvm.solvers.dual.problem.problem import DualProblem, make_problem
from spotsvm.solvers.dual.solve import DualMethod, solve_dual
from spotsvm.solvers.kernels import Kernel
from spotsvm.solvers.kernels.matrices.gram import gram_matrix, kernel_matrix
from spotsvm.studies.common.data import DataSet, Floats, Split
from spotsvm.studies.common.jobs import Row

BIASED, LIBSVM = "exact, bias", "LIBSVM"
#: the paper's own methods, and their names in Table 2
PAPERS: dict[DualMethod, str] = {"gaussian": "EvoSVM-G", "switching": "EvoSVM-S", "hybrid": "EvoSVM-H", "swarm": "PsoSVM"}
#: these, and the improvement that the paper names at its end
EVOLVED: tuple[DualMethod, ...] = (*PAPERS, "two_stage")
#: their names with a threshold that is computed after training
AFTER = {method: f"{method}, b after" for method in EVOLVED}
METHODS = (*(name for method in EVOLVED for name in (method, AFTER[method])), "memetic", "exact", BIASED, LIBSVM)
#: the names of Table 2; mySVM solves the problem with a bias exactly
PRINTED_AS = {**PAPERS, **{AFTER[method]: name for method, name in PAPERS.items()}, BIASED: "mySVM", LIBSVM: "LibSVM"}


def folds_of(data: DataSet, folds: int) -> list[Split]:
    """Return stratified, shuffled folds from a fixed seed; a class may have fewer rows than there are folds."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The least populated class")
        return list(StratifiedKFold(folds, shuffle=True, random_state=0).split(data.X, data.y))


def fold_runs(data: DataSet, gamma: float, cost: float, folds: int) -> pd.DataFrame:
    """Train and test the methods in turns on each fold of the raw data; return a row for each fold and method.

    Errors are in percent, seconds include the kernel matrix, and objectives are shares of the optimum without bias. The paper's
    methods, and "two_stage", have two rows, without a threshold and with that of `bias="after"`.
    """
    rows = []
    for fold, (train, test) in enumerate(folds_of(data, folds)):
        rows += _fold(data, Kernel("rbf", gamma=gamma), cost, fold, train, test)
    measured = ["error", "seconds", "optimum_share", "generations", "converged"]
    return pd.DataFrame(rows, columns=["data_set", "C", "fold", "method", *measured])


def _fold(
    data: DataSet, kernel: Kernel, cost: float, fold: int, train: NDArray[np.intp], test: NDArray[np.intp]
) -> list[tuple[Any, ...]]:
    X, y, X_test, y_test = data.X[train], data.y[train], data.X[test], data.y[test]
    K, matrix_seconds = timed(lambda: gram_matrix(kernel, X))
    K_test = kernel_matrix(kernel, X_test, X)
    problem = make_problem(K, y, cost)
    optimum = optimum_of(problem)
    rows = []
    for method in (*EVOLVED, "memetic", "exact", BIASED):
        name, bias = ("exact", True) if method == BIASED else (method, False)
        result, seconds = timed(lambda m=name, b=bias: solve_dual(K, y, cost, m, bias=b, random_state=fold, definite=True))
        decision = K_test @ (result.alpha * y)
        thresholds = {method: result.bias}
        if method in EVOLVED:
            thresholds[AFTER[method]] = problem.threshold(result.alpha, result.decision)
        about = (matrix_seconds + seconds, result.objective / optimum, result.iterations, result.converged)
        for shown, b in thresholds.items():
            rows.append((shown, 100.0 * float(np.mean((decision + b > 0) != (y_test > 0))), *about))
    machine, seconds = timed(lambda: SVC(C=cost, gamma=kernel.gamma).fit(X, y))
    share = problem.objective(alpha_of(machine, len(y))) / optimum
    error = 100.0 * float(np.mean(machine.predict(X_test) != y_test))
    rows.append((LIBSVM, error, seconds, share, int(np.max(machine.n_iter_)), True))
    return [(data.name, cost, fold, *row) for row in rows]


def memetic_costs(data: DataSet, gamma: float, costs: Sequence[float], repeats: int) -> list[Row]:
    """Return the missing share of the optimum of "memetic" on all rows, and its time compared with a fit of SVC, in turns.

    As in EvoSVC, `definite=True` tells the solver that an RBF kernel is positive semidefinite.
    """
    rows, kernel = [], Kernel("rbf", gamma=gamma)
    for cost in costs:
        times = []
        for _ in range(repeats):
            result, ours = timed(lambda c=cost: solve_dual(gram_matrix(kernel, data.X), data.y, c, "memetic", definite=True))
            _, peer = timed(lambda c=cost: SVC(C=c, gamma=gamma).fit(data.X, data.y))
            times.append((1e3 * ours, 1e3 * peer, ours / peer))
        missing = 1.0 - result.objective / optimum_of(make_problem(gram_matrix(kernel, data.X), data.y, cost))
        columns = ("milliseconds", "SVC milliseconds", "ratio")
        row: Row = {"n": len(data.y), "C": cost, "missing share of the optimum": missing}
        rows.append(row | dict(zip(columns, np.median(times, axis=0).tolist(), strict=True)))
    return rows


def timed(call: Any) -> tuple[Any, float]:
    """Return the result of a call and its processor time."""
    began = time.process_time()
    returned = call()
    return returned, time.process_time() - began


def optimum_of(problem: DualProblem) -> float:
    """Return the maximum of the dual objective without bias."""
    return solve_dual(problem.K, problem.y, problem.C, "exact", tol=1e-8).objective


def alpha_of(machine: SVC, n: int) -> Floats:
    """Return the dual variables of an SVC with two classes."""
    alpha = np.zeros(n)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    return alpha

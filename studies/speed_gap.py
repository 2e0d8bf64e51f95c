"""How well a fold's machine is solved, by ours and by scikit-learn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from solvers.dual.fold_solver import FoldSolver, Target, symmetric_bounds
from solvers.dual.problem import DualProblem
from solvers.dual.solve import solve_dual
from solvers.kernels import Kernel
from solvers.kernels.gram import gram_matrix, kernel_matrix
from solvers.kernels.single_gram import SingleGram
from spotsvm.shared_folds import CLOSER
from studies.data_sets import DataSet

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

TOL = 1e-3  # SVC's
REFERENCE_TOL = 1e-6


class Gaps(NamedTuple):
    """What is known of two solutions of one fold.

    Attributes
    ----------
    ours, sklearn : float
        The violations.
    ours_off, sklearn_off : int
        Test rows on the other side than at a solution in float64 with a violation of at most 1e-6.
    same_score : bool
        Whether the solution that ours was measured at gives the score that was recorded.
    """

    ours: float
    sklearn: float
    ours_off: int
    sklearn_off: int
    same_score: bool


class FoldGaps:
    """Solves single folds once more, in the way of the shared work, to measure the solutions.

    Parameters
    ----------
    data : DataSet
        The data.
    """

    def __init__(self, data: DataSet):
        self._data = data
        self._gram = SingleGram(data.X)
        self._solver = FoldSolver(len(data.y))

    def measure(self, cost: float, gamma: float, train: Rows, test: Rows, machine: SVC, score: float) -> Gaps:
        """Give the violations of the optimality conditions, in float64, at both solutions on one fold, and what they predict.

        Parameters
        ----------
        cost, gamma : float
            The setting.
        train, test : int array
            The fold.
        machine : SVC
            Scikit-learn's, fitted to the training rows.
        score : float
            The accuracy that the shared work gave for this fold.
        """
        data, kernel = self._data, Kernel("rbf", gamma=gamma)
        beta, decision = self._solve(cost, kernel, train)
        predicted = np.where(decision[test] >= 0, 1.0, -1.0)
        y = data.y[train]
        problem = DualProblem(gram_matrix(kernel, data.X[train]), y, np.full(len(train), cost), bias=True)
        theirs = np.zeros(len(train))
        theirs[machine.support_] = np.abs(machine.dual_coef_[0])
        gaps = [problem.kkt(a, problem.decision(a))[0] for a in (np.abs(beta[train]), theirs)]
        X_test = data.X[test]
        best = solve_dual(problem.K, y, cost, "exact", bias=True, tol=REFERENCE_TOL, start=np.abs(beta[train]))
        optimal = kernel_matrix(kernel, X_test, data.X[train]) @ (best.alpha * y) + best.bias > 0
        off = [int(np.sum((p > 0) != optimal)) for p in (predicted, machine.predict(X_test))]
        return Gaps(gaps[0], gaps[1], off[0], off[1], bool(np.isclose(np.mean(predicted == data.y[test]), score)))

    def _solve(self, cost: float, kernel: Kernel, train: Rows) -> tuple[Floats, Floats]:
        y = self._data.y
        K, offset = self._gram.matrix(kernel)
        whole = Target(y, *symmetric_bounds(cost, y, False))
        labels = np.zeros(len(y))
        labels[train] = y[train]
        part = Target(labels, *symmetric_bounds(cost, labels, False))
        start = self._solver.cold(K, offset, whole, TOL)
        state = self._solver.warm(K, offset, part, start, whole.z, TOL * CLOSER)
        return state.beta, state.decision(part)

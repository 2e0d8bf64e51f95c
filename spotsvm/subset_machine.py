"""A Gaussian support vector machine on chosen rows of a training set, and its accuracy on a validation set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.dual.exact import solve_exact
from solvers.dual.problem import DualProblem
from solvers.kernels import DistanceColumns, squared_distances
from spotsvm.one_vs_one import PairCoefficients, chosen_classes, pair_labels, pair_terms, pairs

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

# of the largest coefficient: a decision value that is no larger has the sign of a rounding error
_SILENCE = 1e-9


@dataclass(frozen=True)
class TrainedPairs:
    """The classifiers of all pairs of classes, in SVC's layout.

    Attributes
    ----------
    support : int ndarray of shape (n_support,)
        Support vectors as rows of the whole training set, class by class.
    n_support : int ndarray of shape (n_classes,)
        Their number in each class.
    dual_coef : ndarray of shape (n_classes - 1, n_support)
        Their coefficients.
    intercept : ndarray of shape (n_pairs,)
        The thresholds.
    """

    support: Integers
    n_support: NDArray[np.int32]
    dual_coef: Floats
    intercept: Floats

    def pair_coefficients(self) -> Floats:
        """Give each pair's coefficients of all support vectors, (n_pairs, n_support), mostly zeros where classes are many."""
        dense = np.zeros((len(self.intercept), len(self.support)))
        for row, terms in zip(dense, pair_terms(self.dual_coef, self.n_support), strict=True):
            for columns, coefficients in terms:
                row[columns] = coefficients
        return dense


class SubsetMachine:
    """Trains on chosen rows and classifies the validation set.

    A small set is solved exactly on its own kernel matrix; one whose matrices do not fit into the memory that is granted, by
    LIBSVM, which keeps only parts of them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Training set.
    code : int ndarray of shape (n,)
        Its classes, 0 .. n_classes - 1.
    X_validation : ndarray of shape (m, d)
        Validation set.
    code_validation : int ndarray of shape (m,)
        Its classes.
    tol : float
        Largest violation of the optimality conditions.
    max_bytes : int
        Memory for distances to the validation set, and for one set's matrices.
    """

    def __init__(self, X: Floats, code: Integers, X_validation: Floats, code_validation: Integers, tol: float, max_bytes: int):
        self.X, self.code, self.code_validation = X, code, code_validation
        self.n_classes = int(code.max()) + 1
        self.tol, self.max_bytes = tol, max_bytes
        self.columns = DistanceColumns(X, X_validation, max_bytes)
        self._rows: Integers | None = None
        self._distances: Floats = np.empty((0, 0))

    def fits(self, n: int) -> bool:
        """Tell whether the matrices of n rows fit into the memory that is granted: distances, a kernel matrix, a pair's part."""
        return 24 * n * n <= self.max_bytes

    def train(self, rows: Integers, C: float, gamma: float) -> TrainedPairs:
        """Train on some rows of the training set."""
        if not self.fits(len(rows)):
            return self._train_libsvm(rows, C, gamma)
        K = np.exp(-gamma * self._distances_of(rows))
        code = self.code[rows]
        coefficients = PairCoefficients(code, self.n_classes)
        intercept = []
        for i, j in pairs(self.n_classes):
            of_pair = np.flatnonzero((code == i) | (code == j))
            part = K if len(of_pair) == len(rows) else K[np.ix_(of_pair, of_pair)]
            labels = pair_labels(code[of_pair] == i, self.n_classes)
            problem = DualProblem(part, labels, np.full(len(labels), C), bias=True)
            alpha = solve_exact(problem, np.zeros(len(labels)), self.tol).alpha
            used = np.flatnonzero(alpha)
            coefficients.put(i, j, of_pair[used], (labels * alpha)[used])
            intercept.append(problem.kkt(alpha, problem.decision(alpha))[1])
        support, n_support, dual_coef = coefficients.support()
        return TrainedPairs(rows[support], n_support, dual_coef, np.array(intercept))

    def accuracy(self, trained: TrainedPairs, gamma: float) -> float:
        """Give the share of the validation set that is classified correctly; a row of which no classifier says anything is not.

        Where the kernel is next to 0 and so is the threshold, rounding decides, and would do so otherwise in another machine.
        """
        sums = self.columns.gaussian_sums(trained.support, gamma, trained.pair_coefficients())
        decisions = (sums + trained.intercept[:, None]).T
        said = np.abs(decisions).max(axis=1) > _SILENCE * np.abs(trained.dual_coef).max(initial=0.0)
        return float(((chosen_classes(decisions, self.n_classes, True) == self.code_validation) & said).mean())

    def gains(self, trained: TrainedPairs, gamma: float, sample: Integers) -> Callable[[Integers], Floats]:
        """Give a function of rows: how fast the hinge loss of a sample falls as such a row becomes a support vector.

        Minus the derivative of the loss, summed over the classifiers that the row takes part in, by the row's coefficient at 0.
        """
        code = self.code[sample]
        values = np.exp(-gamma * squared_distances(self.X[sample], self.X[trained.support]))
        decisions = values @ trained.pair_coefficients().T + trained.intercept
        pull = np.zeros((self.n_classes, len(sample)))
        for (i, j), decision in zip(pairs(self.n_classes), decisions.T, strict=True):
            short = ((code == i) | (code == j)) & (pair_labels(code == i, self.n_classes) * decision < 1.0)
            pull[i, short] += np.where(code[short] == i, 1.0, -1.0)
            pull[j, short] += np.where(code[short] == j, 1.0, -1.0)
        used = pull.any(axis=0)
        pulling, pull = self.X[sample[used]], pull[:, used]

        def gains(rows: Integers) -> Floats:
            kernels = np.exp(-gamma * squared_distances(self.X[rows], pulling))
            sums: Floats = np.einsum("ij,ij->i", kernels, pull[self.code[rows]])
            return sums

        return gains

    def _distances_of(self, rows: Integers) -> Floats:
        if self._rows is None or not np.array_equal(rows, self._rows):
            self._rows, self._distances = rows, squared_distances(self.X[rows])
        return self._distances

    def _train_libsvm(self, rows: Integers, C: float, gamma: float) -> TrainedPairs:
        from sklearn.svm import SVC

        machine = SVC(C=C, gamma=gamma, tol=self.tol, cache_size=self.max_bytes / 2**20)
        machine.fit(self.X[rows], self.code[rows])
        return TrainedPairs(
            rows[machine.support_], machine.n_support_, np.ascontiguousarray(machine.dual_coef_), machine.intercept_
        )

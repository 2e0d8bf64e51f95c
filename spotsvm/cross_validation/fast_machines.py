"""Machines that are trained for one C after another on a kernel matrix in single precision."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.exact.class_pairs import ClassPairs
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, State, Target, symmetric_bounds
from spotsvm.solvers.dual.problem.one_vs_one import pair_labels

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Machines:
    """What is trained: a classifier of two classes, one for each pair of several classes, or a regression (`n_classes` 0).

    z (1, n) has labels 1 and -1, or the target; several classes have `code` in its place. `cost` is each row's factor of C,
    `limits` the range of a regression's predictions, whose `aims` (t, n) are the targets with squared loss, by default z.
    """

    z: Floats
    cost: Floats
    n_classes: int
    limits: tuple[float, float] = (-np.inf, np.inf)
    code: Rows | None = None
    aims: Floats | None = None

    def weighted(self, class_factors: Sequence[float]) -> Machines:
        """Return the models with a factor of C for each class."""
        if not len(class_factors) or self.code is None:
            return self
        return replace(self, cost=self.cost * np.asarray(class_factors)[self.code])

    def on(self, rows: Rows) -> Machines:
        """Return the models restricted to some rows."""
        code = None if self.code is None else self.code[rows]
        aims = None if self.aims is None else self.aims[:, rows]
        return replace(self, z=self.z[:, rows], cost=self.cost[rows], code=code, aims=aims)

    @property
    def targets(self) -> Floats:
        """The targets (n, t) of machines with squared loss; for several classes 1 for a row's own class and else -1."""
        if not self.pairs:
            return (self.z if self.aims is None else self.aims).T
        assert self.code is not None
        return np.where(self.code[:, None] == np.arange(self.n_classes), 1.0, -1.0)

    @property
    def pairs(self) -> bool:
        """Whether there is a classifier for each pair of classes."""
        return self.n_classes > 2

    def class_pairs(self, rows: Rows) -> ClassPairs:
        """Return the classifiers of all pairs of classes on some rows, not trained yet."""
        assert self.code is not None
        return ClassPairs.of(self.code, rows, self.n_classes)

    def target(self, C: float, epsilon: float, trained: NDArray[np.bool_]) -> Target:
        """Return the training problem with this C on the rows where `trained` is True."""
        regression = not self.n_classes
        bounds = symmetric_bounds(C * self.cost * trained, self.z, regression)
        return Target(self.z, *bounds, epsilon if regression else 0.0)

    def limited(self, decisions: Floats) -> NDArray[np.float32]:
        """Return decisions in single precision, those of z within the limits of a regression."""
        found = decisions.astype(np.float32)
        if not self.n_classes:
            np.clip(found[:, :1], *self.limits, out=found[:, :1])
        return found


def class_labels(code: Rows, n_classes: int) -> Floats:
    """Return `Machines.z` of classes: 1 for the second of two classes; nothing for several."""
    return pair_labels(code == 0, 2)[None] if n_classes == 2 else np.empty((0, len(code)))


class RisingC:
    """Machines with one kernel matrix K (n, n) of all rows, trained on some rows; each C starts from the solution of the last."""

    def __init__(self, machines: Machines, K: NDArray[np.float32], train: Rows, solver: FoldSolver, tol: float):
        self._machines, self._K, self._solver, self._tol = machines, K, solver, tol
        self._pairs = machines.class_pairs(train) if machines.pairs else None
        self._trained = np.zeros(len(K), dtype=bool)
        self._trained[train] = True
        self._state: State | None = None
        self._bias: Floats = np.empty(0)

    def train(self, C: float, epsilon: float, is_late: Callable[[], bool] = lambda: False) -> None:
        """Train with another C; OutOfTimeError is raised if it is late."""
        if self._pairs is not None:
            self._pairs = self._pairs.trained(self._K, C * self._machines.cost, self._tol, is_late)
            return
        target = self._machines.target(C, epsilon, self._trained)
        if self._state is None:
            self._state = self._solver.cold(self._K, 0.0, target, self._tol)
        else:
            self._state = self._solver.warm(self._K, 0.0, target, self._state, self._machines.z, self._tol)
        self._bias = self._state.biases(target)[1]

    def decisions(self, rows: Rows) -> NDArray[np.float32]:
        """Return the decisions (r, k) of some of the n rows."""
        if self._pairs is not None:
            return self._pairs.votes(self._K[np.ix_(rows, self._pairs.rows)])
        assert self._state is not None
        return self._machines.limited(((self._state.slope + self._machines.z)[:, rows] + self._bias[:, None]).T)

    def solution(self) -> tuple[Floats, Floats, Rows, Rows | None]:
        """Return coefficients, biases, the rows in the order of the coefficients, and where the rows of each class start."""
        if self._pairs is not None:
            return self._pairs.coefficients, self._pairs.biases, self._pairs.rows, self._pairs.starts
        assert self._state is not None
        return self._state.beta, self._bias, np.arange(len(self._K)), None

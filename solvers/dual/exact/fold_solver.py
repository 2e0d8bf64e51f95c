"""The exact solution of problems on all rows, and from this start on the training rows of each fold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.exact.smo import PairProblem, minimise, pair_steps
from spotsvm.solvers.dual.problem.problem import bias_interval, middle_bias, signed_bounds
from spotsvm.solvers.dual.problem.result import iteration_cap

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

_LARGEST_PART = 3000  # rows of the copy of a part of the matrix
#: For one-vs-one models, each with a part of the rows: maximum free variables of the compiled Newton steps, steps of pairs before
#: a Newton step is considered, and further steps of pairs before `minimise` takes over.
_SMALL, _PAIR_STEPS, _MORE_STEPS = 150, 200, 20_000


@dataclass(frozen=True)
class Target:
    """Models to train on the same rows: minimise beta' K beta / 2 - z' beta + epsilon |beta|_1 over lower <= beta <= upper.

    z (labels -1 and 1, or a regression's target), `lower` and `upper` are (n,) or (m, n); rows with both bounds 0 are left out;
    epsilon is 0 for classification.
    """

    z: Floats
    lower: Floats
    upper: Floats
    epsilon: float = 0.0

    @property
    def widest(self) -> float:
        """The largest distance between bounds."""
        return float((self.upper - self.lower).max())

    def one(self, k: int) -> Target:
        """Return the target of the k-th model."""
        return Target(self.z[k], self.lower[k], self.upper[k], self.epsilon)


@dataclass
class State:
    """A point for each model, its smooth slope K beta - z on all rows, and whether all were solved to the tolerance."""

    beta: Floats
    slope: Floats
    converged: bool = True

    def decision(self, target: Target) -> Floats:
        """Return the decision function of a single model on all rows, including rows that are not trained on."""
        values: Floats = self.slope + target.z + self.bias(target)
        return values

    def bias(self, target: Target) -> float:
        """Return the threshold of a single model: the mean over free variables, else the middle of `bias_interval`."""
        return middle_bias(*bias_interval(self.slope, self.beta, target.lower, target.upper, target.epsilon))

    def fresh_sums(self, K: NDArray[np.float32], rows: Integers) -> Floats:
        """Return the decisions of m models without the bias on some rows, (m, rows): running sums lose small terms."""
        from spotsvm.solvers.dual.exact._smo_kernels import add_rows

        sums = np.zeros((len(self.beta), len(rows)))
        for values, beta in zip(sums, self.beta, strict=True):
            support = np.flatnonzero(beta)
            add_rows(np.ascontiguousarray(K[np.ix_(support, rows)]), beta[support], values)
        return sums

    def biases(self, target: Target) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return the optimal biases' intervals (m, 2) and middles (m,), and whether a variable is at a bound other than 0 (m,).

        A model without such a variable has the same solution under any larger bounds.
        """
        from spotsvm.solvers.dual.exact._fold_kernels import biases

        columns = np.empty((len(self.beta), 4))
        biases(self.slope, self.beta, target.lower, target.upper, float(target.epsilon), columns)
        return columns[:, :2], columns[:, 2], columns[:, 3] > 0.0

    def one(self, k: int) -> State:
        """Return the state of the k-th model."""
        return State(self.beta[k], self.slope[k], self.converged)


class FoldSolver:
    """Trains models on subsets of the n rows of one kernel matrix at a time; OutOfTimeError once `is_late` returns True."""

    def __init__(self, n: int, is_late: Callable[[], bool] = lambda: False):
        self._is_late = is_late
        self._buffer = np.empty(min(3 * n // 4 + 1, _LARGEST_PART) ** 2, np.float32)
        self._cap = iteration_cap(n)

    def cold(self, K: NDArray[np.float32], offset: float, target: Target, tol: float) -> State:
        """Train from zero, to a KKT violation of `tol`; K is the kernel matrix minus `offset`."""
        return self.warm(K, offset, target, State(np.zeros_like(target.z), -target.z), target.z, tol)

    def warm(
        self, K: NDArray[np.float32], offset: float, target: Target, start: State, z: Floats, tol: float, *, same: bool = True
    ) -> State:
        """Train from the solution of similar models; rows that are not trained on any more are removed from it.

        z are those of the models of `start`; unless `same` (the same matrix), all slopes are recomputed.
        """
        from spotsvm.solvers.dual.exact._fold_kernels import train

        n = len(K)
        diagonal = K.diagonal().copy()
        z_of, lower, upper, from_beta, from_slope, from_z = (
            a.reshape(-1, n) for a in (target.z, target.lower, target.upper, start.beta, start.slope, z)
        )
        beta, slope, steps = np.empty_like(z_of), np.empty_like(z_of), np.empty((len(z_of), 3))
        similar = bool(start.beta.any())
        several = len(z_of) > 1 and _SMALL > 0
        most = min(_PAIR_STEPS if several else pair_steps(n, similar), self._cap)
        last = min(pair_steps(n, similar) + _MORE_STEPS, self._cap)
        train(
            K, diagonal, float(offset), z_of, lower, upper, float(target.epsilon), from_beta, from_slope, from_z, same,
            float(tol), most, last, _SMALL if several else None, self._buffer, beta, slope, steps,
        )  # fmt: skip
        converged = steps[:, 1] > 0.0
        for k in np.flatnonzero(~converged):
            problem = PairProblem(K, diagonal, lower[k], upper[k], target.epsilon, offset, self._buffer)
            first = int(steps[k, 0]), False, float(steps[k, 2])
            _, converged[k] = minimise(
                problem, slope[k], beta[k], float(tol), self._cap, warm=similar, first=first, is_late=self._is_late
            )
        return State(beta.reshape(target.z.shape), slope.reshape(target.z.shape), bool(converged.all()))


def symmetric_bounds(C: Any, z: Floats, regression: bool) -> tuple[Floats, Floats]:
    """Return the bounds of beta: [0, C] or [-C, 0] depending on the label, [-C, C] in regression."""
    if regression:
        bounds: Floats = np.broadcast_to(np.asarray(C, dtype=np.float64), z.shape).copy()
        return -bounds, bounds
    return signed_bounds(C, z)

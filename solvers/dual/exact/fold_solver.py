"""The exact solution of one problem on all rows, and from there on the training rows of each fold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.exact.smo import PairProblem, minimise
from spotsvm.solvers.dual.problem.bias_interval import bias_interval, middle_bias
from spotsvm.solvers.dual.problem.solution import iteration_cap

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

_LARGEST_PART = 3000  # rows of the copy of a part of the matrix


@dataclass(frozen=True)
class Target:
    """A machine to train: minimise beta' K beta / 2 - z' beta + epsilon |beta|_1 over lower <= beta <= upper.

    Attributes
    ----------
    z : ndarray of shape (n,)
        Labels -1 and 1, or the target of a regression.
    lower, upper : ndarray of shape (n,)
        Bounds; both 0 for a row that is not trained on.
    epsilon : float
        0 for classification.
    """

    z: Floats
    lower: Floats
    upper: Floats
    epsilon: float = 0.0


@dataclass
class State:
    """A point, its smooth slope K beta - z on all rows, and whether it was solved to the tolerance."""

    beta: Floats
    slope: Floats
    converged: bool = True

    def decision(self, target: Target) -> Floats:
        """Return the decision function on all rows, those that are not trained on included."""
        values: Floats = self.slope + target.z + self.bias(target)
        return values

    def fresh_decision(self, target: Target, K: NDArray[np.float32], rows: Integers) -> Floats:
        """Return the decision function on some rows, summed anew: a running sum has lost what is small beside z."""
        from spotsvm.solvers.dual.exact._smo_kernels import add_rows

        values = np.zeros(len(rows))
        support = np.flatnonzero(self.beta)
        add_rows(np.ascontiguousarray(K[np.ix_(support, rows)]), self.beta[support], values)
        values += self.bias(target)
        return values

    def bias(self, target: Target) -> float:
        """Return the threshold: the mean over free variables, else the middle of the interval that the others allow."""
        return middle_bias(*self.bias_interval(target))

    def bias_interval(self, target: Target) -> tuple[float, float]:
        """Return the least and the largest threshold that the variables allow."""
        return bias_interval(self.slope, self.beta, target.lower, target.upper, target.epsilon)


class FoldSolver:
    """Trains machines on subsets of the rows of one kernel matrix at a time.

    Parameters
    ----------
    n : int
        Rows of the kernel matrices.
    """

    def __init__(self, n: int):
        self._buffer = np.empty(min(3 * n // 4 + 1, _LARGEST_PART) ** 2, np.float32)
        self._cap = iteration_cap(n)

    def cold(self, K: NDArray[np.float32], offset: float, target: Target, tol: float) -> State:
        """Train from nothing.

        Parameters
        ----------
        K : float32 ndarray of shape (n, n)
            Kernel matrix less `offset`.
        offset : float
            Constant that was subtracted.
        target : Target
            The machine.
        tol : float
            Largest KKT violation.

        Returns
        -------
        State
            The solution.
        """
        return self._solve(K, offset, target, State(np.zeros(len(K)), -target.z), tol)

    def warm(
        self, K: NDArray[np.float32], offset: float, target: Target, start: State, z: Floats, tol: float, *, same: bool = True
    ) -> State:
        """Train from the solution of a similar machine: what is not trained on any more is taken out of it.

        Parameters
        ----------
        K, offset, target, tol
            As in `cold`.
        start : State
            The solution to begin at.
        z : ndarray of shape (n,)
            That machine's z.
        same : bool, default=True
            Whether it is a solution with this very matrix; otherwise all slopes are computed anew.

        Returns
        -------
        State
            The solution.
        """
        from spotsvm.solvers.dual.exact._smo_kernels import add_rows

        beta = np.clip(start.beta, target.lower, target.upper)
        if not rebalance(beta, start.slope, target.lower, target.upper):
            return self.cold(K, offset, target, tol)
        if same:
            slope = start.slope + (z - target.z)
            add_rows(K, beta - start.beta, slope)
        else:
            slope = -target.z
            add_rows(K, beta, slope)
        return self._solve(K, offset, target, State(beta, slope), tol)

    def _solve(self, K: NDArray[np.float32], offset: float, target: Target, state: State, tol: float) -> State:
        diagonal = K.diagonal().copy()
        problem = PairProblem(K, diagonal, target.lower, target.upper, target.epsilon, offset, self._buffer)
        _, state.converged = minimise(problem, state.slope, state.beta, float(tol), self._cap)
        return state


def rebalance(beta: Floats, slope: Floats, lower: Floats, upper: Floats) -> bool:
    """Bring the sum of beta to 0 in place, by the variables that it costs least; say whether that was possible."""
    excess = float(beta.sum())
    if excess == 0.0:
        return True
    order = np.argsort(-slope if excess > 0 else slope, kind="stable")
    end = lower if excess > 0 else upper
    room = np.abs(beta - end)[order]
    order, room = order[room > 0], room[room > 0]
    reach = np.cumsum(room)
    k = int(np.searchsorted(reach, abs(excess)))
    if k >= len(order):
        rounding = len(beta) * np.finfo(float).eps * float(np.abs(beta).sum())
        if not len(order) or abs(excess) - reach[-1] > rounding:
            return False
        k = len(order) - 1
    beta[order[:k]] = end[order[:k]]
    rest = abs(excess) - (reach[k - 1] if k else 0.0)
    last = order[k]
    moved = beta[last] + (rest if excess < 0 else -rest)
    beta[last] = min(max(moved, lower[last]), upper[last])  # rounding must not pass a bound
    return True


def symmetric_bounds(C: Any, z: Floats, regression: bool) -> tuple[Floats, Floats]:
    """Return the bounds of beta: [0, C] or [-C, 0] by the label, [-C, C] in regression."""
    if regression:
        bounds: Floats = np.broadcast_to(np.asarray(C, dtype=np.float64), z.shape).copy()
        return -bounds, bounds
    signed = C * z
    return np.minimum(signed, 0.0), np.maximum(signed, 0.0)

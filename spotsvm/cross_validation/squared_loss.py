"""Kernel machines with squared loss: least-squares support vector machines.

The coefficients minimise sum_i w_i (f_i - t_i)^2 + ridge b' K b, where f = mean + K b and the ridge is 1 / (2 C) (Saunders,
Gammerman and Vovk 1998; Suykens and Vandewalle 1999). All targets share a factorisation of the matrix, so several classes need
no more machines than two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from spotsvm.cross_validation.fast_machines import Machines
from spotsvm.errors import OutOfTimeError

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


class SquaredLoss:
    """Machines with squared loss (:eq:`squared-loss`) on a kernel matrix K (n, n) of all rows, for one C after another."""

    # `single`: the ridge from which on single precision is enough
    def __init__(self, machines: Machines, K: NDArray[np.floating], train: Rows, single: float = np.inf):
        self._machines, self._K, self._train, self._single = machines, K, train, single
        self._own = K[np.ix_(train, train)]
        self._per_weight = 1.0 / machines.cost[train]
        targets = machines.targets[train]
        self._mean = np.average(targets, axis=0, weights=machines.cost[train])
        self._centered = targets - self._mean
        self._coefficients = np.zeros_like(targets)

    def train(self, C: float, epsilon: float = 0.0, is_late: Callable[[], bool] = lambda: False) -> None:
        """Train with another C; OutOfTimeError is raised if it is late. `epsilon` is not used, as this loss has none."""
        if is_late():
            raise OutOfTimeError("the solution took longer than the time left")
        ridge = 0.5 / C
        A: NDArray[Any] = self._own.astype(np.float32 if ridge >= self._single else np.float64, order="F")
        A[np.diag_indices(len(A))] += (ridge * self._per_weight).astype(A.dtype)
        try:
            factor = cho_factor(A, lower=True, overwrite_a=True, check_finite=False)
            self._coefficients = cho_solve(factor, self._centered.astype(A.dtype), check_finite=False).astype(np.float64)
        except LinAlgError:  # rounding, with a small ridge
            self._coefficients = np.zeros_like(self._centered)

    def decisions(self, rows: Rows) -> NDArray[np.float32]:
        """Return the decisions (r, t) of some of the n rows."""
        K = self._K[np.ix_(rows, self._train)]
        return self._machines.limited(K @ self._coefficients.astype(K.dtype) + self._mean)

    def solution(self) -> tuple[Floats, Floats, Rows, None]:
        """Return coefficients (t, n) and biases (t,) in the order of the n rows; there are no pairs of classes."""
        beta = np.zeros((len(self._mean), len(self._K)))
        beta[:, self._train] = self._coefficients.T
        return beta, self._mean, np.arange(len(self._K)), None

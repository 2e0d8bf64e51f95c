"""Classifiers of several classes, one for each pair of them, each trained on the rows of its two classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.dual.exact.smo import PairProblem, minimise
from spotsvm.solvers.dual.problem.one_vs_one import one_vs_rest, pair_decisions
from spotsvm.solvers.dual.problem.problem import bias_interval, middle_bias
from spotsvm.solvers.dual.problem.result import iteration_cap
from spotsvm.surrogates.one_thread import one_blas_thread

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]

#: maximum free variables of the compiled Newton steps; steps of pairs before a Newton step is considered; most steps before
#: `minimise` takes over
_SMALL, _PAIR_STEPS, _MOST_STEPS = 150, 200, 20_000
#: kernel values that are copied, and decisions that are in memory, between two looks at the clock
_CHUNK, _BLOCK = 20_000_000, 4_000_000


@dataclass(frozen=True)
class ClassPairs:
    """A classifier for each pair of classes i < j, positive for class i; rows of class c are rows[starts[c] : starts[c + 1]].

    `coefficients` (k - 1, n) as SVC's `dual_coef_`: a row of class c has its coefficient against class o in row o - 1 if o > c,
    else in o. `biases` in the order (0, 1), (0, 2), ..., (1, 2), ...
    """

    rows: Integers
    starts: Integers
    coefficients: Floats
    biases: Floats

    @classmethod
    def of(cls, code: Integers, rows: Integers, n_classes: int) -> ClassPairs:
        """Return classifiers of these rows that are not trained yet; `code` has the class of each row of the data."""
        ordered = rows[np.argsort(code[rows], kind="stable")]
        starts = np.searchsorted(code[ordered], np.arange(n_classes + 1)).astype(np.intp)
        zeros = np.zeros((n_classes - 1, len(rows)))
        return cls(ordered, starts, zeros, np.zeros(n_classes * (n_classes - 1) // 2))

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.starts) - 1

    def trained(
        self, K: NDArray[np.float32], cost: Floats, tol: float, is_late: Callable[[], bool] = lambda: False
    ) -> ClassPairs:
        """Return the classifiers trained with bounds `cost` (N,), from the present ones; K is that of all N rows of the data.

        OutOfTimeError is raised once `is_late` returns True.
        """
        from spotsvm.solvers.dual.exact._class_pair_kernels import train_class_pairs

        first, second = np.triu_indices(self.n_classes, 1)
        sizes = np.diff(self.starts)
        work = np.cumsum((sizes[first] + sizes[second]) ** 2)
        largest = int(np.sort(sizes)[-2:].sum())
        buffer = np.empty(largest**2, np.float32)
        cap = iteration_cap(len(self.rows))
        coefficients, biases, own_cost = self.coefficients.copy(), self.biases.copy(), np.ascontiguousarray(cost[self.rows])
        steps = np.empty((len(first), 3))
        start = 0
        while start < len(first):
            before = work[start - 1] if start else 0
            stop = max(int(np.searchsorted(work, before + _CHUNK)), start + 1)
            some = slice(start, stop)
            train_class_pairs(
                K, self.rows, self.starts, own_cost, first[some], second[some], float(tol), min(_PAIR_STEPS, cap),
                min(_MOST_STEPS, cap), _SMALL, buffer, coefficients, biases[some], steps[some],
            )  # fmt: skip
            start = stop
            if start < len(first) and is_late():
                raise OutOfTimeError("the classifiers of all pairs of classes took longer than the time left")
        for p in np.flatnonzero(steps[:, 1] == 0.0):
            biases[p] = self._finished(K, own_cost, int(first[p]), int(second[p]), coefficients, steps[p], tol, cap, is_late)
        return replace(self, coefficients=coefficients, biases=biases)

    def _finished(
        self, K: NDArray[np.float32], cost: Floats, i: int, j: int, coefficients: Floats, steps: Floats, tol: float, cap: int,
        is_late: Callable[[], bool],
    ) -> float:  # fmt: skip
        """Write the coefficients of a pair that needs larger Newton steps, and return its bias."""
        of_i, of_j = slice(self.starts[i], self.starts[i + 1]), slice(self.starts[j], self.starts[j + 1])
        rows = np.concatenate([self.rows[of_i], self.rows[of_j]])
        n_i = of_i.stop - of_i.start
        z = np.where(np.arange(len(rows)) < n_i, 1.0, -1.0)
        bounds = np.concatenate([cost[of_i], cost[of_j]])
        lower, upper = np.minimum(z * bounds, 0.0), np.maximum(z * bounds, 0.0)
        part = np.ascontiguousarray(K[np.ix_(rows, rows)])
        beta = np.concatenate([coefficients[j - 1, of_i], coefficients[i, of_j]])
        slope = part @ beta - z
        problem = PairProblem(part, part.diagonal().copy(), lower, upper, 0.0, 0.0, np.empty(len(rows) ** 2, np.float32))
        minimise(problem, slope, beta, tol, cap, first=(int(steps[0]), False, float(steps[2])), is_late=is_late)
        coefficients[j - 1, of_i], coefficients[i, of_j] = beta[:n_i], beta[n_i:]
        return middle_bias(*bias_interval(slope, beta, lower, upper))

    def votes(self, K: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the votes (r, k) of the pairs plus a fraction of a vote by the size of the decisions, as SVC's decisions.

        K (r, n) has the training rows in the order of `rows`.
        """
        size = max(_BLOCK // self.n_classes**2, 1)
        with one_blas_thread():  # a product for each class is small
            parts = [self._votes(K[start : start + size]) for start in range(0, len(K), size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.n_classes), np.float32)

    def _votes(self, K: NDArray[np.floating]) -> NDArray[np.float32]:
        decisions = pair_decisions(K, self.coefficients, np.diff(self.starts), self.biases)
        return one_vs_rest(decisions, self.n_classes).astype(np.float32)

"""Compiled training of a classifier for each pair of classes, on the rows of these two classes alone."""

from __future__ import annotations

import numpy as np

from spotsvm.solvers.dual.exact._fold_kernels import _solve_small, biases, rebalance
from spotsvm.solvers.dual.exact._smo_kernels import add_rows
from spotsvm.surrogates.compiled import compiled


@compiled
def train_class_pairs(K, rows, starts, cost, first, second, tol, most, last, most_free, buffer, coefficients, bias, steps):
    """Train a classifier for each pair of classes (first[p], second[p]), positive for the first; write `coefficients` in place.

    `rows` are indices of K, class by class, those of class c at starts[c] to starts[c + 1]; `cost` has their bounds.
    `coefficients` has the layout of SVC's dual_coef_, a column for each of `rows`.
    """
    for p in range(len(first)):
        i, j = first[p], second[p]
        n_i, n_j = starts[i + 1] - starts[i], starts[j + 1] - starts[j]
        n = n_i + n_j
        if n == 0:
            bias[p], steps[p, 0], steps[p, 1], steps[p, 2] = 0.0, 0.0, 1.0, 0.0
            continue
        at = np.empty(n, np.int64)
        own = np.empty(n, np.int64)
        z, lower, upper, beta = np.empty((1, n)), np.zeros((1, n)), np.zeros((1, n)), np.empty((1, n))
        for r in range(n):
            at[r] = starts[i] + r if r < n_i else starts[j] + r - n_i
            own[r] = j - 1 if r < n_i else i
            z[0, r] = 1.0 if r < n_i else -1.0
            if r < n_i:
                upper[0, r] = cost[at[r]]
            else:
                lower[0, r] = -cost[at[r]]
            beta[0, r] = min(max(coefficients[own[r], at[r]], lower[0, r]), upper[0, r])
        part = np.empty((n, n), np.float32)
        diagonal = np.empty(n, np.float32)
        for r in range(n):
            row = K[rows[at[r]]]
            for s in range(n):
                part[r, s] = row[rows[at[s]]]
            diagonal[r] = part[r, r]
        slope = np.empty((1, n))
        for r in range(n):
            slope[0, r] = -z[0, r]
        add_rows(part, beta[0], slope[0])
        balanced = rebalance(beta[0], slope[0], lower[0], upper[0])
        for r in range(n):
            beta[0, r] = beta[0, r] if balanced else 0.0
            slope[0, r] = -z[0, r]
        add_rows(part, beta[0], slope[0])
        steps[p, 0], steps[p, 1], steps[p, 2] = _solve_small(
            part, diagonal, 0.0, slope[0], beta[0], lower[0], upper[0], 0.0, tol, most, last, most_free, buffer
        )
        found = np.empty((1, 4))
        biases(slope, beta, lower, upper, 0.0, found)
        bias[p] = found[0, 2]
        for r in range(n):
            coefficients[own[r], at[r]] = beta[0, r]

"""The discriminant functions of all passes of a conformal support vector machine at new rows, and the gradient of log D."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.kernels.derivatives import expansion_gradient
from solvers.kernels.gram import kernel_matrix
from solvers.kernels.kernel import Kernel
from spotsvm.conformal_passes import LOWEST_EXPONENT, log_factor
from spotsvm.one_vs_one import pair_decisions, pair_terms

Floats = NDArray[np.float64]
Counts = NDArray[np.int32]


@dataclass(frozen=True)
class ConformalPass:
    """One pass of all pairs of classes: f(x) = D(x) (sum_s c_s K(x_s, x) + t) + b.

    D = exp(-kappa f'^2), where f' is that of the pass before.

    Attributes
    ----------
    kappa : ndarray of shape (n_pairs,)
        0 for the first pass.
    table : ndarray of shape (n_classes - 1, n_used)
        The coefficients of the base kernel, D(x_s) y_s alpha_s, in SVC's layout; of the rows that any pass uses.
    threshold : ndarray of shape (n_pairs,)
        The thresholds t, which D scales.
    intercept : ndarray of shape (n_pairs,)
        The thresholds b, which it does not.
    """

    kappa: Floats
    table: Floats
    threshold: Floats
    intercept: Floats


def discriminants(values: Floats, passes: Sequence[ConformalPass], n_used: Counts) -> Floats:
    """Give f of each pass and pair of classes.

    Parameters
    ----------
    values : ndarray of shape (n, n_used)
        The base kernel's values of new rows with the rows that any pass uses.
    passes : sequence of ConformalPass
        The passes.
    n_used : ndarray of shape (n_classes,)
        How many of those rows are of each class.

    Returns
    -------
    ndarray of shape (n_passes, n, n_pairs)
        Positive for the side that `pair_labels` gives 1.0.
    """
    path = np.empty((len(passes), len(values), len(passes[0].intercept)))
    for k, one in enumerate(passes):
        sums = pair_decisions(values, one.table, n_used, one.threshold)
        if k:
            sums *= np.exp(log_factor(one.kappa, path[k - 1]))
        path[k] = sums + one.intercept
    return path


def log_factor_gradient(
    kernel: Kernel, X: Floats, Z: Floats, passes: Sequence[ConformalPass], n_used: Counts, steps: Floats
) -> tuple[Floats, Floats]:
    """Give log D of the last pass and its gradient, at some rows.

    Parameters
    ----------
    kernel : Kernel
        The base kernel.
    X : ndarray of shape (n, d)
        The rows.
    Z : ndarray of shape (n_used, d)
        The rows that any pass uses.
    passes, n_used
        As in `discriminants`.
    steps : ndarray of shape (d,)
        As in `expansion_gradient`.

    Returns
    -------
    log_D : ndarray of shape (n, n_pairs)
        -kappa f^2 (Williams et al. 2005, eq. 14), at least -80.
    gradient : ndarray of shape (n, n_pairs, d)
        -2 kappa f grad f; 0 where log D is held at -80.
    """
    n_pairs = len(passes[0].intercept)
    log_D, gradient = np.zeros((len(X), n_pairs)), np.zeros((len(X), n_pairs, X.shape[1]))
    values = kernel_matrix(kernel, X, Z)
    for one, following in zip(passes[:-1], passes[1:], strict=True):
        sums = pair_decisions(values, one.table, n_used, one.threshold)
        slopes = expansion_gradient(kernel, X, Z, _rows_of_pairs(one.table, n_used), steps)
        D = np.exp(log_D)
        f = D * sums + one.intercept
        f_gradient = D[:, :, None] * (sums[:, :, None] * gradient + slopes)
        log_D = log_factor(following.kappa, f)
        with np.errstate(over="ignore"):
            slope = np.where(log_D > LOWEST_EXPONENT, -2.0 * following.kappa * f, 0.0)
        gradient = slope[:, :, None] * f_gradient
    return log_D, gradient


def _rows_of_pairs(table: Floats, n_used: Counts) -> Floats:
    """Give the coefficients of each pair's classifier as a row, (n_pairs, n_used)."""
    rows = []
    for terms in pair_terms(table, n_used):
        row = np.zeros(table.shape[1])
        for columns, coefficients in terms:
            row[columns] = coefficients
        rows.append(row)
    return np.array(rows)

"""Volume magnification of a conformally rescaled kernel: the square root of the ratio of two metrics' determinants."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.estimators import Floats
from spotsvm.estimators.conformal.factor import (
    LOWEST_EXPONENT,
    log_factor,
    log_support_factor,
    log_support_factor_gradient,
)
from spotsvm.solvers.dual.problem.one_vs_one import pair_decisions, pair_rows
from spotsvm.solvers.kernels.derivatives import (
    KernelMetric,
    check_differentiable,
    difference_steps,
    expansion_gradient,
    kernel_metric,
)
from spotsvm.solvers.kernels.functions.kernel import Kernel
from spotsvm.solvers.kernels.matrices.gram import kernel_matrix, row_blocks, squared_distances

Counts = NDArray[np.int32]
# a metric whose eigenvalues are further apart has no inverse in float64
_SINGULAR = 1e-12


def magnification(
    kernel: Kernel, X: Floats, Z: Floats, passes: Sequence[ConformalPass], n_used: Counts, max_bytes: int
) -> Floats:
    """Return sqrt(g~ / g), (n, n_pairs), of the rows X; nan (with a warning) where g is no metric.

    Blocks of rows take at most `max_bytes`; the other arguments are those of `log_factor_gradient`.
    """
    check_differentiable(kernel)
    steps = difference_steps(Z)
    d, n_pairs = X.shape[1], len(passes[0].intercept)
    isotropic = kernel.base == "squared distances"
    ratio = isotropic_ratio if isotropic else general_ratio
    numbers = 4 * len(Z) + 4 * d * n_pairs + (0 if isotropic else 6 * d * d)
    result = np.empty((len(X), n_pairs))
    for block in row_blocks(len(X), max(1, max_bytes // (8 * numbers))):
        log_D, gradient = log_factor_gradient(kernel, X[block], Z, passes, n_used, steps)
        # a metric that is the same in every direction is known by one of them
        metric = kernel_metric(kernel, X[block, :1] if isotropic else X[block], steps)
        for pair in range(n_pairs):
            with np.errstate(under="ignore"):
                result[block, pair] = np.exp(d * log_D[:, pair]) * ratio(metric, gradient[:, pair])
    undefined = np.isnan(result).any(axis=1)
    if undefined.any():
        warnings.warn(
            f"The metric of the kernel {kernel.label} is singular, indefinite or undefined at {undefined.sum()} of {len(X)} "
            "rows; the magnification is nan there.",
            RuntimeWarning,
            stacklevel=3,
        )
    return result


def isotropic_ratio(metric: KernelMetric, gradient: Floats) -> Floats:
    """Return sqrt(g~ / g) / D^d where g is a multiple of the identity and K(x, x) is constant (Williams et al. 2005, eq. 13)."""
    scale = metric.tensor[:, 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = 1.0 + metric.value / scale * np.einsum("ij,ij->i", gradient, gradient)
        return np.where((scale > 0) & (squared > 0), np.sqrt(squared), np.nan)


def general_ratio(metric: KernelMetric, gradient: Floats) -> Floats:
    """Return sqrt(g~ / g) / D^d for any metric (Williams et al. 2005, eq. 6), nan where it is singular or indefinite.

    With u = grad log D and k = grad K(x, x') at x' = x, g~ = D^2 (g + K u u' + k u' + u k'). In products by the inverse of g, a =
    <u, u>, c = <k, u>, m = <k, k>: det = det g ((1 + c)^2 + a (K - m)).
    """
    result = np.full(len(gradient), np.nan)
    finite = np.isfinite(metric.tensor).all(axis=(1, 2)) & np.isfinite(metric.gradient).all(axis=1)
    known = np.flatnonzero(finite & np.isfinite(metric.value) & np.isfinite(gradient).all(axis=1))
    if not len(known):
        return result
    spectrum = np.linalg.eigvalsh(metric.tensor[known])
    known = known[spectrum[:, 0] > _SINGULAR * np.abs(spectrum).max(axis=1)]
    value, vectors = metric.value[known], np.stack([gradient[known], metric.gradient[known]], axis=2)
    with np.errstate(over="ignore", invalid="ignore"):
        products = vectors.transpose(0, 2, 1) @ np.linalg.solve(metric.tensor[known], vectors)
        a, c, m = products[:, 0, 0], products[:, 0, 1], products[:, 1, 1]
        rest = value - m
        rest[np.abs(rest) <= _SINGULAR * np.maximum(np.abs(value), m)] = 0.0  # as of "linear", whatever rounding left
        squared = (1.0 + c) ** 2 + a * rest
        result[known] = np.sqrt(np.where(squared >= 0, squared, np.nan))
    return result


@dataclass(frozen=True)
class ConformalPass:
    """One pass of all pairs of classes: f(x) = D(x) (sum_s c_s K(x_s, x) + t) + b, D by f' or the rows of the pass before.

    kappa (0 at first), t, which D scales, and b, which it does not, are (n_pairs,); the table (n_classes - 1, n_used) has the
    base kernel's coefficients D(x_s) y_s alpha_s in SVC's layout. `rates` (n_pairs, n_used) are those of `log_support_factor`.
    """

    kappa: Floats
    table: Floats
    threshold: Floats
    intercept: Floats
    rates: Floats | None = None

    def log_factor(self, before: Floats, distances: Floats | None) -> Floats:
        """Return log D at new rows, (n, n_pairs), from f of the pass before, or the squared distances from the rows in use."""
        if self.rates is None or distances is None:
            return log_factor(self.kappa, before)
        return np.column_stack([log_support_factor(rates, distances) for rates in self.rates])


def discriminants(values: Floats, passes: Sequence[ConformalPass], n_used: Counts, distances: Floats | None = None) -> Floats:
    """Return f of each pass and pair of classes, (n_passes, n, n_pairs), positive for the side that `pair_labels` gives 1.0.

    `values` are the base kernel's of new rows with the rows that any pass uses, of which `n_used` are of each class; `distances`
    their squared distances, where D follows the support vectors.
    """
    stages = np.empty((len(passes), len(values), len(passes[0].intercept)))
    for k, one in enumerate(passes):
        sums = pair_decisions(values, one.table, n_used, one.threshold)
        if k:
            sums *= np.exp(one.log_factor(stages[k - 1], distances))
        stages[k] = sums + one.intercept
    return stages


def log_factor_gradient(
    kernel: Kernel, X: Floats, Z: Floats, passes: Sequence[ConformalPass], n_used: Counts, steps: Floats
) -> tuple[Floats, Floats]:
    """Return log D of the last pass at the rows X, (n, n_pairs), and its gradient, (n, n_pairs, d), 0 where log D is held at -80.

    log D is -kappa f^2 (Williams et al. 2005, eq. 14), or with `rates` that of the support vectors (eq. 7), at least -80. Z are
    the rows that any pass uses, `steps` those of `expansion_gradient`.
    """
    n_pairs = len(passes[0].intercept)
    log_D, gradient = np.zeros((len(X), n_pairs)), np.zeros((len(X), n_pairs, X.shape[1]))
    values = kernel_matrix(kernel, X, Z)
    last = passes[-1]
    if last.rates is not None:
        distances = squared_distances(X, Z)
        gradients = [log_support_factor_gradient(rates, X, Z, distances) for rates in last.rates]
        return last.log_factor(log_D, distances), np.stack(gradients, axis=1)
    for one, following in zip(passes[:-1], passes[1:], strict=True):
        sums = pair_decisions(values, one.table, n_used, one.threshold)
        slopes = expansion_gradient(kernel, X, Z, pair_rows(one.table, n_used), steps)
        D = np.exp(log_D)
        f = D * sums + one.intercept
        f_gradient = D[:, :, None] * (sums[:, :, None] * gradient + slopes)
        log_D = log_factor(following.kappa, f)
        with np.errstate(over="ignore"):
            slope = np.where(log_D > LOWEST_EXPONENT, -2.0 * following.kappa * f, 0.0)
        gradient = slope[:, :, None] * f_gradient
    return log_D, gradient

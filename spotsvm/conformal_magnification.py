"""By how much a conformally rescaled kernel magnifies volumes: the square root of the ratio of two metrics' determinants."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from solvers.kernels.blocks import row_blocks
from solvers.kernels.derivatives import KernelMetric, check_differentiable, kernel_metric
from solvers.kernels.difference_quotients import difference_steps
from solvers.kernels.kernel import Kernel
from spotsvm.conformal_expansion import ConformalPass, Counts, log_factor_gradient

Floats = NDArray[np.float64]

# a metric whose eigenvalues are further apart has no inverse in float64
_SINGULAR = 1e-12


def magnification(
    kernel: Kernel, X: Floats, Z: Floats, passes: Sequence[ConformalPass], n_used: Counts, max_bytes: int
) -> Floats:
    """Give sqrt(g~ / g) for each row and pair of classes, nan (with a warning) where g is no metric.

    Parameters
    ----------
    kernel : Kernel
        The base kernel.
    X : ndarray of shape (n, d)
        The rows.
    Z, passes, n_used
        As in `log_factor_gradient`.
    max_bytes : int
        Memory that blocks of rows may take.

    Returns
    -------
    ndarray of shape (n, n_pairs)
        The ratios.

    Raises
    ------
    SolverError
        If the kernel is "precomputed", and so has no derivatives.
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
            f"The metric of the kernel {kernel.label} is singular, indefinite or not there at {undefined.sum()} of {len(X)} "
            "rows; the magnification is nan there.",
            RuntimeWarning,
            stacklevel=3,
        )
    return result


def isotropic_ratio(metric: KernelMetric, gradient: Floats) -> Floats:
    """Give sqrt(g~ / g) / D^d where g is a multiple of the identity and K(x, x) is constant.

    Parameters
    ----------
    metric : KernelMetric
        The base kernel's, in one direction at least.
    gradient : ndarray of shape (n, d)
        Of log D.

    References
    ----------
    Williams, Li, Feng, Wu 2005, "Scaling the Kernel Function to Improve Performance of the Support Vector Machine", eq. 13.
    """
    scale = metric.tensor[:, 0, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        squared = 1.0 + metric.value / scale * np.einsum("ij,ij->i", gradient, gradient)
        return np.where((scale > 0) & (squared > 0), np.sqrt(squared), np.nan)


def general_ratio(metric: KernelMetric, gradient: Floats) -> Floats:
    """Give sqrt(g~ / g) / D^d for any metric, nan where it is singular or indefinite.

    With u = grad log D, eq. 6 is g~ = D^2 (g + K u u' + k u' + u k'), where k is the gradient of K(x, x') at x' = x. In products
    by the inverse of g, a = <u, u>, c = <k, u> and m = <k, k>, the determinant of the bracket is that of g times
    (1 + c)^2 + a (K - m); K - m is not negative where the kernel is positive semidefinite.

    Parameters
    ----------
    metric : KernelMetric
        The base kernel's.
    gradient : ndarray of shape (n, d)
        Of log D.

    References
    ----------
    Williams, Li, Feng, Wu 2005, "Scaling the Kernel Function to Improve Performance of the Support Vector Machine", eq. 6.
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

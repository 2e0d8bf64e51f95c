"""Derivatives of kernel functions: gradients of kernel sums, and the metric that a kernel induces on the input space."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.functions.kernel import Kernel
from spotsvm.solvers.kernels.matrices.gram import check_rows, gram_matrix, kernel_matrix, squared_distances

Floats = NDArray[np.float64]

# share of a column's spread: without the error of order h^2, rounding and the remaining error are both below 1e-9
_STEP = 1e-3
# relative tolerance between the derivatives with two steps, if the function is smooth
_SAME = 0.02


def difference_steps(Z: Floats) -> Floats:
    """Return a step for each column: a thousandth of its standard deviation, or of its size if it is constant."""
    spread = Z.std(axis=0)
    size = np.abs(Z).max(axis=0, initial=0.0)
    return _STEP * np.where(spread > 0, spread, np.where(size > 0, size, 1.0))


def gradient_by_differences(function: Callable[[Floats], Floats], X: Floats, steps: Floats) -> Floats:
    """Return the gradients (n, p, d) at the rows X of functions that map rows (k, d) to values (k, p)."""
    columns = []
    for i, h in enumerate(steps):
        step = np.zeros(len(steps))
        step[i] = h
        short, long = ((function(X + k * step) - function(X - k * step)) / (2 * k * h) for k in (1.0, 2.0))
        columns.append((4.0 * short - long) / 3.0)
    return np.stack(columns, axis=2)


def tensor_by_differences(kernel: Callable[[Floats], Floats], x: Floats, steps: Floats) -> Floats:
    """Return the mixed derivatives (d, d) of a kernel, which maps rows to their kernel matrix, at equal arguments x.

    They are nan where two steps do not agree: the kernel is not smooth there.
    """
    short, long = (_mixed(kernel, x, k * steps) for k in (1.0, 2.0))
    if not np.abs(short - long).max() <= _SAME * np.abs(short).max():
        return np.full_like(short, np.nan)
    return (4.0 * short - long) / 3.0


def _mixed(kernel: Callable[[Floats], Floats], x: Floats, steps: Floats) -> Floats:
    d = len(x)
    values = kernel(np.concatenate([x + np.diag(steps), x - np.diag(steps)]))
    difference = values[:d] - values[d:]
    quotients: Floats = (difference[:, :d] - difference[:, d:]) / (4.0 * np.outer(steps, steps))
    return 0.5 * (quotients + quotients.T)


class KernelMetric(NamedTuple):
    """At rows x: K(x, x) (n,), its gradient by the first argument (n, d), and g_ij(x), its mixed derivatives (n, d, d).

    The metric of the kernel times a function of x follows from them. `tensor` is nan where they do not exist.
    """

    value: Floats
    gradient: Floats
    tensor: Floats


def expansion_gradient(kernel: Kernel, X: Floats, Z: Floats, coefficients: Floats, steps: Floats | None = None) -> Floats:
    """Return the gradients (n, p, d) at the rows X of p sums sum_j c_j k(x, z_j), `coefficients` (p, m); nan where none exist.

    A callable kernel needs `steps` (see `difference_steps`); "precomputed" has no gradients.
    """
    check_differentiable(kernel)
    if kernel.base == "rows":
        return gradient_by_differences(lambda rows: kernel_matrix(kernel, rows, Z) @ coefficients.T, X, _required(steps))
    result = np.empty((len(X), len(coefficients), X.shape[1]))
    of_products = kernel.base == "inner products"
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        slopes = _slope(kernel, X @ Z.T if of_products else squared_distances(X, Z))
        for p, row in enumerate(coefficients):
            used = np.flatnonzero(row)
            weights = slopes[:, used] * row[used]
            towards = weights @ Z[used]
            result[:, p] = towards if of_products else 2.0 * (weights.sum(axis=1)[:, None] * X - towards)
    return result


def kernel_metric(kernel: Kernel, X: Floats, steps: Floats | None = None) -> KernelMetric:
    """Return the metric tensor that a kernel induces at some rows, and the other terms of eq. 6 of Williams et al.

    Williams, Li, Feng, Wu 2005, "Scaling the Kernel Function to Improve Performance of the Support Vector Machine", eq. 2, 10.
    """
    check_differentiable(kernel)
    n, d = X.shape
    identity = np.broadcast_to(np.eye(d), (n, d, d))
    if kernel.base == "squared distances":
        at = np.zeros(n)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = _slope(kernel, at)
            tensor = (-2.0 * slope)[:, None, None] * identity
        tensor[~np.isfinite(slope)] = np.nan
        return KernelMetric(kernel.of(at), np.zeros((n, d)), tensor)
    if kernel.base == "inner products":
        with np.errstate(over="ignore", invalid="ignore"):
            at = np.einsum("ij,ij->i", X, X)
            slope, bend = _slope(kernel, at), _bend(kernel, at)
            outer = X[:, :, None] * X[:, None, :]
            tensor = slope[:, None, None] * identity + bend[:, None, None] * outer
            return KernelMetric(kernel.of(at), slope[:, None] * X, tensor)
    steps = _required(steps)
    value, gradient, tensor = np.empty(n), np.empty((n, d)), np.empty((n, d, d))
    for i, row in enumerate(X):
        here = check_rows(row[None])
        value[i] = kernel_matrix(kernel, here, here)[0, 0]
        gradient[i] = gradient_by_differences(partial(_values, kernel, here), here, steps)[0, 0]
        tensor[i] = tensor_by_differences(partial(gram_matrix, kernel), row, steps)
    return KernelMetric(value, gradient, tensor)


def _values(kernel: Kernel, Z: Floats, rows: Floats) -> Floats:
    return kernel_matrix(kernel, rows, Z)


def check_differentiable(kernel: Kernel) -> None:
    """Raise SolverError if the kernel is given by its values only, or has a kink at each row."""
    if kernel.base == "precomputed":
        raise SolverError("kernel='precomputed' is given by its values, which have no derivatives; give the kernel itself")
    if kernel.base == "Manhattan distances":
        raise SolverError(f"kernel={kernel.name!r} has no derivatives where a column of two rows is equal; use 'rbf'")


def _required(steps: Floats | None) -> Floats:
    if steps is None:
        raise SolverError("steps=None; a callable kernel is differentiated by difference quotients, which need their steps")
    return steps


def _slope(kernel: Kernel, values: Floats) -> Floats:
    """Differentiate the kernel by its base value, the inner product or the squared distance."""
    gamma = float(kernel.gamma)
    if kernel.name == "linear":
        return np.ones_like(values)
    if kernel.name == "rbf":
        return -gamma * kernel.of(values.copy())
    if kernel.name == "epanechnikov":
        return np.where(gamma * values < 1.0, -gamma, 0.0)
    if kernel.name == "sigmoid":
        return gamma * (1.0 - kernel.of(values.copy()) ** 2)
    if kernel.name == "poly":
        degree = int(kernel.degree)
        return degree * gamma * (gamma * values + float(kernel.coef0)) ** max(degree - 1, 0)
    half: Floats = 0.5 * gamma / kernel.of(values.copy())  # for both multiquadrics: the kernel value has the sign
    return half


def _bend(kernel: Kernel, values: Floats) -> Floats:
    """Differentiate a kernel of the inner product twice."""
    gamma = float(kernel.gamma)
    if kernel.name == "linear":
        return np.zeros_like(values)
    if kernel.name == "sigmoid":
        t = kernel.of(values.copy())
        return -2.0 * gamma**2 * t * (1.0 - t**2)
    degree = int(kernel.degree)
    return degree * (degree - 1) * gamma**2 * (gamma * values + float(kernel.coef0)) ** max(degree - 2, 0)

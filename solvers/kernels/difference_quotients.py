"""Derivatives of functions that are known by their values only, by central differences of two steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# of the spread of a column: with the error of order h^2 taken out, rounding and what is left are both below 1e-9
_STEP = 1e-3
# two steps give the same derivative of a smooth function within this share
_SAME = 0.02


def difference_steps(Z: Floats) -> Floats:
    """Return a step for each column, a thousandth of its standard deviation; of its size where it is constant.

    Parameters
    ----------
    Z : ndarray of shape (m, d)
        Rows of the data.

    Examples
    --------
    >>> difference_steps(np.array([[0.0, 5.0, 0.0], [2.0, 5.0, 0.0]]))
    array([0.001, 0.005, 0.001])
    """
    spread = Z.std(axis=0)
    size = np.abs(Z).max(axis=0, initial=0.0)
    return _STEP * np.where(spread > 0, spread, np.where(size > 0, size, 1.0))


def gradient_by_differences(function: Callable[[Floats], Floats], X: Floats, steps: Floats) -> Floats:
    """Differentiate functions of a row at some rows.

    Parameters
    ----------
    function : callable
        From rows, (k, d), to the values of p functions, (k, p).
    X : ndarray of shape (n, d)
        The rows.
    steps : ndarray of shape (d,)
        A step for each column.

    Returns
    -------
    ndarray of shape (n, p, d)
        The gradients.

    Examples
    --------
    >>> gradient_by_differences(lambda rows: rows**2, np.array([[3.0]]), np.array([0.01])).round(9)
    array([[[6.]]])
    """
    columns = []
    for i, h in enumerate(steps):
        step = np.zeros(len(steps))
        step[i] = h
        short, long = ((function(X + k * step) - function(X - k * step)) / (2 * k * h) for k in (1.0, 2.0))
        columns.append((4.0 * short - long) / 3.0)
    return np.stack(columns, axis=2)


def tensor_by_differences(kernel: Callable[[Floats], Floats], x: Floats, steps: Floats) -> Floats:
    """Differentiate a kernel by both of its arguments, where they are equal.

    Parameters
    ----------
    kernel : callable
        From rows, (k, d), to their kernel matrix, (k, k).
    x : ndarray of shape (d,)
        The row.
    steps : ndarray of shape (d,)
        A step for each column.

    Returns
    -------
    ndarray of shape (d, d)
        The mixed derivatives; nan throughout where two steps do not agree on them: the kernel is not smooth there.

    Examples
    --------
    >>> tensor_by_differences(lambda rows: (rows @ rows.T) ** 2, np.array([2.0]), np.array([0.01])).round(9)
    array([[16.]])
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

"""Models of many rows as expansions in a few rows, the landmarks (Nystroem's method), with squared loss.

The coefficients b minimise sum_i w_i (k_i b + c - t_i)^2 + ridge sum_i w_i b' K b, with the kernel values k_i of row i and the
landmarks, and the kernel matrix K of the landmarks (Williams and Seeger 2001; Rudi, Camoriano and Rosasco 2015). Only the sums of
k_i' w_i k_i and k_i' w_i t_i depend on the rows, so the rows are processed in blocks, and all ridges share the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.kernels import Kernel, base_matrix

Floats = NDArray[np.float64]

_BLOCK = 4_000_000  # maximum kernel values in memory
_JITTER = 1e-12  # relative to the diagonal, for equal landmarks


def fit_landmarks(
    kernel: Kernel,
    rows: Callable[[slice], Any],
    landmarks: Any,
    target: Floats,
    weights: Floats,
    ridges: Sequence[float],
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[Floats, Floats]:
    """Fit by squared loss for several ridges (shares of the sum of weights); return (r, t, m) and (r, t); :eq:`landmarks`.

    `rows` maps a slice to the columns of its rows, `landmarks` are (m, p), `target` has a column for each model. OutOfTimeError
    once `is_late`.
    """
    n, m = len(weights), landmarks.shape[0]
    gram, moment, total = np.zeros((m, m), order="F"), np.zeros((m, target.shape[1])), np.zeros(m)
    size = max(_BLOCK // m, 1)
    for start in range(0, n, size):
        if is_late():
            raise OutOfTimeError("the sums over the rows took longer than the time left")
        block = slice(start, start + size)
        K = kernel.of(base_matrix(kernel.base, rows(block), landmarks))
        K *= np.sqrt(weights[block])[:, None]
        gram = dsyrk(1.0, K.T, beta=1.0, c=gram, overwrite_c=True)  # the upper triangle
        total += np.sqrt(weights[block]) @ K
        moment += K.T @ (np.sqrt(weights[block])[:, None] * target[block])
    mass = weights.sum()
    mean, center = total / mass, (weights @ target) / mass
    gram = np.triu(gram) + np.triu(gram, 1).T - mass * np.outer(mean, mean)
    moment -= mass * np.outer(mean, center)
    own = kernel.of(base_matrix(kernel.base, landmarks))
    coefficients, constants = [], []
    for ridge in ridges:
        if is_late():
            raise OutOfTimeError("the solution took longer than the time left")
        A = gram + ridge * mass * own
        A.flat[:: m + 1] += _JITTER * np.trace(A)
        try:
            b = cho_solve(cho_factor(A, overwrite_a=True, check_finite=False), moment, check_finite=False)
        except LinAlgError:  # rounding, with a small ridge
            b = np.zeros_like(moment)
        coefficients.append(b.T)
        constants.append(center - mean @ b)
    return np.array(coefficients), np.array(constants)

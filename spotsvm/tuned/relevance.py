"""The relevance of columns, learned from the target: one step of a recursive feature machine, with only the diagonal.

Radhakrishnan, Beaglehole, Pandit and Belkin 2024.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, solve

from spotsvm.solvers.kernels import squared_distances
from spotsvm.tuned.families import typical_distance

Floats = NDArray[np.float64]

_RELEVANCE_WIDTH, _RIDGE, _FLOOR = 0.25, 0.3, 0.03
_MOST_RELEVANCE_ROWS = 2000  # the time grows with the cube of the rows


def gradient_relevance(A: Floats, target: Floats) -> Floats:
    """Return the root mean square gradient in each column of a kernel ridge regression, (p,); equation :eq:`relevance`.

    It has a mean square of 1 and is at least sqrt(0.03). Squared gradients are added over the targets (n, t).
    """
    if len(A) > _MOST_RELEVANCE_ROWS:
        chosen = np.linspace(0, len(A) - 1, _MOST_RELEVANCE_ROWS).astype(np.intp)
        A, target = A[chosen], target[chosen]
    D = squared_distances(A)
    K = np.exp(D * (-_RELEVANCE_WIDTH / typical_distance(D)))
    ridged = K.copy()
    ridged.flat[:: len(K) + 1] += _RIDGE
    try:
        coefficients = solve(ridged, target - target.mean(axis=0), assume_a="pos", overwrite_a=True, check_finite=False)
    except LinAlgError:  # rounding, with hundreds of equal rows
        coefficients = np.zeros_like(target)
    squares = np.zeros(A.shape[1])
    for a in coefficients.T:
        # the gradient at a row is proportional to sum_j a_j k_j (x - x_j)
        squares += (((K @ a)[:, None] * A - K @ (a[:, None] * A)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(squares / (squares.mean() + 1e-300) + _FLOOR))

"""Rivals in Tables 4 and 5 of Carrizosa 2014: methods that learn the weights of given kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls

from spotsvm.solvers.dual.solve import solve_dual
from spotsvm.studies.common.data import Floats


def centred(K: Floats) -> Floats:
    """Return a kernel matrix of rows that are centred in feature space."""
    means = K.mean(axis=0)
    without: Floats = K - means - means[:, None] + means.mean()
    return without


def alignf(kernels: Floats, y: Floats) -> Floats:
    """Return the weights of most centred alignment with the labels, 0 or more (Cortes, Mohri, Rostamizadeh 2012, section 2.2.2).

    They are the direction of the minimum of w' M w - 2 w' a over w >= 0, with M and a the inner products of the centred kernels
    with one another and with y y'; by a Cholesky factor this is a problem of least squares.
    """
    flat = np.array([centred(K).ravel() for K in kernels])
    M, a = flat @ flat.T, np.array([y @ K.reshape(len(y), -1) @ y for K in flat])
    unit = np.trace(M) / len(M)
    factor = np.linalg.cholesky(M / unit + 1e-10 * np.eye(len(M)))
    weights = nnls(factor.T, np.linalg.solve(factor, a / np.abs(a).max()))[0]
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1.0 / len(weights))


def simple_mkl(kernels: Floats, y: Floats, C: float, max_iter: int = 100, tol: float = 1e-3) -> Floats:
    """Return the weights, of sum 1, of the least objective of the machine (SimpleMKL: Rakotomamonjy et al. 2008, Algorithm 1).

    The objective of the dual is convex in the weights, with the gradient -(alpha y)' K_m (alpha y) / 2. Steps follow the reduced
    gradient as far as the objective falls, by halving from the longest; the gap of duality stops.
    """
    weights = np.full(len(kernels), 1.0 / len(kernels))
    start = np.zeros(len(y))

    def at(w: Floats, alpha: Floats) -> tuple[float, Floats, Floats]:
        result = solve_dual(np.tensordot(w, kernels, 1), y, C, "exact", bias=True, start=alpha)
        signed = result.alpha * y
        return result.objective, -0.5 * np.einsum("i,mij,j->m", signed, kernels, signed), result.alpha

    value, gradient, start = at(weights, start)
    for _ in range(max_iter):
        if weights @ gradient - gradient.min() <= tol * abs(value):
            break
        largest = int(weights.argmax())
        reduced = gradient - gradient[largest]
        direction = np.where((weights <= 0) & (reduced > 0), 0.0, -reduced)
        direction[largest] = -direction.sum() + direction[largest]
        falling = direction < 0
        step = float((-weights[falling] / direction[falling]).min()) if falling.any() else 1.0
        for _ in range(30):
            new = np.maximum(weights + step * direction, 0.0)
            found = at(new / new.sum(), start)
            if found[0] < value:
                break
            step *= 0.5
        else:
            break
        weights, (value, gradient, start) = new / new.sum(), found
    return weights


Weigh = Callable[[Floats, Floats, float], Floats]
#: how the weights of the kernels follow from training rows and C
MKL: dict[str, Weigh] = {
    "ALIGNF": lambda kernels, y, C: alignf(kernels, y),
    "SimpleMKL": simple_mkl,
    "equal weights": lambda kernels, y, C: np.full(len(kernels), 1.0 / len(kernels)),
}

"""How well a kernel matrix fits labels or targets before anything is trained: centred kernel alignment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError

Floats = NDArray[np.float64]


def centred(K: Floats) -> Floats:
    """Return H K H with H = I - 1 1'/n: the inner products of the mapped rows after their mean is subtracted."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())


def centred_alignment(K: Floats, L: Floats) -> float:
    """Return the cosine between two centred kernel matrices; 0 if a matrix is constant, nan if one is not finite.

    Cortes, Mohri, Rostamizadeh 2012, "Algorithms for Learning Kernels Based on Centered Alignment", eq. 2 and definition 4.
    """
    first, second = _unit(centred(K)), _unit(centred(L))
    return float(np.vdot(first, second))


def alignment_with_labels(K: Floats, y: Any) -> float:
    """Return the centred alignment of K with the ideal kernel of a classification: 1 for two rows of one class, else 0."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    return _with_features(K, np.eye(len(classes))[codes.ravel()])


def alignment_with_target(K: Floats, y: Any) -> float:
    """Return the centred alignment of a kernel matrix with y y', for a regression."""
    return _with_features(K, np.asarray(y, dtype=np.float64).reshape(-1, 1))


def _with_features(K: Floats, features: Floats) -> float:
    """Align with F F' without forming it: <H K H, F F'> is the trace of F' H K H F."""
    n = len(features)
    if K.shape != (n, n):
        raise SolverError(f"K has the shape {K.shape} and y {n} entries; use a matrix of shape ({n}, {n})")
    F = features - features.mean(axis=0)
    size = float(np.linalg.norm(F.T @ F))
    if size == 0.0:
        return 0.0
    # scaled first: the square of a large entry overflows
    return float(np.vdot(F, _unit(centred(K)) @ F)) / size


def _unit(K: Floats) -> Floats:
    largest = float(np.abs(K).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(largest):
        return K * (0.0 if largest == 0.0 else np.nan)
    scaled = K / largest
    return np.asarray(scaled / np.linalg.norm(scaled))

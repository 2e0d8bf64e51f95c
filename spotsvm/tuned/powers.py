"""Powers of Yeo and Johnson 2000, which bring the columns of a table, or a target, nearer to a normal distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_POWERS = np.arange(-2.0, 4.01, 0.5)
_LOGARITHM = 1e-6  # smallest exponent that is not taken for 0


def yeo_johnson(Z: Floats, power: Floats) -> Floats:
    """Return the power transformation of Yeo and Johnson 2000 of each column."""
    size = np.log1p(np.abs(Z))
    exponent = np.where(Z >= 0, power, 2.0 - power)
    regular = np.abs(exponent) > _LOGARITHM
    with np.errstate(over="ignore"):
        values = np.where(regular, np.expm1(exponent * size) / np.where(regular, exponent, 1.0), size)
    return np.asarray(np.sign(Z) * values)


def inverse_yeo_johnson(T: Floats, power: float) -> Floats:
    """Return the values whose power transformation is T; infinite beyond the range of the transformation."""

    def inverse(size: Floats, exponent: float) -> Floats:
        return np.asarray(
            np.expm1(size if abs(exponent) <= _LOGARITHM else np.log1p(np.maximum(exponent * size, -1.0)) / exponent)
        )

    positive, found = T >= 0, np.empty_like(T, dtype=np.float64)
    with np.errstate(all="ignore"):
        found[positive] = inverse(T[positive], power)
        found[~positive] = -inverse(-T[~positive], 2.0 - power)
    return found


def best_powers(Z: Floats) -> Floats:
    """Return the maximum-likelihood power of each column: the best on a grid, refined by a parabola through three points."""
    drift = (np.sign(Z) * np.log1p(np.abs(Z))).sum(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        likelihood = np.array(
            [
                -0.5 * len(Z) * np.log(yeo_johnson(Z, np.full(Z.shape[1], p)).var(axis=0) + 1e-12) + (p - 1.0) * drift
                for p in _POWERS
            ]
        )
    likelihood = np.where(np.isfinite(likelihood), likelihood, -1e300)
    best, column = np.clip(likelihood.argmax(axis=0), 1, len(_POWERS) - 2), np.arange(Z.shape[1])
    before, here, after = likelihood[best - 1, column], likelihood[best, column], likelihood[best + 1, column]
    curvature = before - 2.0 * here + after
    bent = np.isfinite(curvature) & (curvature < -1e-9)
    step = np.where(bent, 0.25 * (before - after) / np.where(bent, curvature, 1.0), 0.0)
    return np.asarray(_POWERS[best] + np.clip(step, -0.5, 0.5))

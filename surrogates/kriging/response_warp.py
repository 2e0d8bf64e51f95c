"""A logarithmic warp of the response, from none to strong, by one number that the likelihood can judge."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TOO_CLOSE = 1e-100  # of the mean distance: a unit so small would let the others overflow


@dataclass(frozen=True)
class ResponseWarp:
    """z = ln(1 + s t) with t = (y - low) / unit: nearly linear for a small strength s, a logarithm for a large one.

    It spreads the good responses apart and draws the bad ones together; a huge outlier loses its weight. The strength
    is a hyperparameter like the others: `log_jacobian` makes likelihoods at different strengths comparable (Snelson,
    Rasmussen, Ghahramani 2004, "Warped Gaussian processes"). With a log-strength of -inf, z = t.

    Attributes
    ----------
    low : float
        The smallest response, where t = 0.
    unit : float
        The median distance from it (or the mean one, where half of the responses or more are, or all but are, the smallest).
    """

    low: float
    unit: float

    @classmethod
    def of(cls, y: Floats) -> ResponseWarp:
        """Make the warp for these responses."""
        low = float(np.min(y))
        distance = y - low
        median, mean = float(np.median(distance)), float(np.mean(distance))
        return cls(low, median if median > _TOO_CLOSE * mean else mean or 1.0)

    def forward(self, y: Floats, log_strength: float) -> Floats:
        """Warp responses."""
        t = (y - self.low) / self.unit
        return t if log_strength == -math.inf else np.log1p(math.exp(log_strength) * t)

    def log_jacobian(self, y: Floats, log_strength: float) -> float:
        """Return the sum of ln dz/dt over the responses."""
        return 0.0 if log_strength == -math.inf else len(y) * log_strength - float(np.sum(self.forward(y, log_strength)))

    def backward(self, z: Floats, log_strength: float) -> Floats:
        """Return the t that warps to z: for a predicted mean, the predicted median."""
        return z if log_strength == -math.inf else np.expm1(np.minimum(z, 700.0)) / math.exp(log_strength)

    def log_slope(self, z: Floats, log_strength: float) -> Floats:
        """Return ln dt/dz at z."""
        return np.zeros_like(z) if log_strength == -math.inf else z - log_strength

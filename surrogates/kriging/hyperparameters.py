"""The warp of the response, prior and posterior of a Kriging model's hyperparameters, and samples of the posterior.

Notation (d dimensions, N responses at n distinct points, k chains):

============  ==============  ===============================================================================
phi           (p,)            ln length of each dimension, ln nugget and, of a warped response, ln strength; p = d + 1 or d + 2
theta         (d,)            length^-2
chains        (k, p)          a phi in each row; each row gives a member of an ensemble
t             (N,)            responses in units of the warp, (y - low) / unit
z             (N,)            warped responses, ln(1 + strength t)
distances     (d, pairs)      squared distances of the n (n - 1) / 2 pairs in each dimension, as scipy's pdist orders them
============  ==============  ===============================================================================

Compiled modules are imported at their use: importing numba takes a quarter of a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.kriging.correlation import Correlation, is_matern
from spotsvm.surrogates.kriging.likelihood import JITTERS, Response

Floats = NDArray[np.float64]

LITTLE_NOISE, MUCH_NOISE = -9.0, -2.0  # ln nugget in the two modes of the likelihood
_WIDTH = 1.0  # initial width of a slice's interval, which is stepped out at most four times at each end
_TOO_CLOSE = 1e-100  # relative to the mean distance: with a smaller unit other responses would overflow


@dataclass(frozen=True)
class ResponseWarp:
    """z = ln(1 + s t), t = (y - low) / unit: nearly linear for a small strength s (z = t at s = 0), logarithmic for a large s.

    Huge outliers lose their weight. `unit` is the median distance from `low`, or the mean if half are (almost) equal to it.
    Snelson, Rasmussen, Ghahramani 2004, "Warped Gaussian processes".
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
        """Warp responses, equation :eq:`warp`."""
        t = (y - self.low) / self.unit
        return t if log_strength == -math.inf else np.log1p(math.exp(log_strength) * t)

    def log_jacobian(self, y: Floats, log_strength: float) -> float:
        """Return the sum of ln dz/dt over the responses (:eq:`warp-jacobian`), which makes strengths comparable."""
        return 0.0 if log_strength == -math.inf else len(y) * log_strength - float(np.sum(self.forward(y, log_strength)))

    def backward(self, z: Floats, log_strength: float) -> Floats:
        """Return the t that warps to z: for a predicted mean, the predicted median."""
        return z if log_strength == -math.inf else np.expm1(np.minimum(z, 700.0)) / math.exp(log_strength)

    def log_slope(self, z: Floats, log_strength: float) -> Floats:
        """Return ln dt/dz at z."""
        return np.zeros_like(z) if log_strength == -math.inf else z - log_strength


@dataclass(frozen=True)
class Prior:
    """Independent normal priors (mean, deviation) of phi: ln length (theta = length^-2), ln nugget, ln strength of the warp.

    ln(d) / 2 is added to the mean of the log-lengths, since distances grow with the root of the dimension.
    """

    log_length: tuple[float, float] = (math.log(0.5), 1.2)
    log_nugget: tuple[float, float] = (-6.9, 2.0)
    log_strength: tuple[float, float] = (0.0, 2.0)

    def moments(self, d: int, warped: bool) -> tuple[Floats, Floats]:
        """Return means and standard deviations of phi, equation :eq:`prior`."""
        rows = [(self.log_length[0] + 0.5 * math.log(d), self.log_length[1])] * d + [self.log_nugget]
        rows += [self.log_strength] * warped
        return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


@dataclass(frozen=True)
class Hyperposterior:
    """The unnormalised log-density of phi, given data (:eq:`posterior`); phi ends with ln strength if the response is warped."""

    correlation: Correlation
    pair_distances: Floats
    y: Floats
    index: NDArray[np.intp]
    warp: ResponseWarp
    warped: bool
    prior: Prior

    # beyond these bounds the model is constant or pure noise, or its matrix numerically the identity
    LOW, HIGH = -5.0, 7.0
    LOW_NUGGET, HIGH_NUGGET = -18.0, 3.0
    HIGH_STRENGTH = 9.0

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return len(self.pair_distances)

    def moments(self) -> tuple[Floats, Floats]:
        """Return the prior's means and standard deviations."""
        return self.prior.moments(self.d, self.warped)

    def log_strength(self, phi: Floats) -> float:
        """Return the log strength of the warp, -inf without a warp."""
        return float(phi[-1]) if self.warped else -math.inf

    def response(self, phi: Floats) -> Response:
        """Return the modelled response at phi: warped, and aggregated over replicates."""
        z = self.warp.forward(self.y, self.log_strength(phi))
        count = np.bincount(self.index).astype(float)
        if len(count) == len(z):
            return Response(z[np.argsort(self.index)], count)
        mean = np.bincount(self.index, weights=z) / count
        return Response(mean, count, float(np.sum((z - mean[self.index]) ** 2)))

    @cached_property
    def _data(self) -> tuple[Any, ...]:
        """The arguments of the compiled functions, in their order."""
        mean, sd = self.moments()
        low = np.array([self.LOW] * self.d + [self.LOW_NUGGET] + [-self.HIGH_STRENGTH] * self.warped)
        high = np.array([self.HIGH] * self.d + [self.HIGH_NUGGET] + [self.HIGH_STRENGTH] * self.warped)
        t = self.warp.forward(self.y, -math.inf)
        count = np.bincount(self.index).astype(float)
        matern = is_matern(self.correlation)
        return matern, self.pair_distances, t, self.index, count, mean, sd, low, high, self.warped, np.array(JITTERS)

    def __call__(self, phi: Floats) -> float:
        """Return the log-density, -inf outside the bounds."""
        from spotsvm.surrogates.kriging._posterior_kernels import LENGTHS, log_density

        phi = np.asarray(phi, dtype=float)
        rest = np.exp(-2.0 * phi[1 : self.d]) @ self.pair_distances[1:]
        n = len(np.unique(self.index))
        return float(log_density(self._data, phi, LENGTHS, rest, 0, np.empty(len(rest)), np.empty((n, n)), np.empty(n)))

    def sweep(self, chains: Floats, moves: NDArray[np.intp], rng: np.random.Generator) -> Floats:
        """Return the chains (k, p) after moves of some coordinates, each by a step of slice sampling (Neal 2003).

        Move c p + j is of coordinate j of chain c. A phi of density 0 with the current data moves back to the prior's mean.
        """
        from spotsvm.surrogates.kriging._posterior_kernels import sweep

        moved = np.array(chains, dtype=float)
        sweep(self._data, moved, moves, rng, _WIDTH)
        return moved

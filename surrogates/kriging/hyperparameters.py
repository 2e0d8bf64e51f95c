"""Prior and posterior of a Kriging model's hyperparameters, and samples of the posterior."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.correlation import Correlation
from spotsvm.surrogates.kriging.likelihood import Response, profile
from spotsvm.surrogates.kriging.response_warp import ResponseWarp

Floats = NDArray[np.float64]
Density = Callable[[Floats], float]


@dataclass(frozen=True)
class Prior:
    """Independent normal beliefs about the logarithms of the hyperparameters, for points of the unit cube.

    The vector phi holds ln length of each dimension (theta = length^-2), ln nugget, and ln strength of the response's
    warp where there is one.

    Attributes
    ----------
    log_length : (float, float)
        Mean and deviation; ln(d) / 2 is added to the mean, since distances grow with the root of the dimension.
    log_nugget, log_strength : (float, float)
        Mean and deviation.
    """

    log_length: tuple[float, float] = (math.log(0.5), 1.2)
    log_nugget: tuple[float, float] = (-6.9, 2.0)
    log_strength: tuple[float, float] = (0.0, 2.0)

    def moments(self, d: int, warped: bool) -> tuple[Floats, Floats]:
        """Return means and deviations of phi."""
        rows = [(self.log_length[0] + 0.5 * math.log(d), self.log_length[1])] * d + [self.log_nugget]
        rows += [self.log_strength] * warped
        return np.array([r[0] for r in rows]), np.array([r[1] for r in rows])


@dataclass(frozen=True)
class Hyperposterior:
    """The unnormalised log-density of phi, given data.

    Attributes
    ----------
    correlation : Correlation
        The correlation function.
    pair_distances : ndarray of shape (d, pairs)
        Squared distances of the pairs in each dimension.
    y : ndarray of shape (N,)
        All responses.
    index : ndarray of shape (N,)
        The distinct point to which each belongs.
    warp : ResponseWarp
        The warp of the response.
    warped : bool
        Whether phi ends with the warp's strength; else there is none.
    prior : Prior
        What is believed beforehand.
    """

    correlation: Correlation
    pair_distances: Floats
    y: Floats
    index: NDArray[np.intp]
    warp: ResponseWarp
    warped: bool
    prior: Prior

    # beyond these the model is constant, or pure noise, or its matrix numerically the identity
    LOW, HIGH = -5.0, 7.0
    LOW_NUGGET, HIGH_NUGGET = -18.0, 3.0
    HIGH_STRENGTH = 9.0

    @property
    def d(self) -> int:
        """Number of dimensions."""
        return len(self.pair_distances)

    def moments(self) -> tuple[Floats, Floats]:
        """Return the prior's means and deviations."""
        return self.prior.moments(self.d, self.warped)

    def log_strength(self, phi: Floats) -> float:
        """Return the strength of the warp, -inf for none."""
        return float(phi[-1]) if self.warped else -math.inf

    def response(self, phi: Floats) -> Response:
        """Return the response as the model sees it at phi: warped, and aggregated over replicates."""
        z = self.warp.forward(self.y, self.log_strength(phi))
        count = np.bincount(self.index).astype(float)
        if len(count) == len(z):
            return Response(z[np.argsort(self.index)], count)
        mean = np.bincount(self.index, weights=z) / count
        return Response(mean, count, float(np.sum((z - mean[self.index]) ** 2)))

    def __call__(self, phi: Floats) -> float:
        """Return the log-density, -inf outside the bounds."""
        lengths, nugget = phi[: self.d], phi[self.d]
        if not (self.LOW < lengths.min() and lengths.max() < self.HIGH and self.LOW_NUGGET < nugget < self.HIGH_NUGGET):
            return -math.inf
        if self.warped and abs(phi[-1]) > self.HIGH_STRENGTH:
            return -math.inf
        mean, sd = self.moments()
        value = -0.5 * float(np.sum(((phi - mean) / sd) ** 2)) + self.warp.log_jacobian(self.y, self.log_strength(phi))
        try:
            p = profile(self.correlation, np.exp(-2.0 * lengths) @ self.pair_distances, math.exp(nugget), self.response(phi))
        except NotPositiveDefiniteError:
            return -math.inf
        return value + p.log_likelihood if math.isfinite(p.log_likelihood) else -math.inf


def slice_update(
    density: Density, phi: Floats, value: float, j: int, rng: np.random.Generator, width: float = 1.0
) -> tuple[Floats, float]:
    """Move coordinate j of phi by one step of slice sampling (Neal 2003: stepping out, at most four times, then shrinking).

    Parameters
    ----------
    density : callable
        The log-density.
    phi, value : ndarray, float
        The present point and its log-density.
    j : int
        The coordinate to move.
    rng : numpy.random.Generator
        Source of the step.
    width : float, default=1.0
        First width of the interval.
    """

    def at(x: float) -> tuple[Floats, float]:
        moved = phi.copy()
        moved[j] = x
        return moved, density(moved)

    level = value + math.log(1.0 - rng.random())
    low = phi[j] - width * rng.random()
    high = low + width
    for _ in range(4):
        if at(low)[1] <= level:
            break
        low -= width
    for _ in range(4):
        if at(high)[1] <= level:
            break
        high += width
    for _ in range(30):
        moved, new = at(low + rng.random() * (high - low))
        if new > level:
            return moved, new
        if moved[j] < phi[j]:
            low = moved[j]
        else:
            high = moved[j]
    return phi, value

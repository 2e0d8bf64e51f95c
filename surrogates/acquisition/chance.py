"""Gaussian processes whose predictions weight an acquisition function: chances of success and of bounds, and savings of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.special import log_ndtr, ndtr

from spotsvm.surrogates.kriging.correlation import Embedding, Matern52
from spotsvm.surrogates.kriging.hyperparameters import Prior
from spotsvm.surrogates.kriging.likelihood import Response, gradient
from spotsvm.surrogates.kriging.process import Process
from spotsvm.surrogates.responses import aggregate

Floats = NDArray[np.float64]

_CORRELATION = Matern52()
#: means and deviations of ln length (to which ln(d) / 2 is added), ln amplitude, and the mean of the latent function
_LENGTH, _AMPLITUDE, _MEAN = (np.log(0.5), 1.0), (np.log(5.0), 1.0), (0.0, 1.0)
_MOST, _EVALUATIONS = 100, 40  # points used to fit the hyperparameters, and evaluations of the evidence
_SWEEPS, _DAMPING, _LEAST = 60, 0.8, 1e-10  # of expectation propagation; the last is the smallest precision of a site
#: maximum number of distinct points for a model of failures; its time grows with the cube of their number
MOST_LABELS = 300
_RELIEF, _MOST_CAUTION = 0.1, 12.0  # binary logarithms of the power
_SKILLED = 3.0  # the power is not reduced if a third of the entropy is explained
_FAR = 1e6
_LEAST_NOISE = 1e-8  # of a margin, so that no chance is exactly 0
_LOG_ROOT_2PI = 0.9189385332046727


@dataclass(frozen=True)
class Chance:
    """The probability that a quantity modelled by a Gaussian process with Matern 5/2 correlation is positive.

    `points` (n, p) are embedded, times `scale`; L is the factor of the matrix of prediction errors, `a` the weights in the mean;
    `half_one` is L^-1 1 if the mean was estimated, else zeros; `noise` is the variance of one observation.
    """

    points: Floats
    scale: Floats
    L: Floats
    a: Floats
    half_one: Floats
    mu: float
    sigma2: float
    noise: float
    power: float = 1.0

    @classmethod
    def of_success(cls, embedding: Embedding, inputs: Floats, succeeded: NDArray[np.bool_], power: float = 1.0) -> Chance:
        """Return the chance of success (:eq:`power`), by Gaussian process classification with a probit link.

        Gelbart, Snoek, Adams 2014; expectation propagation, Rasmussen, Williams 2006, 3.6 and 5.5.2. Far from all points it is
        its prior mean. `power` falls to 1 if leave-one-out chances predict hardly better than the share of successes.
        """
        embedded, labels = embedding.transform(inputs), np.where(succeeded, 1.0, -1.0)
        n, d = len(embedded), embedding.n_features
        rows = np.arange(n) if n <= _MOST else np.unique(np.linspace(0, n - 1, _MOST).astype(int))
        distances = embedding.pair_distances(embedded[rows])
        prior = np.array([(_LENGTH[0] + 0.5 * np.log(d), _LENGTH[1])] * d + [_AMPLITUDE, _MEAN])
        sites = np.zeros((2, len(rows)))

        def negative(phi: Floats) -> tuple[float, Floats]:
            off = (phi - prior[:, 0]) / prior[:, 1]
            value, slope = _evidence(distances, phi, labels[rows], sites)
            return 0.5 * float(off @ off) - value, off / prior[:, 1] - slope

        bounds = [(m - 4.0 * s, m + 4.0 * s) for m, s in prior]
        phi = minimize(negative, prior[:, 0], jac=True, method="L-BFGS-B", bounds=bounds, options={"maxfun": _EVALUATIONS}).x
        points = embedded * np.exp(-phi[:d])[embedding.owner]
        sigma2, mu = float(np.exp(2.0 * phi[d])), float(phi[d + 1])
        psi = squareform(_CORRELATION.value(pdist(points, "sqeuclidean"))) + np.eye(n)
        sites = np.zeros((2, n))
        left_out = _propagate(sigma2 * psi, mu, labels, sites)[3]
        L = np.asarray(dpotrf(psi + np.diag(1.0 / (sigma2 * sites[0])), lower=1, clean=1)[0])
        a = _solve(L, sites[1] / sites[0])
        skill = max(0.0, 1.0 + left_out / (n * _entropy(float(np.mean(succeeded)))))
        power **= min(1.0, _SKILLED * skill)
        return cls(points, np.exp(-phi[:d])[embedding.owner], L, a, np.zeros(n), mu, sigma2, 1.0, power)

    @classmethod
    def of_bound(cls, embedding: Embedding, inputs: Floats, margins: Floats) -> Chance:
        """Return the chance that a margin is positive, by Kriging of the margins with the hyperparameters' posterior mode."""
        unit = float(np.sqrt(np.mean(margins**2))) or 1.0
        data = aggregate(inputs, margins / unit)
        embedded, response = embedding.transform(data.X), Response(data.mean, data.count, data.within)
        mean, deviation = Prior().moments(embedding.n_features, warped=False)
        rows = np.unique(np.linspace(0, len(embedded) - 1, min(len(embedded), _MOST)).astype(int))
        distances = embedding.pair_distances(embedded[rows])
        some = Response(response.mean[rows], response.count[rows], response.within)

        def negative(phi: Floats) -> tuple[float, Floats]:
            off = (phi - mean) / deviation
            value, by_theta, by_nugget = gradient(_CORRELATION, distances, np.exp(-2.0 * phi[:-1]), float(np.exp(phi[-1])), some)
            return 0.5 * float(off @ off) - value, off / deviation - np.append(-2.0 * by_theta, by_nugget)

        phi = mean
        if len(rows) > 1 and np.ptp(some.mean) > 0:
            bounds = [(m - 3.0 * s, m + 3.0 * s) for m, s in zip(mean, deviation, strict=True)]
            phi = minimize(negative, mean, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxfun": _EVALUATIONS}).x
        theta = np.exp(-2.0 * phi[:-1])[embedding.owner]
        p = Process.condition(_CORRELATION, theta, float(np.exp(phi[-1])), embedded, response)
        return cls(p.points, p.scale, p.L, p.a, p.half_one, p.mu, p.sigma2, p.nugget * p.sigma2 + _LEAST_NOISE)

    def at(self, embedded: Floats) -> Floats:
        """Return the chance at embedded points, (m,); equation :eq:`chance`."""
        psi = self._correlations(embedded)
        half = dtrtrs(self.L, psi.T, lower=1)[0]
        rest = 1.0 - np.einsum("ij,ij->j", half, half)
        if self.half_one.any():
            rest += (1.0 - self.half_one @ half) ** 2 / (self.half_one @ self.half_one)
        sd = np.sqrt(self.sigma2 * np.maximum(rest, 0.0) + self.noise)
        return np.asarray(ndtr((self.mu + psi @ self.a) / sd))

    def mean(self, embedded: Floats) -> Floats:
        """Return the predicted quantity at embedded points, times the power; shape (m,)."""
        return np.asarray(self.power * (self.mu + self._correlations(embedded) @ self.a))

    def _correlations(self, embedded: Floats) -> Floats:
        return np.asarray(_CORRELATION.value(cdist(embedded * self.scale, self.points, "sqeuclidean")))


def caution(succeeded: NDArray[np.bool_]) -> float:
    """Return the power of the chance (:eq:`caution`), from the successes and failures in their order.

    Each failure doubles it, and successes in a row lower it towards 1. Without it, where the response improves up to the failing
    region, nearly all later evaluations would fail; so about a quarter may.
    """
    level, relief = 0.0, 0.0
    for ok in succeeded:
        relief = relief + _RELIEF if ok else 0.0
        level = max(level - relief, 0.0) if ok else min(level + 1.0, _MOST_CAUTION)
    return float(2.0**level)


def stacked(chances: Sequence[Chance], width: int) -> tuple[Floats, ...]:
    """Return the arguments of the compiled criterion: points, scales, U, a, U'^-1 1, mu, sigma2, noise and power.

    A chance with fewer points than another is padded with points far away, which change nothing.
    """
    c, m = len(chances), max((len(chance.points) for chance in chances), default=0)
    points, scale, U = np.full((c, m, width), _FAR), np.empty((c, width)), np.tile(np.eye(m), (c, 1, 1))
    a, half_one = np.zeros((c, m)), np.zeros((c, m))
    for t, chance in enumerate(chances):
        n = len(chance.points)
        points[t, :n], scale[t], U[t, :n, :n] = chance.points, chance.scale, chance.L.T
        a[t, :n], half_one[t, :n] = chance.a, chance.half_one
    numbers = np.array([(chance.mu, chance.sigma2, chance.noise, chance.power) for chance in chances]).reshape(c, 4)
    return points, scale, U, a, half_one, *np.ascontiguousarray(numbers.T)


def _propagate(K: Floats, mu: float, labels: Floats, sites: Floats) -> tuple[float, Floats, Floats, float]:
    """Bring the sites' precisions and precision-weighted means, of f - mu, to the fixed point of expectation propagation.

    All sites are updated together, with damping 0.8. Return the evidence; b and R, which give its derivative tr((b b' - R) dK) /
    2 (sections 3.6 and 5.5.2); and the leave-one-out log-probability of all labels.
    """
    before = -np.inf
    for step in range(_SWEEPS):
        root = np.sqrt(sites[0])
        L = _factor(K, root)
        V = np.asarray(dtrtrs(L, root[:, None] * K, lower=1)[0])
        variance = np.diag(K) - np.einsum("ij,ij->j", V, V)
        mean = K @ sites[1] - V.T @ (V @ sites[1])
        rest = np.maximum(1.0 / variance - sites[0], 1e-12)  # the precision of the cavity
        centre = (mean / variance - sites[1]) / rest
        spread = np.sqrt(1.0 + 1.0 / rest)
        z = labels * (centre + mu) / spread
        mass = log_ndtr(z)
        value = float(
            np.sum(mass + 0.5 * np.log1p(sites[0] / rest)) - np.log(np.diag(L)).sum()
            + 0.5 * sites[1] @ (mean - sites[1] / (sites[0] + rest))
            + 0.5 * np.sum(centre * rest / (sites[0] + rest) * (sites[0] * centre - 2.0 * sites[1]))
        )  # fmt: skip
        if step and abs(value - before) < 1e-6:
            break
        before = value
        ratio = np.exp(-0.5 * z * z - _LOG_ROOT_2PI - mass)
        curvature = ratio * (z + ratio) / (1.0 + rest)  # of the tilted variance: (1 - curvature) / rest
        precision = np.maximum(rest * curvature / (1.0 - curvature), _LEAST)
        weighted = (precision + rest) * (centre + labels * ratio / (rest * spread)) - rest * centre
        sites[0] += _DAMPING * (precision - sites[0])
        sites[1] += _DAMPING * (weighted - sites[1])
    R = root[:, None] * _solve(L, np.diag(root))
    return value, sites[1] - R @ (K @ sites[1]), R, float(mass.sum())


def _evidence(distances: Floats, phi: Floats, labels: Floats, sites: Floats) -> tuple[float, Floats]:
    """Return the log evidence by expectation propagation, and its gradient by phi; `sites` is the start and is updated."""
    d = len(distances)
    weights, variance = np.exp(-2.0 * phi[:d]), float(np.exp(2.0 * phi[d]))
    r2 = weights @ distances
    K = variance * (squareform(_CORRELATION.value(r2)) + np.eye(len(labels)))
    value, b, R, _ = _propagate(K, float(phi[d + 1]), labels, sites)
    by_K = np.outer(b, b) - R
    by_r2 = variance * squareform(by_K, checks=False) * _CORRELATION.slope(r2)
    along = np.append(-2.0 * weights * (distances @ by_r2), np.sum(by_K * K))
    return value, np.append(along, b.sum())


def _entropy(share: float) -> float:
    """Return the entropy of a label with this share of successes; `share` is strictly between 0 and 1."""
    return -share * float(np.log(share)) - (1.0 - share) * float(np.log1p(-share)) if 0.0 < share < 1.0 else 1.0


def _factor(K: Floats, root: Floats) -> Floats:
    return np.asarray(dpotrf(np.eye(len(K)) + root[:, None] * K * root, lower=1, clean=1)[0])


def _solve(L: Floats, b: Floats) -> Floats:
    half = dtrtrs(L, b, lower=1)[0]
    return np.asarray(dtrtrs(L, half, lower=1, trans=1)[0])


_LEAST_SECONDS = 0.01  # seconds, about the time of a suggestion: faster evaluations count as this
_FEWEST_SECONDS = 3


def saving(embedding: Embedding, inputs: Floats, seconds: Floats) -> Chance | None:
    """Return a model of ln(geometric mean of the costs / cost of an evaluation), equation :eq:`saving`.

    Its `mean` is what counts, not its chance. Durations below 0.01 s count as 0.01 s; None if fewer than three are known or all
    are equal.
    """
    measured = np.isfinite(seconds)
    logs = np.log(np.maximum(seconds[measured], _LEAST_SECONDS))
    if len(logs) < _FEWEST_SECONDS or not np.ptp(logs) > 0:
        return None
    unit = float(np.std(logs))
    return replace(Chance.of_bound(embedding, inputs[measured], (logs.mean() - logs) / unit), power=unit)

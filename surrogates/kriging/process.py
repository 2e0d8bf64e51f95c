"""A Kriging model at fixed hyperparameters: its predictions and reinterpolation (Koch et al. 2011, eq. 9 and 10).

Notation, beyond that of `likelihood` (n distinct points in p embedded columns, m new points, q pending points):

========  ============  =====================================================================================
points    (n, p)        embedded points times scale, so that r2 is the squared distance
L, a      (n, n), (n,)  factor of R, and R^-1 (y - 1 mu)
psi       (m, n)        correlations of new points with the data
mean      (m,)          mu + psi a (eq. 9)
half      (n, m)        L^-1 psi'
variance  (m,)          sigma2 (1 - |half|^2 + (1 - half_one' half)^2 / |half_one|^2) (eq. 10)
========  ============  =====================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dtrtrs
from scipy.spatial.distance import cdist, pdist

from spotsvm.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.correlation import Correlation
from spotsvm.surrogates.kriging.likelihood import JITTERS, Profile, Response, factor, profile

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Process:
    """A Gaussian process conditioned on data; the names are those of the module's table.

    `scale` is the root of theta for each embedded column; `fitted` the mean at the data; `nugget` noise over process variance, 0
    if it interpolates; `log_likelihood` that of eq. 8.
    """

    correlation: Correlation
    scale: Floats
    points: Floats
    L: Floats
    a: Floats
    fitted: Floats
    mu: float
    sigma2: float
    nugget: float
    jitter: float
    log_likelihood: float
    half_one: Floats

    @classmethod
    def condition(
        cls,
        correlation: Correlation,
        theta: Floats,
        nugget: float,
        embedded: Floats,
        response: Response,
        r2: Floats | None = None,
    ) -> Process:
        """Condition on data at distinct embedded points; `nugget` is noise variance over process variance."""
        scale = np.sqrt(theta)
        points = embedded * scale
        p: Profile = profile(correlation, pdist(points, "sqeuclidean") if r2 is None else r2, nugget, response)
        fitted = response.mean - (nugget / response.count + p.jitter) * p.a
        return cls(correlation, scale, points, p.L, p.a, fitted, p.mu, p.sigma2, nugget, p.jitter, p.log_likelihood, p.half_one)

    def reinterpolate(self) -> Process:
        """Return the process that interpolates this process's own predictions at the data, with the same theta and mean.

        Equation :eq:`reinterpolation`; Forrester, Sobester, Keane 2008, section 6; Koch et al. 2011, 2.1.2. Its error is zero at
        every evaluated point.
        """
        n = len(self.points)
        L, jitter = factor(self.correlation, pdist(self.points, "sqeuclidean"), n)
        sigma2 = max(float((self.fitted - self.mu) @ self.a) / n, 0.0)
        half_one = np.asarray(dtrtrs(L, np.ones(n), lower=1)[0])
        return replace(self, L=L, sigma2=sigma2, nugget=0.0, jitter=jitter, half_one=half_one)

    def believe(self, embedded: Floats) -> Process:
        """Return the process with its own predictions at further points added as data (Kriging believer, :eq:`believer`).

        Ginsbourger, Le Riche, Carraro 2010, section 4.2. The mean does not change, the error shrinks; the factor grows by a
        block, in O(n^2 q), or NotPositiveDefiniteError. If it interpolates, points must differ from the data.
        """
        n, q = len(self.points), len(embedded)
        further = embedded * self.scale
        across = self.correlation.value(cdist(self.points, further, "sqeuclidean"))
        half = np.asarray(dtrtrs(self.L, across, lower=1)[0])
        among = self.correlation.value(cdist(further, further, "sqeuclidean")) - half.T @ half
        block = _factor_block(among, self.nugget + self.jitter)
        L = np.zeros((n + q, n + q), order="F")
        L[:n, :n], L[n:, :n], L[n:, n:] = self.L, half.T, block
        half_one = np.append(self.half_one, dtrtrs(block, 1.0 - half.T @ self.half_one, lower=1)[0])
        return replace(
            self,
            points=np.vstack([self.points, further]),
            L=L,
            a=np.append(self.a, np.zeros(q)),
            fitted=np.append(self.fitted, self.mu + across.T @ self.a),
            half_one=half_one,
        )

    def with_variance(self, sigma2: float) -> Process:
        """Return the same process with another variance."""
        return replace(self, sigma2=sigma2)

    def correlations(self, embedded: Floats) -> Floats:
        """Return the correlations of new points with the data; (m, n). Exact enough for means, in half the time of cdist."""
        scaled = embedded * self.scale
        r2 = np.einsum("ij,ij->i", scaled, scaled)[:, None] + np.einsum("ij,ij->i", self.points, self.points)
        r2 -= 2.0 * scaled @ self.points.T
        return self.correlation.value(np.maximum(r2, 0.0))

    def predict(self, embedded: Floats) -> tuple[Floats, Floats]:
        """Return mean and variance, (m,), without the noise of a response; :eq:`predicted-mean`, :eq:`predicted-variance`."""
        psi = self.correlation.value(cdist(embedded * self.scale, self.points, "sqeuclidean"))
        half = dtrtrs(self.L, psi.T, lower=1)[0]
        bound = self.half_one @ self.half_one
        variance = 1.0 - np.einsum("ij,ij->j", half, half) + (1.0 - self.half_one @ half) ** 2 / bound
        return self.mu + psi @ self.a, self.sigma2 * np.maximum(variance, 0.0)


def _factor_block(among: Floats, diagonal: float) -> Floats:
    """Factor the conditional correlations of further points given the data, with as much jitter as needed."""
    n = len(among)
    for jitter in JITTERS:
        block, info = dpotrf(among + (diagonal + jitter) * np.eye(n), lower=1, clean=1)
        if info == 0 and np.isfinite(block[-1, -1]):
            return np.asarray(block)
    raise NotPositiveDefiniteError(f"the correlation matrix of {n} pending points will not factor")

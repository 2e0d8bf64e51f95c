"""The likelihood of a Kriging model with the mean and the variance profiled out, and its gradient.

Notation (Koch et al. 2011, eq. 4 to 8; n distinct points behind N responses):

========  ============  =====================================================================================
r2        (pairs,)      scaled squared distances sum_j theta_j d_j^2, pairs in the order of scipy's pdist
nugget    scalar        lambda: noise variance of one response / process variance
count     (n,)          number of responses at each point
R         (n, n)        correlation matrix Psi + diag(nugget / count) + jitter I = L L'
mu        scalar        generalised least squares mean, 1'R^-1 y / 1'R^-1 1 (eq. 6)
a         (n,)          R^-1 (y - 1 mu)
sigma2    scalar        ((y - 1 mu)' a + within / nugget) / N (eq. 7)
half_one  (n,)          L^-1 1
========  ============  =====================================================================================

With a single response at each point, N = n and within = 0, the log-likelihood is eq. 8: -n/2 ln sigma2 - 1/2 ln |Psi + lambda I|.
With replicates it is the same function of all N responses, computed with matrices of only n rows (Binois, Gramacy, Ludkovski
2018).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from spotsvm.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.correlation import Correlation, is_matern

Floats = NDArray[np.float64]

JITTERS = (0.0, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4)


@dataclass(frozen=True)
class Response:
    """The response at the n distinct points: means, counts, and the scatter of replicates about their means."""

    mean: Floats
    count: Floats
    within: float = 0.0

    @classmethod
    def single(cls, y: Floats) -> Response:
        """Make a response without replicates."""
        return cls(y, np.ones(len(y)))


@dataclass(frozen=True)
class Profile:
    """Likelihood, estimates and factors at given r2 and nugget; see the notation above."""

    log_likelihood: float
    mu: float
    sigma2: float
    L: Floats
    a: Floats
    half_one: Floats
    jitter: float


def factor(correlation: Correlation, r2: Floats, n: int) -> tuple[Floats, float]:
    """Factor a correlation matrix without a nugget, with the smallest sufficient jitter; return the lower factor and the jitter.

    NotPositiveDefiniteError if even the last jitter is not sufficient: the matrix is not finite.
    """
    from spotsvm.surrogates.kriging._correlation_kernels import correlate, factor_with_jitter

    psi, U = np.empty(len(r2)), np.zeros((n, n))
    correlate(is_matern(correlation), r2, psi)
    at = factor_with_jitter(psi, 0.0, np.ones(n), np.array(JITTERS), U)
    if at < 0:
        raise _not_positive_definite(n, JITTERS)
    return U.T, JITTERS[at]


def profile(
    correlation: Correlation, r2: Floats, nugget: float, response: Response, jitters: tuple[float, ...] = JITTERS
) -> Profile:
    """Return likelihood, mean and variance at r2 and nugget.

    Equations :eq:`correlation-matrix`, :eq:`process-mean`, :eq:`process-variance` and :eq:`log-likelihood`.
    """
    from spotsvm.surrogates.kriging._correlation_kernels import profile_upper

    value, mu, sigma2, U, a, half_one, at = profile_upper(
        is_matern(correlation), r2, nugget, response.mean, response.count, response.within, np.array(jitters)
    )
    if at < 0:
        raise _not_positive_definite(len(response.mean), jitters)
    return Profile(value, mu, sigma2, U.T, a, half_one, jitters[at])


def _not_positive_definite(n: int, jitters: tuple[float, ...]) -> NotPositiveDefiniteError:
    return NotPositiveDefiniteError(f"a correlation matrix of {n} points will not factor with a jitter of {jitters[-1]:g}")


def gradient(
    correlation: Correlation,
    pair_distances: Floats,
    theta: Floats,
    nugget: float,
    response: Response,
    jitters: tuple[float, ...] = JITTERS,
) -> tuple[float, Floats, float]:
    """Return the log-likelihood and its derivatives by ln theta, (d,), and by ln nugget; equation :eq:`likelihood-gradient`.

    The derivative by an entry of R is (a a' / sigma2 - R^-1) / 2; R^-1 comes from the factor, and only for that of `ln |R|`.
    """
    n = len(response.mean)
    r2 = theta @ pair_distances
    p = profile(correlation, r2, nugget, response, jitters)
    if not p.sigma2 > 0:
        return p.log_likelihood, np.zeros(len(theta)), 0.0
    half = np.tril(dtrtri(p.L, lower=1)[0])
    adjoint = 0.5 * (np.outer(p.a, p.a) / p.sigma2 - half.T @ half)
    weights = 2.0 * adjoint.ravel()[_below(n)] * correlation.slope(r2)
    by_theta = theta * (pair_distances @ weights)
    by_nugget = float(adjoint.diagonal() @ (nugget / response.count))
    repeats = _repeats(response)
    if repeats and nugget > 0:
        by_nugget += 0.5 * (response.within / nugget / p.sigma2 - repeats)
    return p.log_likelihood, by_theta, by_nugget


def _repeats(response: Response) -> float:
    return float(response.count.sum()) - len(response.mean)


_BELOW: dict[int, NDArray[np.intp]] = {}


def _below(n: int) -> NDArray[np.intp]:
    """Return the indices of pdist's pairs in the lower triangle of an n x n matrix stored by columns."""
    if n not in _BELOW:
        if len(_BELOW) > 8:
            _BELOW.clear()
        i, j = np.triu_indices(n, 1)
        _BELOW[n] = j + i * n
    return _BELOW[n]

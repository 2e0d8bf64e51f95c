"""The likelihood of a Kriging model with the mean and the variance profiled out, its gradient, and its maximum.

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

import warnings
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri
from scipy.optimize import minimize
from scipy.stats import qmc

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


Optimizer = Literal["lbfgsb", "cmaes"]

IMPOSSIBLE = 1e25  # replaces a negative log-likelihood that does not exist; finite, so that a line search can turn back
_CMA_RUNS = 16


@dataclass(frozen=True)
class LikelihoodProblem:
    """The likelihood to maximise over ln theta and, if `nugget` is None, ln nugget; a row of `bounds` for each.

    Hyperparameters that need a jitter larger than `jitters` are rejected: it would act as an unwanted nugget.
    """

    correlation: Correlation
    pair_distances: Floats
    response: Response
    bounds: Floats
    nugget: float | None
    jitters: tuple[float, ...] = (0.0,)

    def split(self, phi: Floats) -> tuple[Floats, float]:
        """Return theta and the nugget."""
        d = len(self.pair_distances)
        return np.exp(phi[:d]), float(np.exp(phi[d])) if self.nugget is None else self.nugget

    def within(self, u: Floats) -> Floats:
        """Map points of the unit cube, shape (..., rows), to the bounds."""
        low, high = self.bounds[:, 0], self.bounds[:, 1]
        return np.asarray(low + (high - low) * np.clip(u, 0.0, 1.0))

    def negative(self, phi: Floats) -> float:
        """Return the negative log-likelihood."""
        theta, nugget = self.split(phi)
        try:
            p = profile(self.correlation, theta @ self.pair_distances, nugget, self.response, self.jitters)
        except NotPositiveDefiniteError:
            return IMPOSSIBLE
        return -p.log_likelihood

    def negative_with_gradient(self, phi: Floats) -> tuple[float, Floats]:
        """Return the negative log-likelihood and its gradient."""
        theta, nugget = self.split(phi)
        try:
            value, by_theta, by_nugget = gradient(
                self.correlation, self.pair_distances, theta, nugget, self.response, self.jitters
            )
        except NotPositiveDefiniteError:
            return IMPOSSIBLE, np.zeros(len(phi))
        return -value, -(np.append(by_theta, by_nugget) if self.nugget is None else by_theta)


def maximize_likelihood(
    problem: LikelihoodProblem,
    *,
    optimizer: Optimizer = "lbfgsb",
    n_restarts: int = 8,
    rng: np.random.Generator,
    starts: Floats | None = None,
    max_evaluations: int = 200,
) -> Floats:
    """Return the hyperparameters of the largest likelihood found, with an entry for each row of `problem.bounds`.

    L-BFGS-B begins at the best of 25 n_restarts points of a Latin hypercube and at `starts`; CMA-ES (Koch et al. 2011) makes 16
    short runs from the best of 800 points, and continues the two best.
    """
    best = _cmaes(problem, rng) if optimizer == "cmaes" else _lbfgsb(problem, n_restarts, rng, starts, max_evaluations)
    if problem.negative(best) < IMPOSSIBLE or problem.jitters == JITTERS:
        return best
    return maximize_likelihood(
        replace(problem, jitters=JITTERS),
        optimizer=optimizer,
        n_restarts=n_restarts,
        rng=rng,
        starts=starts,
        max_evaluations=max_evaluations,
    )


def _likeliest(problem: LikelihoodProblem, n: int, among: int, rng: np.random.Generator) -> Floats:
    """Return the n points of highest likelihood in a Latin hypercube of `among` points, in units of the bounds."""
    points = qmc.LatinHypercube(len(problem.bounds), rng=rng).random(among)
    return np.asarray(points[np.argsort([problem.negative(problem.within(u)) for u in points], kind="stable")[:n]])


def _lbfgsb(
    problem: LikelihoodProblem, n_restarts: int, rng: np.random.Generator, starts: Floats | None, max_evaluations: int
) -> Floats:
    design = problem.within(_likeliest(problem, n_restarts, 25 * n_restarts, rng))
    if starts is not None:
        design = np.vstack([np.clip(starts, problem.bounds[:, 0], problem.bounds[:, 1]), design])
    optima = [
        minimize(
            problem.negative_with_gradient,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=list(problem.bounds),
            options={"maxfun": max_evaluations},
        )
        for start in design
    ]
    return np.asarray(min(optima, key=lambda f: f.fun if np.isfinite(f.fun) else np.inf).x)


def _cmaes(problem: LikelihoodProblem, rng: np.random.Generator) -> Floats:
    with warnings.catch_warnings():  # cma warns on import if matplotlib is missing, although only its plots need matplotlib
        warnings.simplefilter("ignore")
        import cma

    d = len(problem.bounds)
    size = max(d, 2)  # cma warns of one-dimensional problems; a second coordinate without effect avoids that

    def run(start: Floats, sigma: float, evaluations: int) -> tuple[float, Floats]:
        options = {"bounds": [0.0, 1.0], "seed": int(rng.integers(1, 2**31)), "verbose": -9, "tolfun": 1e-9}
        strategy = cma.CMAEvolutionStrategy(start, sigma, {**options, "maxfevals": evaluations * size})
        result = strategy.optimize(lambda u: problem.negative(problem.within(np.asarray(u)[:d]))).result
        return float(result.fbest), np.asarray(result.xbest)

    starts = np.full((_CMA_RUNS, size), 0.5)
    starts[:, :d] = _likeliest(problem, _CMA_RUNS, 50 * _CMA_RUNS, rng)
    runs = sorted((run(start, 0.1, 20) for start in starts), key=itemgetter(0))
    runs += [run(start, 0.02, 200) for _, start in runs[:2]]
    return problem.within(min(runs, key=itemgetter(0))[1][:d])

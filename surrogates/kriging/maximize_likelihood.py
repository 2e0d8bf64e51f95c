"""The hyperparameters of the largest likelihood, by multi-start L-BFGS-B or by CMA-ES."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

from spotsvm.surrogates.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.correlation import Correlation
from spotsvm.surrogates.kriging.likelihood import JITTERS, Response, gradient, profile

Floats = NDArray[np.float64]
Optimizer = Literal["lbfgsb", "cmaes"]

IMPOSSIBLE = 1e25  # in place of the negative likelihood where there is none; finite, so that a line search can turn back
_CMA_RUNS = 16


@dataclass(frozen=True)
class LikelihoodProblem:
    """What is to be maximised over ln theta and, if it is estimated, ln nugget.

    Attributes
    ----------
    correlation : Correlation
        The correlation function.
    pair_distances : ndarray of shape (d, pairs)
        Squared distances of the pairs in each dimension.
    response : Response
        The data.
    bounds : ndarray of shape (d, 2) or (d + 1, 2)
        Bounds of ln theta, and of ln nugget in a last row if it is estimated.
    nugget : float or None
        The nugget where it is fixed.
    jitters : tuple of float, default=(0,)
        What may be added to the diagonal. Hyperparameters that need more are out of the question: a jitter there would
        act as a nugget that nobody asked for.
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
        """Return the points of the unit cube, shape (..., rows), in the bounds."""
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
    """Return the hyperparameters, shape of `problem.bounds`'s rows, with the largest likelihood found.

    Parameters
    ----------
    problem : LikelihoodProblem
        The likelihood and its bounds.
    optimizer : {"lbfgsb", "cmaes"}, default="lbfgsb"
        L-BFGS-B, or CMA-ES as in Koch et al. 2011.
    n_restarts : int, default=8
        Starts of L-BFGS-B, the likeliest of 25 times as many points of a Latin hypercube. CMA-ES has 16 short runs from the
        likeliest of 800 points, the two best of which go on.
    rng : numpy.random.Generator
        Source of the starts.
    starts : ndarray of shape (k, rows), optional
        Further starts, such as the last optimum.
    max_evaluations : int, default=200
        Likelihoods for each start of L-BFGS-B.
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
    """Return the n points of the largest likelihood among those of a Latin hypercube, in units of the bounds."""
    points = qmc.LatinHypercube(len(problem.bounds), rng=rng).random(among)
    return np.asarray(points[np.argsort([problem.negative(problem.within(u)) for u in points], kind="stable")[:n]])


def _lbfgsb(
    problem: LikelihoodProblem, n_restarts: int, rng: np.random.Generator, starts: Floats | None, max_evaluations: int
) -> Floats:
    design = problem.within(_likeliest(problem, n_restarts, 25 * n_restarts, rng))
    if starts is not None:
        design = np.vstack([np.clip(starts, problem.bounds[:, 0], problem.bounds[:, 1]), design])
    found = [
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
    return np.asarray(min(found, key=lambda f: f.fun if np.isfinite(f.fun) else np.inf).x)


def _cmaes(problem: LikelihoodProblem, rng: np.random.Generator) -> Floats:
    with warnings.catch_warnings():  # on import cma warns where matplotlib is missing, which it needs for its plots alone
        warnings.simplefilter("ignore")
        import cma

    d = len(problem.bounds)
    size = max(d, 2)  # cma warns of a one-dimensional problem, and runs it well with a second coordinate that does nothing

    def run(start: Floats, sigma: float, evaluations: int) -> tuple[float, Floats]:
        options = {"bounds": [0.0, 1.0], "seed": int(rng.integers(1, 2**31)), "verbose": -9, "tolfun": 1e-9}
        strategy = cma.CMAEvolutionStrategy(start, sigma, {**options, "maxfevals": evaluations * size})
        result = strategy.optimize(lambda u: problem.negative(problem.within(np.asarray(u)[:d]))).result
        return float(result.fbest), np.asarray(result.xbest)

    starts = np.full((_CMA_RUNS, size), 0.5)
    starts[:, :d] = _likeliest(problem, _CMA_RUNS, 50 * _CMA_RUNS, rng)
    found = sorted((run(start, 0.1, 20) for start in starts), key=itemgetter(0))
    found += [run(start, 0.02, 200) for _, start in found[:2]]
    return problem.within(min(found, key=itemgetter(0))[1][:d])

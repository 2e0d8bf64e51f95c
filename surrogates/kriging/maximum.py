"""The largest likelihood of a Kriging model, by L-BFGS-B or CMA-ES; see `likelihood` for the notation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import qmc

from spotsvm.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.correlation import Correlation, is_matern
from spotsvm.surrogates.kriging.hyperparameters import LITTLE_NOISE, MUCH_NOISE, Prior
from spotsvm.surrogates.kriging.likelihood import JITTERS, Response, gradient, profile

Floats = NDArray[np.float64]

Optimizer = Literal["lbfgsb", "cmaes"]

IMPOSSIBLE = 1e25  # replaces a negative log-likelihood that does not exist; finite, so that a line search can turn back
_CMA_RUNS = 16
_CMA_POINTS = 25  # of a Latin hypercube, per hyperparameter, for the new start beside the last optimum
_CMA_TOLERANCE = 1e-3  # of the log-likelihood


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

    def without(self, phi: Floats) -> Floats:
        """Map hyperparameters, shape (..., rows), to the unit cube; the inverse of `within`."""
        low, high = self.bounds[:, 0], self.bounds[:, 1]
        return np.asarray(np.clip((phi - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0))

    @cached_property
    def data(self) -> tuple[Any, ...]:
        """The arguments of the compiled functions, in their order; a negative nugget is to be estimated."""
        response, (low, high) = self.response, np.ascontiguousarray(self.bounds.T)
        fixed = -1.0 if self.nugget is None else self.nugget
        scatter = response.mean, response.count, float(response.within)
        distances = np.ascontiguousarray(self.pair_distances)
        return is_matern(self.correlation), distances, *scatter, np.array(self.jitters), low, high, fixed

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

    L-BFGS-B begins at n_restarts likely points and at `starts`. CMA-ES (Koch et al. 2011) continues the two best of short runs
    from 16 likely points; given `starts`, the best of those from each and from a likely point.
    """
    best = _cmaes(problem, rng, starts) if optimizer == "cmaes" else _lbfgsb(problem, n_restarts, rng, starts, max_evaluations)
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
    """Return n points of high likelihood in units of the bounds, in turn the best of three groups.

    `among` points are a Latin hypercube. Half as many each are drawn with little and with much noise, the two modes of the
    likelihood, and with lengths from the prior of the searches: those of sums over many columns are long.
    """
    from spotsvm.surrogates.kriging._evolution_kernels import negatives

    def ranked(points: Floats) -> Floats:
        return np.asarray(points[np.argsort(negatives(problem.data, points), kind="stable")])

    groups = [ranked(_drawn(problem, LITTLE_NOISE, -(-among // 2), rng))]
    groups += [ranked(qmc.LatinHypercube(len(problem.bounds), rng=rng).random(among))]
    groups += [ranked(_drawn(problem, MUCH_NOISE, -(-among // 2), rng))]
    return np.array([groups[k % 3][k // 3] for k in range(n)])


def _drawn(problem: LikelihoodProblem, log_nugget: float, n: int, rng: np.random.Generator) -> Floats:
    """Draw n points in units of the bounds: lengths from the prior of the searches, and nuggets around one."""
    d = len(problem.pair_distances)
    mean, sd = Prior(log_nugget=(log_nugget, 1.0)).moments(d, warped=False)
    phi = mean + sd * rng.normal(size=(n, d + 1))
    phi[:, :d] *= -2.0
    return problem.without(phi[:, : len(problem.bounds)])


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


def _cmaes(problem: LikelihoodProblem, rng: np.random.Generator, starts: Floats | None) -> Floats:
    from spotsvm.surrogates.kriging._evolution_kernels import evolve

    p = len(problem.bounds)

    def run(start: Floats, sigma: float, evaluations: int) -> tuple[float, Floats]:
        value, u = evolve(problem.data, start, sigma, evaluations * p, _CMA_TOLERANCE, rng)
        return float(value), np.asarray(u)

    if starts is None:
        begun, n_continued = _likeliest(problem, _CMA_RUNS, 50 * _CMA_RUNS, rng), 2
    else:
        begun, n_continued = np.vstack([problem.without(starts), _likeliest(problem, 1, _CMA_POINTS * p, rng)]), 1
    runs = sorted((run(start, 0.1, 60) for start in begun), key=itemgetter(0))
    runs += [run(start, 0.02, 200) for _, start in runs[:n_continued]]
    return problem.within(min(runs, key=itemgetter(0))[1])

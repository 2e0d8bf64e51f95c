"""An ensemble of Kriging models of the same data, with hyperparameters sampled from their posterior.

Notation, beyond that of `hyperparameters` (k members, N evaluations at n distinct points, m new points):

==========  ========  =======================================================================================
index       (N,)      the distinct point of each evaluation
embedded    (n, p)    the distinct points in the space of the processes (`Embedding`)
fitted      (n,)      a member's predicted mean at them, in warped responses z
mean        (m,)      low + unit * mean over members of t(z); the predicted median of each member
error       (m,)      unit * root of (mean of the members' variances + variance of their means)
==========  ========  =======================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.correlation import Embedding, get_correlation
from spotsvm.surrogates.kriging.hyperparameters import LITTLE_NOISE, MUCH_NOISE, Hyperposterior, Prior, ResponseWarp
from spotsvm.surrogates.kriging.likelihood import Response
from spotsvm.surrogates.kriging.maximum import LikelihoodProblem, maximize_likelihood
from spotsvm.surrogates.kriging.process import Process
from spotsvm.surrogates.responses import aggregate

Floats = NDArray[np.float64]
Inference = Literal["sampled", "mle", "mle-cmaes"]

_LEAST_MOVES = 0.1  # moves of a fit, on average


@dataclass(frozen=True)
class Member:
    """A model of an ensemble: a process of the warped response, with the inverse of the warp."""

    process: Process
    response: Response
    warp: ResponseWarp
    log_strength: float

    def backward(self, z: Floats) -> Floats:
        """Return responses in units of the warp from warped responses."""
        return self.warp.backward(z, self.log_strength)

    def log_slope(self, z: Floats) -> Floats:
        """Return ln dt/dz at z, where t is the response in units of the warp."""
        return self.warp.log_slope(z, self.log_strength)

    def noise_variance(self, z: Floats) -> Floats:
        """Return the variance of one response, in units of the warp, where the warped response is z."""
        return self.process.nugget * self.process.sigma2 * np.exp(2.0 * self.log_slope(z))


@dataclass(frozen=True)
class Models:
    """The fitted members of an ensemble, with the embedded distinct points, and the index of each evaluation's point."""

    members: list[Member]
    embedding: Embedding
    embedded: Floats
    index: NDArray[np.intp]

    def predict_evaluated(self) -> tuple[Floats, Floats]:
        """Return the predicted response at each evaluation's point, and its standard error; shapes (N,)."""
        return self.mean_evaluated(), self.error_evaluated()

    def mean_evaluated(self) -> Floats:
        """Return the predicted response at each evaluation's point; shape (N,)."""
        mean = np.mean([member.backward(member.process.fitted) for member in self.members], axis=0)
        return np.asarray(self.members[0].warp.low + self.unit * mean[self.index])

    def error_evaluated(self, at: int | None = None) -> Floats:
        """Return the standard error of the predicted response at each evaluation's point, or at that of a single evaluation."""
        rows = slice(None) if at is None else slice(self.index[at], self.index[at] + 1)
        embedded = self.embedded[rows]
        error = self.combined([(m.process.fitted[rows], m.process.predict(embedded)[1]) for m in self.members])[1]
        return np.asarray(error[self.index] if at is None else error)

    def predict(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the predicted response at model inputs and its standard error, without a response's noise; :eq:`ensemble`."""
        embedded = self.embedding.transform(inputs)
        return self.combined([member.process.predict(embedded) for member in self.members])

    def combined(self, predictions: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
        """Return the response and its standard error, from each member's mean and variance of the warped response z."""
        means, variances = [], []
        for member, (z, variance) in zip(self.members, predictions, strict=True):
            means.append(member.backward(z))
            variances.append(variance * np.exp(2.0 * member.log_slope(z)))
        mean = self.members[0].warp.low + self.unit * np.mean(means, axis=0)
        return mean, self.unit * np.sqrt(np.mean(variances, axis=0) + np.var(means, axis=0))

    def believe(self, inputs: Floats) -> Models:
        """Return the models with their own predictions at further points added as data; see `Process.believe`."""
        embedded = self.embedding.transform(inputs)
        return replace(self, members=[replace(member, process=member.process.believe(embedded)) for member in self.members])

    def reinterpolate(self) -> Models:
        """Return the models that interpolate their own predictions at the evaluated points; see `Process.reinterpolate`."""
        return replace(self, members=[replace(member, process=member.process.reinterpolate()) for member in self.members])

    @property
    def unit(self) -> float:
        """The unit of the warp, in units of the response."""
        return self.members[0].warp.unit

    @property
    def nugget(self) -> float:
        """The median nugget of the members."""
        return float(np.median([member.process.nugget for member in self.members]))

    @property
    def noise(self) -> float:
        """The standard deviation of the noise near the best prediction, in the response's own unit."""
        variances = [member.noise_variance(np.min(member.process.fitted, keepdims=True)) for member in self.members]
        return self.unit * float(np.sqrt(np.mean(variances)))


class KrigingEnsemble:
    """Fits Kriging models to points of a domain, with sampled hyperparameters or by maximum likelihood (L-BFGS-B, CMA-ES).

    Each member is a sample of its own slice-sampling chain (Snoek, Larochelle, Adams 2012); `chains` is the only state between
    fits, so a fit costs a few moves. Only sampled responses are warped.
    """

    FIRST_SWEEPS = 8
    FIRST_POINTS = 200  # with more points, new chains are started on this many of them
    FULL_EFFORT = 64  # up to this many points a first fit makes all its sweeps and each fit uses all its chains
    NEXT_EFFORT = 45  # the same for later fits, whose chains have converged
    THETA_BOUNDS = (1e-3, 1e3)

    def __init__(
        self,
        domain: Domain,
        *,
        correlation: str = "matern52",
        inference: Inference = "sampled",
        n_members: int = 4,
        warped: bool = True,
        nugget_bounds: tuple[float, float] = (1e-8, 10.0),
    ):
        self.domain = domain
        self.correlation = get_correlation(correlation)
        self.inference = inference
        self.n_members = n_members if inference == "sampled" else 1
        self.warped = warped and inference == "sampled"
        self.nugget_bounds = nugget_bounds
        self.chains: Floats | None = None

    def fit(self, points: Floats, values: Floats, rng: np.random.Generator, *, sweeps: int = 1) -> Models:
        """Fit to evaluated points (equal rows are replicates), after `sweeps` moves of each coordinate of the chains.

        With many points a share of them moves; 0 keeps the chains, but missing ones are made in any case.
        """
        data = aggregate(points, values)
        embedding, embedded = Embedding.of_points(self.domain, data.X)
        posterior = self._posterior(embedding, embedded, values, data.index)
        if self.chains is not None and self.chains.shape[1] != len(posterior.moments()[0]):
            self.chains = None  # the response is now warped and was not before, or vice versa
        constant = not np.ptp(values) > 0
        if not constant and len(embedded) > 1 and (sweeps or self.chains is None):
            self._move_chains(posterior, points, values, sweeps, rng)
        phis = posterior.moments()[0][None] if self.chains is None else self.chains
        phis = phis[: self._n_used(len(embedded))]
        members = []
        for phi in phis:
            theta, nugget = np.exp(-2.0 * phi[: posterior.d]), math.exp(phi[posterior.d])
            response = posterior.response(phi)
            process = Process.condition(
                self.correlation, theta[embedding.owner], nugget, embedded, response, theta @ posterior.pair_distances
            )
            if not process.sigma2 > 0:  # a constant response: any variance gives the same ranking of points
                process = process.with_variance(1.0)
            members.append(Member(process, response, posterior.warp, posterior.log_strength(phi)))
        return Models(members, embedding, embedded, data.index)

    def _n_used(self, n: int) -> int:
        """Return the number of chains that become members for n points."""
        k = self.n_members if self.chains is None else len(self.chains)
        return max(1, round(k * min(1.0, 4.0 * self.FULL_EFFORT / n)))

    def _posterior(self, embedding: Embedding, embedded: Floats, values: Floats, index: NDArray[np.intp]) -> Hyperposterior:
        distances = embedding.pair_distances(embedded)
        return Hyperposterior(self.correlation, distances, values, index, ResponseWarp.of(values), self.warped, Prior())

    def _move_chains(
        self, posterior: Hyperposterior, points: Floats, values: Floats, sweeps: int, rng: np.random.Generator
    ) -> None:
        if self.inference != "sampled":
            self.chains = self._most_likely(posterior, points, values, rng)[None]
            return
        n = posterior.response(posterior.moments()[0]).mean.size
        effort = self.NEXT_EFFORT
        if self.chains is None:
            if n > self.FIRST_POINTS:
                subset = np.sort(rng.choice(len(values), self.FIRST_POINTS, replace=False))
                self.fit(points[subset], values[subset], rng)
                sweeps = 0
            else:
                self.chains = self._first_chains(posterior, rng)
                sweeps, effort = self.FIRST_SWEEPS, self.FULL_EFFORT
        if self.chains is not None and sweeps:
            self._sweep(posterior, sweeps, min(1.0, (effort / n) ** 2), self._n_used(n), rng)

    def _first_chains(self, posterior: Hyperposterior, rng: np.random.Generator) -> Floats:
        """Start the chains in both modes of the likelihood, little and much noise, so that neither is missed."""
        mean, _ = posterior.moments()
        chains = np.tile(mean, (self.n_members, 1))
        chains[:, : posterior.d] += 0.3 * rng.normal(size=(self.n_members, posterior.d))
        chains[:, posterior.d] = np.where(np.arange(self.n_members) % 2, MUCH_NOISE, LITTLE_NOISE)
        return chains

    def _sweep(self, posterior: Hyperposterior, sweeps: int, share: float, k: int, rng: np.random.Generator) -> None:
        """Make a share of the moves of `sweeps` sweeps over k chains; on average at least a move in ten fits."""
        assert self.chains is not None
        p = self.chains.shape[1]
        moves = np.concatenate([rng.permutation(k * p) for _ in range(sweeps)])
        moves = moves[: int(max(share * len(moves), _LEAST_MOVES) + rng.random())]
        self.chains = posterior.sweep(self.chains, moves, rng)

    def _most_likely(self, posterior: Hyperposterior, points: Floats, values: Floats, rng: np.random.Generator) -> Floats:
        d, many = posterior.d, len(posterior.response(posterior.moments()[0]).mean) > self.FIRST_POINTS
        if many:  # the time grows with the cube of the points: use a subset, from the last optimum
            subset = np.sort(rng.choice(len(values), self.FIRST_POINTS, replace=False))
            data = aggregate(points[subset], values[subset])
            posterior = self._posterior(*Embedding.of_points(self.domain, data.X), values[subset], data.index)
        bounds = np.log(np.array([self.THETA_BOUNDS] * d + [self.nugget_bounds]))
        response = posterior.response(np.zeros(d + 1))
        problem = LikelihoodProblem(self.correlation, posterior.pair_distances, response, bounds, None)
        starts = None
        if self.chains is not None:
            starts = np.append(-2.0 * self.chains[0, :d], self.chains[0, d])[None]
        phi = maximize_likelihood(
            problem,
            optimizer="cmaes" if self.inference == "mle-cmaes" and not many else "lbfgsb",
            n_restarts=1 if many else 4,
            max_evaluations=40 if many else 200,
            rng=rng,
            starts=starts,
        )
        return np.append(-0.5 * phi[:d], phi[d])

"""The share of a domain in which the response is at or below a level, with its uncertainty under a Kriging model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs
from scipy.spatial import KDTree
from scipy.special import ndtr
from scipy.stats import qmc

from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import Member, Models
from spotsvm.surrogates.responses import Noisiness

Floats = NDArray[np.float64]
_FEATURES = 256  # fewer features widen the draws near the data: a conservative error
_BLOCK = 2048


def draw_level_shares(
    models: Models,
    domain: Domain,
    level: float,
    rng: np.random.Generator,
    *,
    noise: Noisiness,
    n_points: int,
    n_draws: int = 50,
    tolerance: float = 0.0,
    failed: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Draw lower and upper shares of uniformly random points whose response is at or below a level, `n_draws` a member.

    Functions are drawn given the data (Rahimi, Recht 2007; Wilson et al. 2020) at `n_points` Sobol points, a power of two. In the
    upper share responses up to `tolerance` above the level count; in the lower, points nearest to a failed one do not.
    """
    points = domain.snap(qmc.Sobol(domain.dimension, rng=rng).random(n_points))
    embedded = models.embedding.transform(domain.model_inputs(points))
    responds = np.ones(n_points, dtype=bool)
    if failed is not None and len(failed):
        failures = models.embedding.transform(domain.model_inputs(failed))
        responds = KDTree(models.embedded).query(embedded)[0] <= KDTree(failures).query(embedded)[0]
    shares = []
    for member in models.members:
        functions = Realisations(member, len(models.index), n_draws, rng)
        at, above = (member.warp.forward(np.array([value]), member.log_strength)[0] for value in (level, level + tolerance))
        counts = np.zeros((2, n_draws))
        for k in range(0, n_points, _BLOCK):
            z, valid = functions(embedded[k : k + _BLOCK]), responds[k : k + _BLOCK]
            counted = []
            if noise != "noisy":
                counted.append((np.sum(z[valid] <= at, axis=0), np.sum(z <= above, axis=0)))
            if noise != "deterministic":
                counted.append(
                    tuple(ndtr((bound - f) / functions.noise).sum(axis=0) for bound, f in ((at, z[valid]), (above, z)))
                )
            counts += [np.min([low for low, _ in counted], axis=0), np.max([high for _, high in counted], axis=0)]
        shares.append(rng.beta(counts + 0.5, n_points - counts + 0.5))
    lower, upper = np.concatenate(shares, axis=1)
    return lower, upper


class Realisations:
    """Functions drawn from a member's process given its data, of the warped response and without noise.

    `noise` is the standard deviation of the noise in each draw; the correlation is Matern 5/2.
    """

    def __init__(self, member: Member, n_responses: int, n_draws: int, rng: np.random.Generator):
        process = self._process = member.process
        n, p = process.points.shape
        variance = process.sigma2 * n_responses / rng.chisquare(max(n_responses - 1, 1), n_draws)
        self.noise = np.sqrt(np.maximum(variance * process.nugget, np.finfo(float).tiny))
        # the spectral density of Matern 5/2 is that of Student's t with five degrees of freedom
        self._frequencies = rng.normal(size=(p, _FEATURES)) * np.sqrt(5.0 / rng.chisquare(5, _FEATURES))
        self._phases = rng.uniform(0.0, 2.0 * np.pi, _FEATURES)
        self._weights = rng.normal(size=(_FEATURES, n_draws)) * np.sqrt(2.0 * variance / _FEATURES)
        diagonal = process.nugget / member.response.count + process.jitter
        error = np.sqrt(variance * diagonal[:, None]) * rng.normal(size=(n, n_draws))
        left = member.response.mean[:, None] - self._prior(process.points) - error
        half = dtrtrs(process.L, left, lower=1)[0]
        self._mean = process.half_one @ half / (process.half_one @ process.half_one)
        self._a = dtrtrs(process.L, half - np.outer(process.half_one, self._mean), lower=1, trans=1)[0]

    def __call__(self, embedded: Floats) -> Floats:
        """Return the functions at embedded points, shape (m, p); shape (m, n_draws)."""
        prior = self._prior(embedded * self._process.scale)
        return np.asarray(prior + self._mean + self._process.correlations(embedded) @ self._a)

    def _prior(self, scaled: Floats) -> Floats:
        return np.asarray(np.cos(scaled @ self._frequencies + self._phases) @ self._weights)

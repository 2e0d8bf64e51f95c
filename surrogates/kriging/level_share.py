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
    """Draw lower and upper shares of uniformly random points whose response is at or below a level.

    Each member gives equally many draws: functions drawn from the member's process given the data, with a random process
    variance, evaluated at a Sobol set of points. The draws include the uncertainty from the finite size of the set.

    Parameters
    ----------
    models : Models
        A fitted ensemble with the Matern 5/2 correlation.
    level : float
        The level, in the response's unit.
    noise : {"noisy", "deterministic", "unknown"}
        Whether the response at a random point has the members' noise; "unknown" uses the smaller result for the lower share, and
        the larger for the upper share.
    n_points : int
        Size of the set, a power of two.
    n_draws : int, default=50
        Number of draws for each member.
    tolerance : float, default=0.0
        For the upper share, responses up to this far above the level count as at the level; for example half the step of rounded
        responses.
    failed : ndarray of shape (k, d), optional
        Points of failed evaluations: for the lower share, a point that is nearer to a failed point than to all others counts as
        failed.

    Returns
    -------
    lower, upper : ndarray of shape (n_draws * number of members,)

    References
    ----------
    Rahimi, Recht 2007, "Random features for large-scale kernel machines" (draws of the process without the data).
    Wilson, Borovitskiy, Terenin, Mostowsky, Deisenroth 2020, "Efficiently sampling functions from Gaussian process posteriors"
    (the conversion into draws given the data).

    Examples
    --------
    >>> from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
    >>> points = np.linspace(0.0, 1.0, 12)[:, None]
    >>> domain, rng = Domain.continuous(1), np.random.default_rng(0)
    >>> models = KrigingEnsemble(domain).fit(
    ...     points, (points[:, 0] - 0.4) ** 2, rng
    ... )
    >>> lower, upper = draw_level_shares(
    ...     models, domain, 0.01, rng, noise="deterministic", n_points=1024
    ... )
    >>> float(np.median(lower).round(1)), float(np.median(upper).round(1))
    (0.2, 0.2)
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

    Parameters
    ----------
    member : Member
        A member with the Matern 5/2 correlation.
    n_responses : int
        Number of responses in the data.
    n_draws : int
        Number of functions.

    Attributes
    ----------
    noise : ndarray of shape (n_draws,)
        Standard deviation of the noise in each draw.
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

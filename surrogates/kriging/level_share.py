"""The share of a domain in which a response is at or below a level, with draws of its uncertainty under a Kriging model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs
from scipy.spatial import KDTree
from scipy.special import ndtr
from scipy.stats import qmc

from spotsvm.surrogates.domain import Domain
from spotsvm.surrogates.kriging.ensemble import Member, Models
from spotsvm.surrogates.kriging.noise import Verdict

Floats = NDArray[np.float64]
_FEATURES = 256  # the fewer, the wider the draws near the data: on the safe side
_BLOCK = 2048


def draw_level_shares(
    models: Models,
    domain: Domain,
    level: float,
    rng: np.random.Generator,
    *,
    noise: Verdict,
    n_points: int,
    n_draws: int = 50,
    tolerance: float = 0.0,
    failed: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Draw the share of uniformly random points whose response is at or below a level; a lower and an upper share each.

    Each member gives as many draws: functions that agree with the data as far as the member says, with a process variance drawn
    from what the data leave open, looked at in a Sobol set of points. That the set is finite is part of what is open.

    Parameters
    ----------
    models : Models
        A fitted ensemble with the Matern 5/2 correlation.
    domain : Domain
        Of its points.
    level : float
        The level, in the response's unit.
    rng : numpy.random.Generator
        Source of the draws.
    noise : {"noisy", "deterministic", "unknown"}
        Whether the response at a random point has the members' noise; "unknown" takes what is less for the lower share, and what
        is more for the upper one.
    n_points : int
        Size of the set, a power of two.
    n_draws : int, default=50
        Draws a member.
    tolerance : float, default=0.0
        Of the upper share: responses so far above the level count as at it, such as half of the step of rounded ones.
    failed : ndarray of shape (k, d), optional
        Points where there was no response: of the lower share, what is nearer to one of them than to all others has none either.

    Returns
    -------
    lower, upper : ndarray of shape (n_draws * number of members,)

    References
    ----------
    Rahimi, Recht 2007, "Random features for large-scale kernel machines" (draws of the process without the data).
    Wilson, Borovitskiy, Terenin, Mostowsky, Deisenroth 2020, "Efficiently sampling functions from Gaussian process posteriors"
    (what turns them into draws with the data).

    Examples
    --------
    >>> from spotsvm.surrogates.kriging.ensemble import KrigingEnsemble
    >>> points = np.linspace(0.0, 1.0, 12)[:, None]
    >>> domain, rng = Domain.continuous(1), np.random.default_rng(0)
    >>> models = KrigingEnsemble(domain).fit(points, (points[:, 0] - 0.4) ** 2, rng)
    >>> lower, upper = draw_level_shares(models, domain, 0.01, rng, noise="deterministic", n_points=1024)
    >>> float(np.median(lower).round(1)), float(np.median(upper).round(1))
    (0.2, 0.2)
    """
    points = domain.snap(qmc.Sobol(domain.dimension, rng=rng).random(n_points))
    embedded = models.embedding.transform(domain.model_inputs(points))
    answers = np.ones(n_points, dtype=bool)
    if failed is not None and len(failed):
        without = models.embedding.transform(domain.model_inputs(failed))
        answers = KDTree(models.embedded).query(embedded)[0] <= KDTree(without).query(embedded)[0]
    shares = []
    for member in models.members:
        functions = Realisations(member, len(models.index), n_draws, rng)
        at, above = (member.warp.forward(np.array([one]), member.log_strength)[0] for one in (level, level + tolerance))
        counts = np.zeros((2, n_draws))
        for k in range(0, n_points, _BLOCK):
            z, some = functions(embedded[k : k + _BLOCK]), answers[k : k + _BLOCK]
            found = []
            if noise != "noisy":
                found.append((np.sum(z[some] <= at, axis=0), np.sum(z <= above, axis=0)))
            if noise != "deterministic":
                found.append(tuple(ndtr((one - f) / functions.noise).sum(axis=0) for one, f in ((at, z[some]), (above, z))))
            counts += [np.min([low for low, _ in found], axis=0), np.max([high for _, high in found], axis=0)]
        shares.append(rng.beta(counts + 0.5, n_points - counts + 0.5))
    lower, upper = np.concatenate(shares, axis=1)
    return lower, upper


class Realisations:
    """Functions drawn from a member's process given its data, of the warped response and without noise.

    Parameters
    ----------
    member : Member
        With the Matern 5/2 correlation.
    n_responses : int
        How many it has seen.
    n_draws : int
        How many functions.
    rng : numpy.random.Generator
        Source of the draws.

    Attributes
    ----------
    noise : ndarray of shape (n_draws,)
        Standard deviation of one response, as it is in each draw.
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
        scaled, points = embedded * self._process.scale, self._process.points
        r2 = np.einsum("ij,ij->i", scaled, scaled)[:, None] + np.einsum("ij,ij->i", points, points) - 2.0 * scaled @ points.T
        return np.asarray(self._prior(scaled) + self._mean + self._process.correlation.value(np.maximum(r2, 0.0)) @ self._a)

    def _prior(self, scaled: Floats) -> Floats:
        return np.asarray(np.cos(scaled @ self._frequencies + self._phases) @ self._weights)

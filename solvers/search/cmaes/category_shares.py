"""Shares of the values of categorical coordinates, which follow the better points of each generation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


class CategoryShares:
    """A distribution of the categorical coordinates, independent of one another: each value has a share.

    After a generation the shares move to those among its better half, weighted as CMA-ES weights its mean, and none falls
    below a floor.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    rate : float
        How far the shares move a generation, in (0, 1].
    floor : float
        The smallest share, as part of an equal one, in [0, 1).
    start : ndarray of shape (d,), optional
        A point whose categories get half of the shares at first; by default all shares are equal.

    References
    ----------
    Hamano, Saito, Nomura, Uchida, Shirakawa 2024, "CatCMA: Stochastic Optimization for Mixed-Category Problems", which has
    the margin and the update by the natural gradient, section 3.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Coordinate
    >>> shares = CategoryShares(Domain((Coordinate(levels=2, categorical=True),)), rate=0.5, floor=0.2)
    >>> shares.update(np.array([[0.75], [0.75]]), np.array([0.6, 0.4]))
    >>> shares.shares[0].tolist()
    [0.25, 0.75]
    """

    def __init__(self, domain: Domain, rate: float, floor: float, start: Floats | None = None):
        self.domain = domain
        self.rate = rate
        self.floor = floor
        self.shares: dict[int, Floats] = {}
        for j in np.flatnonzero(domain.categorical):
            k = int(domain.levels[j])
            self.shares[int(j)] = np.full(k, 1.0 / k)
            if start is not None and domain.active(start)[0, j]:
                self.shares[int(j)] = 0.5 * (self.shares[int(j)] + (np.arange(k) == domain.level_of(start)[0, j]))

    def sample(self, rng: np.random.Generator) -> Floats:
        """Draw a point's categories; the other coordinates are 0.5."""
        point = np.full(self.domain.dimension, 0.5)
        for j, shares in self.shares.items():
            point[j] = (np.searchsorted(np.cumsum(shares)[:-1], rng.random(), side="right") + 0.5) / len(shares)
        return point

    def update(self, points: Floats, weights: Floats) -> None:
        """Move the shares to those of the better points; where a coordinate is inactive, a point does not count."""
        active, levels = self.domain.active(points), self.domain.level_of(points)
        for j, shares in self.shares.items():
            w = weights * active[:, j]
            if w.sum() > 0:
                target = np.bincount(levels[:, j], weights=w, minlength=len(shares)) / weights.sum()
                moved = shares + self.rate * (target - w.sum() / weights.sum() * shares)
                least = self.floor / len(shares)
                self.shares[j] = least + (1.0 - self.floor) * moved if moved.min() < least else moved

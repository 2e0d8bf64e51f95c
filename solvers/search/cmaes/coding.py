"""Conversion between the unit cube and the coordinates of CMA-ES."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


class CmaesCoding:
    """The coordinates of CMA-ES for a domain.

    A continuous coordinate is unchanged. An ordered coordinate of k levels is an integer variable of cma, on [-0.5, k - 0.5]. A
    categorical coordinate has no order and is left to `CategoryShares`. cma needs at least two coordinates; missing ones are
    added without effect.

    Parameters
    ----------
    domain : Domain
        What the coordinates of the cube mean.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
        Index of the cube's coordinate for each coordinate of cma.
    widths : ndarray of shape (n,)
        Length of the range of each coordinate of cma; n = max(m, 2).
    low, high : ndarray of shape (n,)
        The ranges.
    integers : list of int
        Indices of cma's integer coordinates.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Coordinate
    >>> coding = CmaesCoding(
    ...     Domain(
    ...         (
    ...             Coordinate(),
    ...             Coordinate(levels=4),
    ...             Coordinate(levels=3, categorical=True),
    ...         )
    ...     )
    ... )
    >>> coding.decode(
    ...     coding.encode(np.array([0.3, 0.625, 0.5])), np.full(3, 0.5)
    ... ).tolist()
    [0.3, 0.625, 0.5]
    >>> coding.encode(np.array([0.3, 0.625, 0.5])).tolist(), coding.integers
    ([0.3, 2.0], [1])
    """

    def __init__(self, domain: Domain):
        self.domain = domain
        self.columns = np.flatnonzero((domain.levels != 1) & ~domain.categorical)
        levels = domain.levels[self.columns]
        self.integers = [int(j) for j in np.flatnonzero(levels > 0)]
        self.widths = np.ones(max(len(self.columns), 2))
        self.widths[self.integers] = levels[self.integers]
        self.low = np.zeros(len(self.widths))
        self.low[self.integers] = -0.5
        self.high = self.low + self.widths

    def encode(self, point: Floats) -> Floats:
        """Return the coordinates of cma for a point of the cube; shape (n,)."""
        inside = np.full(len(self.widths), 0.5)
        inside[: len(self.columns)] = point[self.columns]
        return np.asarray(self.low + inside * self.widths)

    def decode(self, x: Floats, categories: Floats) -> Floats:
        """Return the canonical point for coordinates of cma; `categories` is a point with the categorical coordinates."""
        point = np.array(categories, dtype=float)
        inside = (np.asarray(x) - self.low) / self.widths
        point[self.columns] = inside[: len(self.columns)]
        return self.domain.snap_one(point)


class CategoryShares:
    """A distribution of independent categorical coordinates: each value has a share.

    After a generation the shares move towards the categories of its better half, weighted as CMA-ES weights its mean. No share
    falls below a floor.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    rate : float
        Step of the shares in each generation, in (0, 1].
    floor : float
        The smallest share, relative to an equal share, in [0, 1).
    start : ndarray of shape (d,), optional
        A point whose categories get half of the shares in advance; by default all shares are equal.

    References
    ----------
    Hamano, Saito, Nomura, Uchida, Shirakawa 2024, "CatCMA: Stochastic Optimization for Mixed-Category Problems", section 3, for
    the margin and the update by the natural gradient.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Coordinate
    >>> shares = CategoryShares(
    ...     Domain((Coordinate(levels=2, categorical=True),)), rate=0.5, floor=0.2
    ... )
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
        """Move the shares towards the categories of the better points; a point's inactive coordinates do not count."""
        active, levels = self.domain.active(points), self.domain.level_of(points)
        for j, shares in self.shares.items():
            w = weights * active[:, j]
            if w.sum() > 0:
                target = np.bincount(levels[:, j], weights=w, minlength=len(shares)) / weights.sum()
                moved = shares + self.rate * (target - w.sum() / weights.sum() * shares)
                least = self.floor / len(shares)
                self.shares[j] = least + (1.0 - self.floor) * moved if moved.min() < least else moved

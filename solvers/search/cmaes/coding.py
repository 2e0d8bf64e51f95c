"""Conversion between the unit cube and the coordinates in which CMA-ES moves."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


class CmaesCoding:
    """The coordinates of CMA-ES for a domain.

    A continuous coordinate is itself. An ordered one of k levels is an integer variable of cma's, on [-0.5, k - 0.5]. A
    categorical one, whose values have no order, is none of its coordinates: `CategoryShares` has those. cma does not run well
    with less than two coordinates; those that fail do nothing.

    Parameters
    ----------
    domain : Domain
        What the coordinates of the cube mean.

    Attributes
    ----------
    columns : ndarray of int, shape (m,)
        The cube's coordinate that each of cma's stands for.
    widths : ndarray of shape (n,)
        How long the range of each of cma's coordinates is; n = max(m, 2).
    low, high : ndarray of shape (n,)
        The ranges.
    integers : list of int
        Which of cma's coordinates are integer.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Coordinate
    >>> coding = CmaesCoding(Domain((Coordinate(), Coordinate(levels=4), Coordinate(levels=3, categorical=True))))
    >>> coding.decode(coding.encode(np.array([0.3, 0.625, 0.5])), np.full(3, 0.5)).tolist()
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
        """Return cma's coordinates of a point of the cube; shape (n,)."""
        inside = np.full(len(self.widths), 0.5)
        inside[: len(self.columns)] = point[self.columns]
        return np.asarray(self.low + inside * self.widths)

    def decode(self, x: Floats, categories: Floats) -> Floats:
        """Return the canonical point of cma's coordinates; `categories` is a point that has the categorical ones."""
        point = np.array(categories, dtype=float)
        inside = (np.asarray(x) - self.low) / self.widths
        point[self.columns] = inside[: len(self.columns)]
        return self.domain.snap_one(point)

"""The searches that use no values: points drawn one by one, and Latin hypercubes."""

from __future__ import annotations

import numpy as np
from scipy.stats import qmc

from spotsvm.solvers.search.contract.base import Capabilities, Search, Suggestion
from spotsvm.surrogates.domain import Domain


class RandomSearch(Search):
    """Points drawn uniformly from the unit cube: the baseline (Bergstra and Bengio 2012).

    See Also
    --------
    LatinHypercubeSearch : Points spread evenly.

    Examples
    --------
    >>> from spotsvm.searches import Domain
    >>> RandomSearch(Domain.continuous(2), seed=1).ask().point.shape
    (2,)
    """

    capabilities = Capabilities(respects_constraints=True)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Draw a new point uniformly.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        return Suggestion(self.new_point(rng), "random")

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result: all."""
        return 1 << 30


class LatinHypercubeSearch(Search):
    """Points of Latin hypercubes of `size` points each: each hypercube visits every slice of every coordinate once.

    A search does not know the study's budget, so the hypercubes have a fixed size; set `size` to the budget for a single
    hypercube.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of the designs.
    size : int, default=25
        Points of each hypercube, at least 1.

    See Also
    --------
    RandomSearch : Points drawn one by one.

    References
    ----------
    McKay, Beckman, Conover 1979, "A comparison of three methods for selecting values of input variables".

    Examples
    --------
    >>> search = LatinHypercubeSearch(Domain.continuous(1), seed=0, size=4)
    >>> sorted(int(4 * search.ask().point[0]) for _ in range(4))
    [0, 1, 2, 3]
    """

    capabilities = Capabilities(respects_constraints=True)

    def __init__(self, domain: Domain, seed: int = 0, size: int = 25):
        super().__init__(domain, seed)
        if size < 1:
            raise ValueError(f"size={size} is not a number of points; use 1 or more")
        self.size = size

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Return the next point of the current hypercube, or a random point if it is not new.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        block, position = divmod(self.n_asked, self.size)
        design = qmc.LatinHypercube(self.domain.dimension, rng=np.random.default_rng([self.seed, 1, block])).random(self.size)
        point = self.domain.snap_one(design[position])
        if self.is_new(point):
            return Suggestion(point, "design")
        return Suggestion(self.new_point(rng), "random", "the design's point had been asked for")

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result: all."""
        return 1 << 30

"""Random search: each point drawn uniformly, no two alike."""

import numpy as np

from spotsvm.solvers.search.contract.base import Capabilities, Search, Suggestion


class RandomSearch(Search):
    """Points drawn uniformly from the unit cube: the baseline (Bergstra and Bengio 2012).

    See Also
    --------
    LatinHypercubeSearch : Points spread evenly.

    Examples
    --------
    >>> from spotsvm.surrogates.domain import Domain
    >>> RandomSearch(Domain.continuous(2), seed=1).ask().point.shape
    (2,)
    """

    capabilities = Capabilities(respects_constraints=True)

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Draw a new point uniformly."""
        return Suggestion(self.new_point(rng), "random")

    @property
    def n_foreseen(self) -> int:
        """Number of upcoming points that do not depend on any result: all."""
        return 1 << 30

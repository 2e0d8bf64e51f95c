"""ParEGO: the Kriging search on one random weighting of several objectives after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch
from spotsvm.solvers.search.multi_objective.tchebycheff import augmented_tchebycheff
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]
_OWN_STREAM = 1 << 42


class ParegoSearch(MultiObjectiveSearch, KrigingSearch):
    """Several objectives in few evaluations: each suggestion is the Kriging search's for weights of its own.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    n_objectives : int, default=2
        Number m of objectives, at least 2.
    rho : float, default=0.05
        Weight of the sum in the augmented Tchebycheff norm, above 0.
    noise : "auto" or bool, default="auto"
        Whether two evaluations of one point may differ; see `KrigingSearch`.
    **arguments
        The others of `KrigingSearch`.

    Raises
    ------
    SolverError
        If an argument is invalid.

    See Also
    --------
    Nsga2Search : For some hundreds of evaluations.
    KrigingSearch : The search that it weighs objectives for.

    Notes
    -----
    The weights of the k-th suggestion are drawn uniformly from the simplex (the paper draws them from a lattice on it), by
    the seed and k. All else is the Kriging search's: its design, a second look at a point to find out about noise, pending
    points believed, failures avoided. Its chains of hyperparameters go on from one weighting to the next.

    References
    ----------
    Knowles 2006, "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization
    problems", IEEE Transactions on Evolutionary Computation 10(1).

    Examples
    --------
    >>> search = ParegoSearch(Domain.continuous(2), seed=0, noise=False)
    >>> for _ in range(15):
    ...     point = search.ask().point
    ...     search.tell(point, [((point - 0.2) ** 2).sum(), ((point - 0.8) ** 2).sum()])
    >>> bool((abs(search.points[8:, 0] - search.points[8:, 1]) < 0.2).mean() > 0.5)  # the front is part of the diagonal
    True
    """

    _refits = True

    def __init__(
        self,
        domain: Domain,
        seed: int = 0,
        *,
        n_objectives: int = 2,
        rho: float = 0.05,
        noise: Noise = "auto",
        **arguments: Any,
    ):
        super().__init__(domain, seed, n_objectives=n_objectives, noise=noise, **arguments)
        if not rho > 0:
            raise SolverError(f"rho={rho!r} is not positive; use a number above 0, such as 0.05")
        self.rho = rho

    @property
    def weights(self) -> Floats:
        """The weights of the next suggestion: not negative, their sum is 1; shape (m,).

        See Also
        --------
        ask : Suggests the point for them.
        """
        stream = np.random.default_rng([self.seed, _OWN_STREAM, self.n_asked])
        return np.asarray(stream.dirichlet(np.ones(self.n_objectives)))

    def _modelled(self) -> Floats:
        return augmented_tchebycheff(self.values, self.weights, self.rho)

    def _should_probe(self, points: Floats, values: Floats, noise: Any) -> bool:
        # other weights have another best point, and one second look at a time is enough
        if any((points == waiting).all(axis=1).any() for waiting in self.pending):
            return False
        return super()._should_probe(points, values, noise)

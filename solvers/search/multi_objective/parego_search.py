"""ParEGO: the Kriging search on random weightings of several objectives in turn, by the Tchebycheff norm."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.search.contract.base import Noise
from spotsvm.solvers.search.kriging.kriging_search import KrigingSearch
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

_OWN_STREAM = 1 << 42


class ParegoSearch(MultiObjectiveSearch, KrigingSearch):
    """Several objectives in few evaluations: each suggestion is that of the Kriging search for new random weights.

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
        Whether two evaluations of a point may differ; see `KrigingSearch`.
    **arguments
        Other arguments of `KrigingSearch`.

    Raises
    ------
    SolverError
        If an argument is invalid.

    See Also
    --------
    Nsga2Search : For some hundreds of evaluations.

    Notes
    -----
    The weights of the k-th suggestion are drawn uniformly from the simplex (the paper draws them from a lattice on it), from the
    seed and k. Everything else is the Kriging search: its design, the repeated evaluation that detects noise, the Kriging
    believer at pending points, and the avoidance of failures. Its chains of hyperparameters continue from one weighting to the
    next.

    References
    ----------
    Knowles 2006, "ParEGO: a hybrid algorithm with on-line landscape approximation for expensive multiobjective optimization
    problems", IEEE Transactions on Evolutionary Computation 10(1).

    Examples
    --------
    >>> search = ParegoSearch(Domain.continuous(2), seed=0, noise=False)
    >>> for _ in range(15):
    ...     point = search.ask().point
    ...     search.tell(
    ...         point, [((point - 0.2) ** 2).sum(), ((point - 0.8) ** 2).sum()]
    ...     )
    >>> bool(
    ...     (abs(search.points[8:, 0] - search.points[8:, 1]) < 0.2).mean() > 0.5
    ... )  # the front is part of the diagonal
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
        """The weights of the next suggestion: not negative, with sum 1; shape (m,)."""
        stream = np.random.default_rng([self.seed, _OWN_STREAM, self.n_asked])
        return np.asarray(stream.dirichlet(np.ones(self.n_objectives)))

    def _modelled(self) -> Floats:
        return augmented_tchebycheff(self.values, self.weights, self.rho)

    def _should_probe(self, points: Floats, values: Floats, noise: Any) -> bool:
        # each weighting has its own best point, and one repeated evaluation at a time is enough
        if any((points == waiting).all(axis=1).any() for waiting in self.pending):
            return False
        return super()._should_probe(points, values, noise)


def augmented_tchebycheff(objectives: Floats, weights: Floats, rho: float = 0.05) -> Floats:
    """Return max_j w_j f_j + rho sum_j w_j f_j (Knowles 2006, ParEGO, eq. 2), f_j scaled to [0, 1] by their observed range.

    The second term excludes points dominated but for a tie. Rows that are not finite give nan and do not count in the range.
    """
    out = np.full(len(objectives), np.nan)
    finite = np.isfinite(objectives).all(axis=1)
    if not finite.any():
        return out
    halves = 0.5 * objectives[finite]  # halved, so that no difference overflows
    low = halves.min(axis=0)
    span = halves.max(axis=0) - low
    weighted = weights * (halves - low) / np.where(span > 0, span, 1.0)
    out[finite] = weighted.max(axis=1) + rho * weighted.sum(axis=1)
    return out

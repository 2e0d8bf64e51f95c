"""The contract of searches with several objectives: like that for one objective, but with several values for each point."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count
from spotsvm.solvers.search.contract.base import LatinHypercubeSearch, RandomSearch, Search
from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]


class MultiObjectiveSearch(Search):
    """Base class of the searches of several objectives, all minimised.

    Parameters
    ----------
    domain : Domain
        The unit cube to search.
    seed : int, default=0
        Seed of every random choice.
    n_objectives : int, default=2
        Number m of objectives, at least 2.
    **arguments
        Arguments of the next class in the method resolution order, if a single-objective search is extended.

    Raises
    ------
    SolverError
        If `n_objectives` is invalid.

    Examples
    --------
    >>> from spotsvm.searches import Suggestion
    >>> class Centre(MultiObjectiveSearch):
    ...     def suggest(self, rng):
    ...         return Suggestion(np.full(self.domain.dimension, 0.5), "centre")
    >>> search = Centre(Domain.continuous(1))
    >>> search.tell(search.ask().point, [1.0, 2.0])
    >>> search.tell([0.2], np.nan)
    >>> search.values
    array([[ 1.,  2.],
           [nan, nan]])
    """

    def __init__(self, domain: Domain, seed: int = 0, *, n_objectives: int = 2, **arguments: Any):
        if not is_count(n_objectives, 2):
            raise SolverError(f"n_objectives={n_objectives!r} is not a number of objectives; use 2 or more")
        self.n_objectives = int(n_objectives)
        super().__init__(domain, seed, **arguments)
        self._vectors: list[Floats] = []

    def tell(self, point: ArrayLike, value: ArrayLike) -> None:
        """Report the values at a point, whether it was asked for or not.

        Parameters
        ----------
        point : array-like of shape (d,)
            A point of the unit cube.
        value : array-like of shape (m,), or nan
            The responses, smaller being better; a single nan, or a nan among them, if the evaluation failed.

        Raises
        ------
        SolverError
            If the point is not in the unit cube, or there are not m values.
        """
        vector = np.array(value, dtype=float)
        if vector.ndim == 0 and not np.isfinite(vector):
            vector = np.full(self.n_objectives, np.nan)
        if vector.shape != (self.n_objectives,):
            raise SolverError(f"value={value!r} is not {self.n_objectives} numbers, one an objective; use nan for a failure")
        if not np.isfinite(vector).all():
            vector = np.full(self.n_objectives, np.nan)
        canonical = self._take(point)
        self._vectors.append(vector)
        self._told(canonical, vector)

    def _told(self, point: Floats, vector: Floats) -> None:
        """Process the last report; `vector` is all nan if the evaluation failed."""

    @property
    def values(self) -> Floats:
        """The reported values, rows of nan where the evaluation failed; shape (n, m)."""
        return np.array(self._vectors, dtype=float).reshape(-1, self.n_objectives)


class MultiObjectiveRandomSearch(MultiObjectiveSearch, RandomSearch):
    """Random search with several objectives: the baseline of the multi-objective searches."""


class MultiObjectiveLatinHypercubeSearch(MultiObjectiveSearch, LatinHypercubeSearch):
    """Latin hypercube search with several objectives."""

"""NSGA-II as a search: pymoo's, asked and told point by point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.search.contract.base import Capabilities, Suggestion
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch
from spotsvm.surrogates.domain import Domain, initial_design

Floats = NDArray[np.float64]
_OWN_STREAM = 1 << 40
_UNKNOWN = 1e6  # lacks a point that gives no number to be bounded


class Nsga2Search(MultiObjectiveSearch):
    """NSGA-II (Deb et al. 2002; pymoo): non-dominated sorting, crowding, simulated binary crossover, polynomial mutation.

    Parameters
    ----------
    domain : Domain
        The unit cube to search. Ordered values are rounded, categories are exchanged and drawn anew, as pymoo does it for
        variables of mixed kinds; what is asked for is canonical, and nothing is asked for twice.
    seed : int, default=0
        Seed of every random choice.
    n_objectives : int, default=2
        Number m of objectives, at least 2.
    population : int, default=20
        Points of a generation, at least 4. The default suits 100 to 200 evaluations.

    Raises
    ------
    SolverError
        If an argument is invalid.

    See Also
    --------
    ParegoSearch : For few evaluations.

    Notes
    -----
    The first generation is a Latin hypercube. What was told before it, or is being evaluated since before it, takes the place
    of as many of its points; what is told later without having been asked for joins the next selection. A point that
    failed ranks behind all others, and has no values. Where bounds of further numbers are given (`take_margins`), one that does
    not hold them ranks behind all that do, by the sum of what it lacks (Deb's constrained domination).

    A generation ends when all of its points have been asked for and a further one is wanted. All that has been told by then
    competes; what is told later does so in the next selection. Whoever tells a whole generation before asking for the next
    one has pymoo's algorithm, point for point. Where no child at a new point is found, a random point is asked for.

    References
    ----------
    Deb, Pratap, Agarwal, Meyarivan 2002, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Transactions on
    Evolutionary Computation 6(2).

    Examples
    --------
    >>> search = Nsga2Search(Domain.continuous(2), seed=0)
    >>> for _ in range(100):
    ...     point = search.ask().point
    ...     search.tell(point, [((point - 0.2) ** 2).sum(), ((point - 0.8) ** 2).sum()])
    >>> bool((abs(search.points[-20:, 0] - search.points[-20:, 1]) < 0.3).mean() > 0.7)  # the front is part of the diagonal
    True
    """

    capabilities = Capabilities(initial_name="first generation", models_bounds=True)

    def __init__(self, domain: Domain, seed: int = 0, *, n_objectives: int = 2, population: int = 20):
        super().__init__(domain, seed, n_objectives=n_objectives)
        if not isinstance(population, int | np.integer) or isinstance(population, bool) or population < 4:
            raise SolverError(f"population={population!r} is not a size of generations; use a whole number, 4 or more")
        from spotsvm.solvers.search.multi_objective.genetic_algorithm import GeneticAlgorithm  # on use: it imports pymoo

        self.population = int(population)
        self.capabilities = replace(self.capabilities, n_initial=self.population)
        self._algorithm = GeneticAlgorithm(domain, self.n_objectives, self.population, self.seed, self.is_new)
        self._begun = False  # whether the first generation is settled
        self._unasked: list[Any] = []  # what was bred of this generation, and has not been asked for
        self._left = 0  # points still to ask for in this generation
        self._evaluating: dict[bytes, tuple[float, Any]] = {}
        #: since the last selection: the number of asking, the individual, its values, and what it lacks of the bounds
        self._evaluated: list[tuple[float, Any, Floats, float]] = []

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Take the next individual of the generation, or a random point where none is left.

        Returns
        -------
        Suggestion
            The point, with its origin.
        """
        self._be_ready()
        if not self._unasked:
            return Suggestion(self.new_point(rng), "random")
        point = self._algorithm.individuals.point(self._unasked[0])
        return Suggestion(point, "generation" if self._algorithm.has_parents else "design")

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Take `point` as asked for; `ask` does no more itself, so that a replay leaves the search as it was left."""
        self._be_ready()
        canonical = self.domain.snap_one(point)
        individual = None
        if self._unasked and np.array_equal(self._algorithm.individuals.point(self._unasked[0]), canonical):
            self._begun = True
            individual = self._unasked.pop(0)
            self._left -= 1
        elif self._begun and not self._unasked:
            self._left = max(self._left - 1, 0)
        self._evaluating[canonical.tobytes()] = self.n_asked, individual or self._algorithm.individuals.of(canonical)
        super().assume(canonical, given=given)

    def _be_ready(self) -> None:
        """Have the next individual first among the unasked ones; none is left where only a random point will do."""
        if not self._begun:
            self._lay_out()
        elif not self._left:
            self._breed()
        while self._unasked and not self.is_new(self._algorithm.individuals.point(self._unasked[0])):
            del self._unasked[0]

    def _lay_out(self) -> None:
        """Lay out the first generation, which is settled when its first point is asked for: others may come before it."""
        self._left = self._n_lacking
        if self._left == 0:
            self._begun = True
            self._breed()
            return
        points = initial_design(self.domain, self._left, np.random.default_rng([self.seed, _OWN_STREAM]), centre=False)
        _, first = np.unique(points, axis=0, return_index=True)
        self._unasked = [self._algorithm.individuals.of(points[k]) for k in np.sort(first)]

    @property
    def _n_lacking(self) -> int:
        """What the first generation lacks, as long as it is not settled."""
        known = int(np.isfinite(self.values[:, 0]).sum()) + len(self._evaluating)
        return max(self.population - known, 0)

    def _breed(self) -> None:
        """Select among what was told since the last time, and make the next generation from what survives."""
        if not self._algorithm.has_parents and self._evaluating and 2 * len(self._evaluated) < self.population:
            return  # too few to begin with
        if self._evaluated:
            self._evaluated.sort(key=lambda entry: entry[0])  # in the order of asking, whoever was the quickest
            self._algorithm.select([entry[1:] for entry in self._evaluated])
            self._evaluated = []
        self._unasked = self._algorithm.children()
        self._left = self.population

    def _told(self, point: Floats, vector: Floats) -> None:
        number, individual = self._evaluating.pop(point.tobytes(), (np.inf, None))
        self._evaluated.append((number, individual or self._algorithm.individuals.of(point), vector, 0.0))

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take by how much each bound was held at the point told last; see `Search.take_margins`."""
        lacking = sum(max(-margin, 0.0) if margin == margin else _UNKNOWN for margin in margins)
        self._evaluated[-1] = (*self._evaluated[-1][:3], lacking)

    @property
    def n_foreseen(self) -> int:
        """Number of points left of the generation; the size of the next one, if this one has been told."""
        if not self._begun:
            return self._n_lacking or self.population
        if self._left:
            return self._left
        return 1 if self._evaluating else self.population

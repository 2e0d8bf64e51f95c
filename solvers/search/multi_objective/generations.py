"""NSGA-II without models: pymoo's algorithm as a search with ask and tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spotsvm.solvers.search.contract.base import Capabilities, Suggestion
from spotsvm.solvers.search.multi_objective.multi_objective_search import MultiObjectiveSearch
from spotsvm.surrogates.domain import Domain, initial_design

Floats = NDArray[np.float64]
_OWN_STREAM = 1 << 40
_UNKNOWN = 1e6  # violation of a point whose bounded number is unknown


class Generations(MultiObjectiveSearch):
    """NSGA-II by evaluations alone, which `Nsga2Search` makes for `models=False`.

    A generation ends when all of its points have been asked for and another is requested; later reports compete in the next.
    """

    capabilities = Capabilities(initial_name="first generation", models_bounds=True)

    def __init__(self, domain: Domain, seed: int = 0, *, n_objectives: int = 2, population: int = 20):
        super().__init__(domain, seed, n_objectives=n_objectives)
        from spotsvm.solvers.search.multi_objective.genetic_algorithm import GeneticAlgorithm  # on use: it imports pymoo

        self.population = population
        self.capabilities = replace(self.capabilities, n_initial=self.population)
        self._algorithm = GeneticAlgorithm(domain, self.n_objectives, self.population, self.seed, self.is_new)
        self._begun = False  # whether the first generation is settled
        self._unasked: list[Any] = []  # children of this generation not asked for yet
        self._left = 0  # points still to ask for in this generation
        self._evaluating: dict[bytes, tuple[float, Any]] = {}
        #: since the last selection: the index of its `ask`, the individual, its values, and its violation of the bounds
        self._evaluated: list[tuple[float, Any, Floats, float]] = []

    def suggest(self, rng: np.random.Generator) -> Suggestion:
        """Return the next individual of the generation, or a random point if no individual is left."""
        self._be_ready()
        if not self._unasked:
            return Suggestion(self.new_point(rng), "random")
        point = self._algorithm.individuals.point(self._unasked[0])
        return Suggestion(point, "generation" if self._algorithm.has_parents else "design")

    def assume(self, point: ArrayLike, *, given: bool = False) -> None:
        """Mark `point` as asked for; `ask` changes the state only through this method, so a replay restores the search."""
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
        """Move the next individual to the front of the unasked; no individual is left if a random point is needed."""
        if not self._begun:
            self._lay_out()
        elif not self._left:
            self._breed()
        while self._unasked and not self.is_new(self._algorithm.individuals.point(self._unasked[0])):
            del self._unasked[0]

    def _lay_out(self) -> None:
        """Make the first generation; it is final when its first point is asked for, as other points may come before."""
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
        """Number of points missing in the first generation until it is final."""
        succeeded = int(np.isfinite(self.values[:, 0]).sum())
        return max(self.population - succeeded - len(self._evaluating), 0)

    def _breed(self) -> None:
        """Select among the points reported since the last selection, and breed the next generation from the survivors."""
        if not self._algorithm.has_parents and self._evaluating and 2 * len(self._evaluated) < self.population:
            return  # too few for a first selection
        if self._evaluated:
            self._evaluated.sort(key=lambda entry: entry[0])  # in the order of `ask`, whatever the order of the reports
            self._algorithm.select([entry[1:] for entry in self._evaluated])
            self._evaluated = []
        self._unasked = self._algorithm.children()
        self._left = self.population

    def _told(self, point: Floats, vector: Floats) -> None:
        number, individual = self._evaluating.pop(point.tobytes(), (np.inf, None))
        self._evaluated.append((number, individual or self._algorithm.individuals.of(point), vector, 0.0))

    def take_margins(self, margins: Sequence[float]) -> None:
        """Take the margin of each bound at the point reported last; see `Search.take_margins`."""
        lacking = sum(max(-margin, 0.0) if margin == margin else _UNKNOWN for margin in margins)
        self._evaluated[-1] = (*self._evaluated[-1][:3], lacking)

    @property
    def n_foreseen(self) -> int:
        """Number of points left in the generation; the size of the next generation if all points have been reported."""
        if not self._begun:
            return self._n_lacking or self.population
        if self._left:
            return self._left
        return 1 if self._evaluating else self.population

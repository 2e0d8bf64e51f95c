"""pymoo's NSGA-II on the unit cube, a generation at a time. Imported at its first use: pymoo takes half a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
from pymoo.core.duplicate import DuplicateElimination
from pymoo.core.individual import Individual
from pymoo.core.mixed import MixedVariableMating
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.termination import NoTermination
from pymoo.core.variable import Choice, Integer, Real
from pymoo.operators.selection.tournament import TournamentSelection

from spotsvm.surrogates.domain import Domain

Floats = NDArray[np.float64]

_FAILED = 1e12


class Individuals:
    """Conversion between points of the unit cube and pymoo's individuals.

    A continuous coordinate is a Real in [0, 1], an ordered coordinate an Integer, and a categorical coordinate a Choice, so that
    each gets pymoo's operators for its kind. An inactive coordinate keeps its value, like a gene that is not expressed.
    """

    def __init__(self, domain: Domain):
        self.domain = domain
        self.variables: dict[int, Any] = {}
        for j, c in enumerate(domain.coordinates):
            if c.levels == 0:
                self.variables[j] = Real(bounds=(0.0, 1.0))
            else:
                self.variables[j] = Choice(options=range(c.levels)) if c.categorical else Integer(bounds=(0, c.levels - 1))

    def of(self, point: Floats) -> Any:
        """Return a new individual at a point."""
        cells = self.domain.level_of(point)[0]
        return Individual(X={j: int(cells[j]) if c.levels else float(point[j]) for j, c in enumerate(self.domain.coordinates)})

    def point(self, individual: Any) -> Floats:
        """Return the canonical point of an individual."""
        genes = [
            (individual.X[j] + 0.5) / c.levels if c.levels else individual.X[j] for j, c in enumerate(self.domain.coordinates)
        ]
        return self.domain.snap_one(genes)


class OnlyNew(DuplicateElimination):
    """Removes individuals whose point is not new, or is the point of another individual of the same generation."""

    def __init__(self, individuals: Individuals, is_new: Callable[[Floats], bool]):
        super().__init__()
        self._individuals, self._is_new = individuals, is_new

    def do(self, pop: Any, *others: Any, **options: Any) -> Any:
        """Return the remaining individuals; evaluated ones are not new, so only new ones are compared with each other."""
        taken = {self._individuals.point(individual).tobytes() for other in others for individual in other}
        kept = []
        for k, individual in enumerate(pop):
            point = self._individuals.point(individual)
            if self._is_new(point) and point.tobytes() not in taken:
                taken.add(point.tobytes())
                kept.append(k)
        return pop[kept]


class GeneticAlgorithm:
    """pymoo's NSGA-II (Deb et al. 2002; Blank, Deb 2020): binary tournaments, operators by kind of variable, rank, crowding."""

    def __init__(
        self, domain: Domain, n_objectives: int, population: int, seed: int, is_new: Callable[[Floats], bool], tries: int = 100
    ):
        self.individuals = Individuals(domain)
        only_new = OnlyNew(self.individuals, is_new)
        mating = MixedVariableMating(
            selection=TournamentSelection(func_comp=binary_tournament), eliminate_duplicates=only_new, n_max_iterations=tries
        )
        self._algorithm = NSGA2(pop_size=population, mating=mating, eliminate_duplicates=only_new, output=None)
        # a failure counts as a violated constraint: it ranks behind all points with values, and needs no values
        problem = Problem(vars=self.individuals.variables, n_obj=n_objectives, n_ieq_constr=1)
        self._algorithm.setup(problem, termination=NoTermination(), seed=seed)
        self._algorithm.start_time = 0.0  # needed for the result, which pymoo makes when it finds no new child

    @property
    def has_parents(self) -> bool:
        """Whether individuals have been selected."""
        return bool(self._algorithm.is_initialized)

    @property
    def survivors(self) -> Floats:
        """The points of the selected individuals; shape (k, d)."""
        return np.array([self.individuals.point(individual) for individual in self._algorithm.pop])

    def select(self, evaluated: Sequence[tuple[Any, Floats, float]]) -> None:
        """Select the survivors among evaluated individuals and earlier survivors; at the first call all survive.

        `evaluated` has individuals, values (nan where the evaluation failed), and total violation of the bounds.
        """
        for individual, values, lacking in evaluated:
            failed = not np.isfinite(values).all()
            individual.F = np.zeros_like(values) if failed else values
            individual.G = np.array([_FAILED if failed else lacking])
        with np.errstate(over="ignore", invalid="ignore"):  # crowding distances of huge or equal values
            self._algorithm.tell(infills=Population.create(*[individual for individual, *_ in evaluated]))

    def children(self) -> list[Any]:
        """Return the next generation, only at new points; fewer or no individuals if few new points are left."""
        with np.errstate(over="ignore", invalid="ignore"):
            children = self._algorithm.ask()
        return [] if children is None else list(children)

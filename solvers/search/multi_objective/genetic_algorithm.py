"""pymoo's NSGA-II on the unit cube, a generation at a time. It is imported when first used: pymoo takes half a second."""

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
    """Points of the unit cube as pymoo's individuals, and back.

    A continuous coordinate is a Real in [0, 1], an ordered one an Integer, a categorical one a Choice, so that each gets
    the operators that pymoo has for its kind. An inactive coordinate keeps its value, as a gene that is not expressed.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
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
    """Leaves out individuals whose point is not new, or is another's of the same generation.

    Parameters
    ----------
    individuals : Individuals
        The way from an individual to its point.
    is_new : callable
        Tells of a canonical point whether it has neither been asked for nor told.
    """

    def __init__(self, individuals: Individuals, is_new: Callable[[Floats], bool]):
        super().__init__()
        self._individuals, self._is_new = individuals, is_new

    def do(self, pop: Any, *others: Any, **options: Any) -> Any:
        """Return the individuals that are left; whoever has been evaluated is not new, so only the unborn are compared."""
        taken = {self._individuals.point(one).tobytes() for other in others for one in other}
        kept = []
        for k, individual in enumerate(pop):
            point = self._individuals.point(individual)
            if self._is_new(point) and point.tobytes() not in taken:
                taken.add(point.tobytes())
                kept.append(k)
        return pop[kept]


class GeneticAlgorithm:
    """NSGA-II as pymoo has it: binary tournaments, its operators for each kind of variable, rank and crowding.

    Parameters
    ----------
    domain : Domain
        What the coordinates mean.
    n_objectives : int
        Number m of objectives, at least 2.
    population : int
        Individuals that survive a generation, and children of one.
    seed : int
        Seed of pymoo's random state.
    is_new : callable
        Tells of a canonical point whether it may be a child.

    References
    ----------
    Deb, Pratap, Agarwal, Meyarivan 2002, "A fast and elitist multiobjective genetic algorithm: NSGA-II", IEEE Transactions on
    Evolutionary Computation 6(2). Blank, Deb 2020, "pymoo: Multi-Objective Optimization in Python", IEEE Access 8.
    """

    def __init__(self, domain: Domain, n_objectives: int, population: int, seed: int, is_new: Callable[[Floats], bool]):
        self.individuals = Individuals(domain)
        only_new = OnlyNew(self.individuals, is_new)
        mating = MixedVariableMating(
            selection=TournamentSelection(func_comp=binary_tournament), eliminate_duplicates=only_new, n_max_iterations=100
        )
        self._algorithm = NSGA2(pop_size=population, mating=mating, eliminate_duplicates=only_new, output=None)
        # a failure is a violated constraint: it ranks behind all that has values, and needs none itself
        problem = Problem(vars=self.individuals.variables, n_obj=n_objectives, n_ieq_constr=1)
        self._algorithm.setup(problem, termination=NoTermination(), seed=seed)
        self._algorithm.start_time = 0.0  # wanted for a result, which pymoo makes once it finds no new child

    @property
    def has_parents(self) -> bool:
        """Whether there has been a selection."""
        return bool(self._algorithm.is_initialized)

    def select(self, evaluated: Sequence[tuple[Any, Floats, float]]) -> None:
        """Select the survivors among evaluated individuals and those so far; of the first ones all survive.

        Parameters
        ----------
        evaluated : sequence of (Individual, ndarray of shape (m,), float)
            Individuals, their values, nan where the evaluation failed, and what they lack to hold all bounds.
        """
        for individual, values, lacking in evaluated:
            failed = not np.isfinite(values).all()
            individual.F = np.zeros_like(values) if failed else values
            individual.G = np.array([_FAILED if failed else lacking])
        with np.errstate(over="ignore", invalid="ignore"):  # crowding distances of huge values, or of equal ones
            self._algorithm.tell(infills=Population.create(*[individual for individual, *_ in evaluated]))

    def children(self) -> list[Any]:
        """Return the next generation, none of it at a point that is not new; fewer, or none, where few are left."""
        with np.errstate(over="ignore", invalid="ignore"):
            children = self._algorithm.ask()
        return [] if children is None else list(children)

"""Steady-state genetic programming: tournaments in which children of the better half replace the worse half."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import is_count

Genome = TypeVar("Genome")
#: to be minimised: later numbers break ties of the earlier; inf is the worst
Fitness = tuple[float, ...]

_NEW_TRIES = 20  # variations tried for a child outside the population, before an individual is grown
_IDLE_TOURNAMENTS = 200  # subsequent tournaments without a new individual after which the evolution ends


class Breeder(Protocol[Genome]):
    """Makes individuals."""

    def grow(self, rng: np.random.Generator) -> Genome:
        """Make a random individual."""
        ...

    def vary(self, parent: Genome, mate: Genome, rng: np.random.Generator) -> tuple[Genome, str]:
        """Make a child of the parent, or of parent and mate; return the child and the name of the operator."""
        ...

    def key(self, genome: Genome) -> Hashable:
        """Return a key that is the same for equal individuals."""
        ...


@dataclass(frozen=True)
class Individual(Generic[Genome]):
    """An evaluated individual; smaller fitness is better.

    `origin` is "start", "growth" or the operator that made it; `number` counts evaluations from 0.
    """

    genome: Genome
    fitness: Fitness
    origin: str
    number: int


@dataclass
class Evolution(Generic[Genome]):
    """The result of an evolution; `exhausted` says that it found no new individuals before the end of its budget."""

    evaluated: list[Individual[Genome]] = field(default_factory=list)
    population: list[Individual[Genome]] = field(default_factory=list)
    exhausted: bool = False

    @property
    def best(self) -> Individual[Genome]:
        """The best individual, the first if several are equal."""
        return min(self.evaluated, key=lambda individual: individual.fitness)

    def ranked(self, count: int) -> list[Individual[Genome]]:
        """Return the best individuals, best first."""
        return sorted(self.evaluated, key=lambda individual: individual.fitness)[:count]


def evolve(
    breeder: Breeder[Genome],
    fitness: Callable[[Genome], Fitness],
    rng: np.random.Generator,
    *,
    n_trials: int = 2500,
    population_size: int = 20,
    tournament_size: int = 8,
    start: Sequence[Genome] = (),
) -> Evolution[Genome]:
    """Minimise a fitness by steady-state genetic programming: Koch et al. 2011, Fig. 1 and Table 3.

    Children of a random tournament's better half replace its worse half. No two individuals of the population are equal, and none
    is evaluated twice. Fitness inf: not viable.
    """
    check_sizes(n_trials, population_size, tournament_size)
    return _Run(breeder, fitness, rng, n_trials).go(population_size, tournament_size, start)


def check_sizes(n_trials: Any, population_size: Any, tournament_size: Any) -> None:
    """Raise SolverError unless the sizes are valid."""
    least = {
        "n_trials": (n_trials, 1),
        "population_size": (population_size, 2),
        "tournament_size": (tournament_size, 2),
    }
    for name, (value, smallest) in least.items():
        if not is_count(value, smallest):
            raise SolverError(f"{name}={value!r}; use a whole number, {smallest} or more")
    if tournament_size > population_size:
        raise SolverError(
            f"tournament_size={tournament_size} is more than population_size={population_size}; a tournament is a part of it"
        )


class _Run(Generic[Genome]):
    def __init__(self, breeder: Breeder[Genome], fitness: Callable[[Genome], Fitness], rng: np.random.Generator, n_trials: int):
        self.breeder, self.fitness, self.rng, self.budget = breeder, fitness, rng, int(n_trials)
        self.evolution: Evolution[Genome] = Evolution()
        self.individuals: dict[Hashable, Individual[Genome]] = {}

    def go(self, population_size: int, tournament_size: int, start: Sequence[Genome]) -> Evolution[Genome]:
        self._begin(population_size, start)
        idle = 0
        while len(self.evolution.evaluated) < self.budget:
            before = len(self.evolution.evaluated)
            self._tournament(min(tournament_size, len(self.evolution.population)))
            idle = idle + 1 if len(self.evolution.evaluated) == before else 0
            if idle >= _IDLE_TOURNAMENTS:
                self.evolution.exhausted = True
                break
        return self.evolution

    def _begin(self, size: int, start: Sequence[Genome]) -> None:
        members: dict[Hashable, None] = {}
        for genome in start:
            if len(members) < size:
                self._join(genome, "start", members)
        for _ in range(_NEW_TRIES * size):
            if len(members) == size or len(self.evolution.evaluated) == self.budget:
                break
            self._join(self.breeder.grow(self.rng), "growth", members)

    def _join(self, genome: Genome, origin: str, members: dict[Hashable, None]) -> None:
        key = self.breeder.key(genome)
        if key in members or len(self.evolution.evaluated) == self.budget:
            return
        members[key] = None
        self.evolution.population.append(self._evaluated(genome, key, origin))

    def _tournament(self, size: int) -> None:
        population = self.evolution.population
        drawn = self.rng.choice(len(population), size, replace=False).tolist()
        drawn.sort(key=lambda k: population[k].fitness)
        winners, losers = drawn[: (size + 1) // 2], drawn[(size + 1) // 2 :]
        children = []
        for k in range(len(losers)):
            parent, mate = winners[k % len(winners)], winners[int(self.rng.integers(len(winners)))]
            children.append(self._child(population[parent].genome, population[mate].genome))
        for place, (genome, key, origin) in zip(losers, children, strict=True):
            if len(self.evolution.evaluated) == self.budget:
                return
            if all(key != self.breeder.key(other.genome) for other in population):
                population[place] = self._evaluated(genome, key, origin)

    def _child(self, parent: Genome, mate: Genome) -> tuple[Genome, Hashable, str]:
        present = {self.breeder.key(other.genome) for other in self.evolution.population}
        for _ in range(_NEW_TRIES):
            genome, origin = self.breeder.vary(parent, mate, self.rng)
            key = self.breeder.key(genome)
            if key not in present:
                return genome, key, origin
        genome = self.breeder.grow(self.rng)
        return genome, self.breeder.key(genome), "growth"

    def _evaluated(self, genome: Genome, key: Hashable, origin: str) -> Individual[Genome]:
        if key not in self.individuals:
            individual = Individual(genome, self.fitness(genome), origin, len(self.evolution.evaluated))
            self.individuals[key] = individual
            self.evolution.evaluated.append(individual)
        return self.individuals[key]

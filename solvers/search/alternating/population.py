"""Populations and the high-low fit selection: parents from the better and the worse half, survivors from all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.alternating.genetics import Genetics

T = TypeVar("T")
Floats = NDArray[np.float64]


@dataclass
class Population(Generic[T]):
    """Individuals and their fitness, the fittest first.

    Parameters
    ----------
    individuals : list
        The individuals, one or more.
    fitness : ndarray of shape (n, k)
        To be maximised; later columns break ties of the earlier columns. Equal individuals keep their order.

    Examples
    --------
    >>> population = Population(["a", "b", "c"], np.array([[0.5], [0.9], [0.5]]))
    >>> population.individuals, population.mean
    (['b', 'a', 'c'], 0.6333333333333333)
    """

    individuals: list[T]
    fitness: Floats

    def __post_init__(self) -> None:
        order = np.lexsort(-self.fitness.T[::-1])
        self.individuals = [self.individuals[k] for k in order]
        self.fitness = self.fitness[order]

    def __len__(self) -> int:
        return len(self.individuals)

    @property
    def best(self) -> T:
        """The fittest individual."""
        return self.individuals[0]

    @property
    def best_fitness(self) -> float:
        """Fitness of the fittest individual, in the first column."""
        return float(self.fitness[0, 0])

    @property
    def mean(self) -> float:
        """The average fitness, in the first column."""
        return float(self.fitness[:, 0].mean())

    def joined(self, children: list[T], fitness: Floats) -> Population[T]:
        """Return the fittest of these individuals and their children, with the population size unchanged; parents win ties."""
        both = Population([*self.individuals, *children], np.vstack([self.fitness, fitness]))
        n = len(self)
        return Population(both.individuals[:n], both.fitness[:n])


def high_low_children(population: Population[T], genetics: Genetics[T], rng: np.random.Generator) -> list[T]:
    """Make as many children as there are individuals, each from a parent in the better half and a parent in the worse half.

    Parameters
    ----------
    population : Population
        The parents; the middle individual of an odd number belongs to the better half, and a single individual to both halves.
    genetics : Genetics
        The operators: each child is a crossover, and is then mutated, with the operators' own probabilities.
    rng : numpy.random.Generator
        Generator of the random numbers.

    Returns
    -------
    list
        The children.

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, "An alternating genetic algorithm for selecting SVM model and training set", section 3.2.

    Examples
    --------
    >>> from spotsvm.solvers.search.alternating.model_genetics import ModelGenetics
    >>> parents = Population([(1.0,), (2.0,)], np.array([[0.0], [1.0]]))
    >>> len(
    ...     high_low_children(
    ...         parents, ModelGenetics([(1.0, 2.0)]), np.random.default_rng(0)
    ...     )
    ... )
    2
    """
    n = len(population)
    high, low = (n + 1) // 2, min(n // 2, n - 1)
    children = []
    for _ in range(n):
        better = population.individuals[rng.integers(high)]
        worse = population.individuals[rng.integers(n - low, n) if low else 0]
        children.append(genetics.mutate(genetics.cross(better, worse, rng), rng))
    return children

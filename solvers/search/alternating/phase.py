"""A phase: a population evolves until its average fitness has not grown in two subsequent generations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.alternating.genetics import Genetics
from spotsvm.solvers.search.alternating.population import Population, high_low_children

T = TypeVar("T")
Floats = NDArray[np.float64]
#: the fitness of some individuals, (n, k)
Evaluate = Callable[[list[T]], Floats]
#: returns individuals that replace those of a population, or None to keep them
Renew = Callable[[Population[T], np.random.Generator], list[T] | None]

Note = Callable[[Population[T]], None]
Progress = Callable[[Population[T]], float]

#: generations without growth of the average after which a phase ends
PATIENCE = 2


def average(population: Population[Any]) -> float:
    """Return the average fitness of a population."""
    return population.mean


class Phase(Generic[T]):
    """The evolution of a population against a fixed partner; it can be rerun with another partner.

    Parameters
    ----------
    genetics : Genetics
        The operators.
    size : int
        Number of individuals of the first population, unless the operators ignore it.
    renew : callable, optional
        Called at the beginning of each run except the first, after the population has stagnated; returns new individuals, such as
        larger ones, or None to keep the current individuals.
    progress : callable, optional
        Returns the measure that must not stagnate; by default the population's average fitness.
    most : int, optional
        Maximum number of generations of a run; None for no limit, as in the paper. After a run that ends at this limit, nothing
        is renewed.

    Attributes
    ----------
    population : Population
        The evaluated individuals.
    highest_mean : float
        The highest average fitness at the end of a run; before the first run, that of the first population.
    cut_short : bool
        Whether `may_go_on` ended the last run, not the local stop.

    Examples
    --------
    >>> from spotsvm.solvers.search.alternating.model_genetics import ModelGenetics
    >>> phase = Phase(ModelGenetics([np.geomspace(0.1, 10, 20)]), 20)
    >>> near_2 = lambda models: np.array(
    ...     [[-abs(np.log(x / 2))] for (x,) in models]
    ... )
    >>> phase.run(near_2, np.random.default_rng(0))
    True
    >>> round(phase.population.best[0])
    2
    """

    def __init__(
        self,
        genetics: Genetics[T],
        size: int,
        renew: Renew[T] | None = None,
        progress: Progress[T] = average,
        most: int | None = None,
    ):
        self.genetics, self.size, self.renew, self.progress, self.most = genetics, size, renew, progress, most
        self.population: Population[T] | None = None
        self.highest_mean = -np.inf
        self.cut_short = False
        self._stagnated = False

    def begin(self, individuals: list[T], evaluate: Evaluate[T], note: Note[T] = lambda population: None) -> None:
        """Evaluate the first individuals; the first run has to improve on their average fitness."""
        self.population = Population(individuals, evaluate(individuals))
        self.highest_mean = self.population.mean
        note(self.population)

    def run(
        self,
        evaluate: Evaluate[T],
        rng: np.random.Generator,
        note: Note[T] = lambda population: None,
        may_go_on: Callable[[], bool] = lambda: True,
    ) -> bool:
        """Evolve until the local stop; return whether the average fitness exceeds those at the end of all earlier runs.

        Parameters
        ----------
        evaluate : callable
            Returns the fitness of a list of individuals, (n, k). The current individuals are evaluated again first.
        rng : numpy.random.Generator
            Generator of the random numbers.
        note : callable, optional
            Called with the population at the start and after each generation.
        may_go_on : callable, optional
            Called before each generation; False ends the run.

        Returns
        -------
        bool
            Whether the average fitness improved.
        """
        if self.population is None:
            self.begin(self.genetics.initial(self.size, rng), evaluate, note)
            assert self.population is not None
        else:
            individuals = self._renewed(rng)
            self.population = Population(individuals, evaluate(individuals))
            note(self.population)
        population, unchanged, generations = self.population, 0, 0
        while unchanged < PATIENCE and generations != self.most and may_go_on():
            before = self.progress(population)
            children = high_low_children(population, self.genetics, rng)
            population = self.population = population.joined(children, evaluate(children))
            note(population)
            unchanged = 0 if self.progress(population) > before else unchanged + 1
            generations += 1
        self._stagnated = unchanged == PATIENCE
        self.cut_short = not self._stagnated and generations != self.most
        improved = population.mean > self.highest_mean
        self.highest_mean = max(self.highest_mean, population.mean)
        return improved

    def _renewed(self, rng: np.random.Generator) -> list[T]:
        assert self.population is not None
        fresh = self.renew(self.population, rng) if self.renew is not None and self._stagnated else None
        return self.population.individuals if fresh is None else fresh

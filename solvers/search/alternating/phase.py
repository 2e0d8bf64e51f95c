"""One phase: a population evolves until its average fitness has not grown in two subsequent generations."""

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
#: what gives individuals to go on with in the place of those of a population, None where they are to stay as they are
Renew = Callable[[Population[T], np.random.Generator], list[T] | None]

Note = Callable[[Population[T]], None]
Progress = Callable[[Population[T]], float]

#: generations without growth of the average after which a phase ends
PATIENCE = 2


def average(population: Population[Any]) -> float:
    """Return the average fitness of a population."""
    return population.mean


class Phase(Generic[T]):
    """The evolution of one population while all else is fixed; it can be run again when that has changed.

    Parameters
    ----------
    genetics : Genetics
        The operators.
    size : int
        Individuals of the first population, as far as the operators take heed of it.
    renew : callable, optional
        Asked at the beginning of each run but the first, when the population has stagnated: gives individuals to go on with,
        such as larger ones, or None to go on with those that there are.
    progress : callable, optional
        What must not stagnate: the population's average fitness, unless it is something else.
    most : int, optional
        Generations of a run after which it ends even if nothing stagnates; None, the paper's, for no limit. After such an end
        nothing is renewed.

    Attributes
    ----------
    population : Population
        The individuals, once they are evaluated.
    highest_mean : float
        The highest average fitness that a run ended with; before the first run that of the first population.
    cut_short : bool
        Whether the last run was ended by `may_go_on`, not by the local stop.

    Examples
    --------
    >>> from spotsvm.solvers.search.alternating.model_genetics import ModelGenetics
    >>> phase = Phase(ModelGenetics([np.geomspace(0.1, 10, 20)]), 20)
    >>> near_2 = lambda models: np.array([[-abs(np.log(x / 2))] for (x,) in models])
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
        """Evaluate the first individuals; their average fitness is what the first run has to improve on."""
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
        """Evolve until the local stop; tell whether the average fitness has risen above all that earlier runs ended with.

        Parameters
        ----------
        evaluate : callable
            Gives the fitness of a list of individuals, (n, k). What was evaluated before is evaluated anew.
        rng : numpy.random.Generator
            Source of chance.
        note : callable, optional
            Called with the population at the start and after each generation.
        may_go_on : callable, optional
            Asked before each generation; False ends the run.

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

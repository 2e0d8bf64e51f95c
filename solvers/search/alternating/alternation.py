"""Two populations that evolve in turns towards a common fitness, each with the best individual of the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.search.alternating.phase import Phase
from spotsvm.solvers.search.alternating.population import Population

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PhaseRecord:
    """The record of a generation.

    Attributes
    ----------
    phase : int
        Index of the phase; 0 is the evaluation of the initial population of the first kind.
    kind : str
        Name of the population that evolves.
    generation : int
        Index of the generation within the phase; 0 is the initial population of the phase.
    best, mean : float
        Best and average fitness of that population.
    pair : tuple
        The best individual of the first kind and the best of the second.
    """

    phase: int
    kind: str
    generation: int
    best: float
    mean: float
    pair: tuple[Any, Any]


class Alternation(Generic[A, B]):
    """Alternate between two populations with a common fitness, that of a pair.

    The first population is evaluated with a random individual of the second. Then the second evolves with the best of the first,
    the first with the best of the second, and so on. A phase ends when its average fitness has not grown in two subsequent
    generations. The run ends when two subsequent phases have not improved the average fitness of their populations.

    Parameters
    ----------
    first, second : Phase
        The populations and their operators.
    fitness : callable
        Returns the fitness of a pair, shape (k,), to be maximised; later entries break ties of earlier entries.
    names : pair of str, default=("first", "second")
        Names of the kinds in the records.
    patience : callable, optional
        Called after each phase; returns the number of subsequent phases without improvement at which the run ends. The default is
        2.
    may_go_on : callable, optional
        Called before each generation; False ends the run.
    watch : callable, optional
        Called with the `PhaseRecord` of each generation.

    Attributes
    ----------
    stopped_by : str
        "no improvement" for the global stop, "budget" if `may_go_on` returned False.

    Notes
    -----
    A phase improves the average fitness if its last average exceeds those of all earlier phases of the same population; the first
    phase of the second population is compared with its start. The fitness of a population can also rise because its partner has
    improved. A run always ends if the fitness has finitely many values. Unless a phase renews its individuals, the fitness of the
    best pair never falls: the fixed partner is part of the other population.

    References
    ----------
    Kawulok, Nalepa, Dudzik 2017, "An alternating genetic algorithm for selecting SVM model and training set", section 3.

    Examples
    --------
    >>> from spotsvm.solvers.search.alternating.model_genetics import ModelGenetics
    >>> grid = (
    ...     ModelGenetics([np.geomspace(0.1, 10, 20)]),
    ...     ModelGenetics([np.geomspace(0.1, 10, 20)]),
    ... )
    >>> near = lambda a, b: np.array(
    ...     [-(np.log(a[0] * b[0]) ** 2) - np.log(a[0] / 3) ** 2]
    ... )
    >>> alternation = Alternation(Phase(grid[0], 20), Phase(grid[1], 20), near)
    >>> a, b = alternation.run(np.random.default_rng(0))
    >>> alternation.stopped_by, bool(near(a, b)[0] > -0.1)
    ('no improvement', True)
    """

    def __init__(
        self,
        first: Phase[A],
        second: Phase[B],
        fitness: Callable[[A, B], Floats],
        names: tuple[str, str] = ("first", "second"),
        patience: Callable[[], int] = lambda: 2,
        may_go_on: Callable[[], bool] = lambda: True,
        watch: Callable[[PhaseRecord], None] = lambda record: None,
    ):
        self.first, self.second, self.fitness, self.names = first, second, fitness, names
        self.patience, self.may_go_on, self.watch = patience, may_go_on, watch
        self.stopped_by = ""
        self._phase = 0

    def run(self, rng: np.random.Generator) -> tuple[A, B]:
        """Evolve until the global stop; return the best pair of the last populations."""
        first, second = self.first.genetics.initial(self.first.size, rng), self.second.genetics.initial(self.second.size, rng)
        b = second[int(rng.integers(len(second)))]
        a = self._begin(first, b)
        failures = 0
        while failures < self.patience() and self.may_go_on():
            self._phase += 1
            if self._phase % 2:
                improved, b = self._run_second(a, second, rng)
            else:
                improved, a = self._run_first(b, rng)
            failures = 0 if improved else failures + 1
        last = self.second if self._phase % 2 else self.first
        self.stopped_by = "budget" if last.cut_short or failures < self.patience() else "no improvement"
        return a, b

    def _begin(self, individuals: list[A], b: B) -> A:
        self.first.begin(individuals, lambda given: self._fitness(given, [b]), self._note(self.names[0], lambda a: (a, b)))
        return self._best(self.first)

    def _run_first(self, b: B, rng: np.random.Generator) -> tuple[bool, A]:
        note = self._note(self.names[0], lambda a: (a, b))
        improved = self.first.run(lambda given: self._fitness(given, [b]), rng, note, self.may_go_on)
        return improved, self._best(self.first)

    def _run_second(self, a: A, individuals: list[B], rng: np.random.Generator) -> tuple[bool, B]:
        note = self._note(self.names[1], lambda b: (a, b))

        def evaluate(given: list[B]) -> Floats:
            return self._fitness([a], given)

        if self.second.population is None:
            self.second.begin(individuals, evaluate)
        improved = self.second.run(evaluate, rng, note, self.may_go_on)
        return improved, self._best(self.second)

    def _fitness(self, first: list[A], second: list[B]) -> Floats:
        return np.array([self.fitness(a, b) for a in first for b in second])

    @staticmethod
    def _best(phase: Phase[T]) -> T:
        assert phase.population is not None
        return phase.population.best

    def _note(self, kind: str, pair: Callable[[Any], tuple[A, B]]) -> Callable[[Population[Any]], None]:
        phase, generation = self._phase, -1

        def note(population: Population[Any]) -> None:
            nonlocal generation
            generation += 1
            self.watch(PhaseRecord(phase, kind, generation, population.best_fitness, population.mean, pair(population.best)))

        return note

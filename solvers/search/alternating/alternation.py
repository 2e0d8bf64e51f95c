"""Two populations that evolve in turns towards a common fitness, each with the best individual of the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

T = TypeVar("T")


class Genetics(Protocol[T]):
    """The operators on individuals of one kind; none of them changes its arguments."""

    def initial(self, size: int, rng: np.random.Generator) -> list[T]:
        """Return the first population."""
        ...

    def cross(self, better: T, worse: T, rng: np.random.Generator) -> T:
        """Make a child of two parents."""
        ...

    def mutate(self, individual: T, rng: np.random.Generator) -> T:
        """Return a changed individual, or the same individual."""
        ...


@dataclass
class Population(Generic[T]):
    """Individuals and their fitness (n, k), to be maximised, the fittest first.

    Later columns break ties of the earlier ones; equal individuals keep their order.
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

    Kawulok, Nalepa, Dudzik 2017, "An alternating genetic algorithm for selecting SVM model and training set", section 3.2.
    """
    n = len(population)
    high, low = (n + 1) // 2, min(n // 2, n - 1)
    children = []
    for _ in range(n):
        better = population.individuals[rng.integers(high)]
        worse = population.individuals[rng.integers(n - low, n) if low else 0]
        children.append(genetics.mutate(genetics.cross(better, worse, rng), rng))
    return children


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

    `renew` may return new individuals at each run but the first. `progress`, by default the average fitness, must not stagnate.
    Nothing is renewed after a run that ends at `most` generations. `cut_short` says that `may_go_on` ended the last run.
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

        The individuals are evaluated again first. `note` gets the population at the start and after each generation; `may_go_on`
        ends the run.
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


A = TypeVar("A")
B = TypeVar("B")


@dataclass(frozen=True)
class PhaseRecord:
    """The record of a generation: its best and average fitness, and the best individual of each kind.

    Phase 0 is the evaluation of the first population; generation 0 is the initial population of its phase.
    """

    phase: int
    kind: str
    generation: int
    best: float
    mean: float
    pair: tuple[Any, Any]


class Alternation(Generic[A, B]):
    """Alternate between two populations with a common fitness, that of a pair: Kawulok, Nalepa, Dudzik 2017, section 3.

    A phase ends after two generations without growth of its average fitness, the run after two phases (`patience`) without
    improvement. Unless a phase renews its individuals, the best pair's fitness never falls.
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
        self.first.begin(
            individuals, lambda individuals: self._fitness(individuals, [b]), self._note(self.names[0], lambda a: (a, b))
        )
        return self._best(self.first)

    def _run_first(self, b: B, rng: np.random.Generator) -> tuple[bool, A]:
        note = self._note(self.names[0], lambda a: (a, b))
        improved = self.first.run(lambda individuals: self._fitness(individuals, [b]), rng, note, self.may_go_on)
        return improved, self._best(self.first)

    def _run_second(self, a: A, first: list[B], rng: np.random.Generator) -> tuple[bool, B]:
        note = self._note(self.names[1], lambda b: (a, b))

        def evaluate(individuals: list[B]) -> Floats:
            return self._fitness([a], individuals)

        if self.second.population is None:
            self.second.begin(first, evaluate)
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

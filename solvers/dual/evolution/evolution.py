"""EvoSVM: the dual without bias solved by an evolution strategy (Mierswa 2006, section 4.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float, check_counts
from spotsvm.solvers.dual.problem.problem import DualProblem
from spotsvm.solvers.dual.problem.result import Solution

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

KINDS = ("gaussian", "switching", "hybrid", "two_stage")
REFRESH = 100  # generations after which running gradients are recomputed, against rounding


@dataclass(frozen=True)
class EvolutionSettings:
    """Settings of the evolution strategy; the defaults are the paper's.

    The 1/5 rule multiplies or divides `step`, the first standard deviation in units of C, by `adaptation`; 1 keeps it. A
    tournament has `tournament_share` of the population, rounded up.
    """

    population_size: int = 10
    max_generations: int = 1000
    patience: int = 5
    tournament_share: float = 0.25
    crossover_probability: float = 0.9
    step: float = 0.1
    adaptation: float = 0.85

    def __post_init__(self) -> None:
        check_counts(population_size=self.population_size, max_generations=self.max_generations, patience=self.patience)
        for name, most in (("tournament_share", math.inf), ("step", math.inf), ("adaptation", 1.0)):
            value = getattr(self, name)
            if not (0 < as_float(value) <= most and as_float(value) < math.inf):
                limit = " and at most 1" if most == 1.0 else ", finite"
                raise SolverError(f"{name}={value!r}; use a number above 0{limit}")
        if not 0 <= as_float(self.crossover_probability) <= 1:
            raise SolverError(f"crossover_probability={self.crossover_probability!r}; use a number from 0 to 1")

    @property
    def tournament_size(self) -> int:
        """Number of entrants of a tournament."""
        return math.ceil(self.tournament_share * self.population_size)


def evolve(problem: DualProblem, kind: str, rng: np.random.Generator, settings: EvolutionSettings | None = None) -> Solution:
    """Maximise the dual without bias by evolution: Mierswa 2006, Evolutionary learning with kernels, section 4.2 and Fig. 4.

    "two_stage" is the improvement of section 6: switching until it ends, then Gaussian mutation without values at a common bound.
    Where the paper is silent, a generation is as in its software (YALE). An improvement exceeds 1e-12 of the fitness.
    """
    if kind not in KINDS:
        raise SolverError(f"kind={kind!r}; use one of {', '.join(KINDS)}")
    if problem.bias:
        raise SolverError("bias=True; this method searches the box alone: use bias=False, or the method 'exact' or 'memetic'")
    settings = settings or EvolutionSettings()
    size = settings.population_size
    rows = Rows.random(problem, size, rng)
    gaussian = Gaussian(problem, settings.step, settings.adaptation)
    mutation: Gaussian | Flip = gaussian if kind == "gaussian" else Flip(problem, kind)
    second = gaussian if kind == "two_stage" else None
    evaluations = size
    pool, best, idle, generation = rows.fitness[:size], -np.inf, 0, 0
    winners = np.arange(size)
    while generation < settings.max_generations and (idle < settings.patience or second is not None):
        if generation:
            winners = _select(pool, size, settings.tournament_size, rng)
            mutation.take(rows, winners, pool)
        if second is not None and idle >= settings.patience:
            second.free = rows.undecided(problem)
            mutation, second, idle = second, None, 0
        if generation % REFRESH == REFRESH - 1:
            rows.refresh(problem)
        evaluations += _cross(problem, rows, settings.crossover_probability, rng)
        mutants = mutation.mutate(rows, rng)
        evaluations += int(np.isfinite(mutants).sum())
        pool = np.concatenate([rows.fitness[: rows.used], mutants])
        highest = float(pool.max())
        idle = 0 if highest > best + 1e-12 * abs(best) or best == -np.inf else idle + 1
        best = highest
        generation += 1
    mutation.take(rows, np.array([int(pool.argmax())]), pool)
    converged = idle >= settings.patience and second is None
    message = f"no improvement in {idle} generations" if converged else f"stopped at max_generations={settings.max_generations}"
    return Solution(np.abs(rows.beta[0]), generation, evaluations, converged, message)


def _select(pool: Floats, size: int, entrants: int, rng: np.random.Generator) -> Integers:
    there = np.flatnonzero(np.isfinite(pool))  # a mutant that changed nothing is not
    drawn = there[rng.integers(len(there), size=(size - 1, entrants))]
    best_of_each = pool[drawn].argmax(axis=1)
    return np.concatenate([[pool.argmax()], drawn[np.arange(size - 1), best_of_each]])


def _cross(problem: DualProblem, rows: Rows, probability: float, rng: np.random.Generator) -> int:
    """Make the children of couples; return their number."""
    from spotsvm.solvers.dual.evolution._evolution_kernels import make_children, swap_differences

    size = rows.size
    couples = rng.permutation(size)[: size // 2 * 2].reshape(-1, 2)
    couples = couples[rng.random(len(couples)) < probability]
    rows.used = size + 2 * len(couples)
    if not len(couples):
        return 0
    n, pairs = problem.n, len(couples)
    bits = np.frombuffer(rng.bytes(-(-pairs * n // 8)), np.uint8)
    swapped = np.unpackbits(bits, count=pairs * n).reshape(pairs, n)
    differences, products, counts = np.empty((pairs, n)), np.empty((pairs, n)), np.empty(pairs, dtype=np.int64)
    swap_differences(rows.beta, couples, swapped, differences, counts)
    few = n // 4
    dense = counts > few
    if dense.any():
        products[dense] = differences[dense] @ problem.K
    make_children(problem.K, rows.beta, rows.gradient, rows.fitness, couples, differences, counts, few, products, size)
    return 2 * pairs


MOST_CHANGES = 64  # changes in a mutant; n coordinates hit with probability 1/n have more with a probability below 1e-89


class Rows:
    """Parents and children as rows: beta = alpha y, gradient y - K beta, fitness y'beta - beta' K beta / 2 (eq. 31)."""

    def __init__(self, beta: Floats, problem: DualProblem):
        self.size, n = beta.shape
        self.used = self.size
        self.beta = np.zeros((2 * self.size, n))
        self.gradient = np.zeros((2 * self.size, n))
        self.fitness = np.zeros(2 * self.size)
        self.beta[: self.size] = beta
        self.spare = self.beta.copy(), self.gradient.copy()
        self.refresh(problem)

    @staticmethod
    def random(problem: DualProblem, size: int, rng: np.random.Generator) -> Rows:
        """Draw parents uniformly from the box."""
        return Rows(rng.random((size, problem.n)) * (problem.C * problem.y), problem)

    def undecided(self, problem: DualProblem) -> Integers:
        """Return the coordinates that are not at the same bound in all parents; crossover changes no others either."""
        beta = self.beta[: self.size]
        coordinates: Integers = np.flatnonzero((beta != 0.0).any(axis=0) & (beta != problem.C * problem.y).any(axis=0))
        return coordinates

    def refresh(self, problem: DualProblem) -> None:
        """Recompute gradients and fitness of the parents."""
        beta = self.beta[: self.size]
        self.gradient[: self.size] = problem.y - beta @ problem.K
        # beta' K beta = beta' (y - gradient)
        self.fitness[: self.size] = 0.5 * np.einsum("ij,ij->i", beta, problem.y + self.gradient[: self.size])


class Gaussian:
    """Add Gaussian noise to the free coordinates, with the 1/5 rule for its standard deviation, in units of the bounds."""

    def __init__(self, problem: DualProblem, step: float, adaptation: float):
        self.problem = problem
        self.step = step
        self.adaptation = adaptation
        self.lower, self.upper = problem.box
        self.free = np.arange(problem.n)
        self.beta = self.gradient = np.empty((0, problem.n))

    def mutate(self, rows: Rows, rng: np.random.Generator) -> Floats:
        """Make a mutant of each row; return their fitness."""
        free, beta = self.free, rows.beta[: rows.used]
        noise = rng.standard_normal((rows.used, len(free))) * (self.step * self.problem.C[free])
        self.beta = beta.copy()
        self.beta[:, free] = np.clip(beta[:, free] + noise, self.lower[free], self.upper[free])
        self.gradient = rows.gradient[: rows.used] - (self.beta - beta)[:, free] @ self.problem.K[free]
        fitness: Floats = 0.5 * np.einsum("ij,ij->i", self.beta, self.problem.y + self.gradient)
        share = float(np.mean(fitness > rows.fitness[: rows.used]))
        if share != 0.2:
            self.step *= self.adaptation if share < 0.2 else 1.0 / self.adaptation
        return fitness

    def take(self, rows: Rows, winners: Integers, pool: Floats) -> None:
        """Make the winners the first rows; indices from `rows.used` on are mutants."""
        beta = np.concatenate([rows.beta[: rows.used], self.beta])[winners]
        gradient = np.concatenate([rows.gradient[: rows.used], self.gradient])[winners]
        rows.beta[: len(winners)] = beta
        rows.gradient[: len(winners)] = gradient
        rows.fitness[: len(winners)] = pool[winners]


class Flip:
    """Hit each coordinate with probability 1/n: nonzero ones become 0, zeros become C (switching) or less (hybrid, Fig. 4)."""

    def __init__(self, problem: DualProblem, kind: str):
        self.problem = problem
        self.kind = kind
        self.bounds = problem.C * problem.y
        self.changed = np.zeros((0, 0), dtype=np.int64)
        self.changes = np.zeros((0, 0))
        self.counts = np.zeros(0, dtype=np.int64)

    def mutate(self, rows: Rows, rng: np.random.Generator) -> Floats:
        """Make a mutant of each row; return their fitness, -inf for a mutant without a change."""
        from spotsvm.solvers.dual.evolution._evolution_kernels import flip_some

        n, used = self.problem.n, rows.used
        # the number of hits is that of used * n draws with probability 1/n
        hits = np.sort(rng.choice(used * n, rng.binomial(used * n, 1.0 / n), replace=False, shuffle=False))
        values = self.bounds[hits % n]
        if self.kind == "hybrid":
            values = values * rng.random(len(hits))
        width = min(n, MOST_CHANGES)
        self.changed = np.empty((used, width), dtype=np.int64)
        self.changes = np.empty((used, width))
        self.counts = np.empty(used, dtype=np.int64)
        fitness = np.empty(used)
        flip_some(
            self.problem.K,
            rows.beta,
            rows.gradient,
            rows.fitness[:used],
            hits,
            values,
            self.changed,
            self.changes,
            self.counts,
            fitness,
        )
        fitness[self.counts == 0] = -np.inf
        return fitness

    def take(self, rows: Rows, winners: Integers, pool: Floats) -> None:
        """Make the winners the first rows; indices from `rows.used` on are mutants."""
        from spotsvm.solvers.dual.evolution._evolution_kernels import take_rows

        beta, gradient = rows.spare
        take_rows(self.problem.K, rows.beta, rows.gradient, winners, self.changed, self.changes, self.counts, beta, gradient)
        rows.spare = rows.beta, rows.gradient
        rows.beta, rows.gradient = beta, gradient
        rows.fitness[: len(winners)] = pool[winners]

"""The individuals of an evolution on the dual, and its mutations: Gaussian, switching and hybrid (Mierswa 2006, section 4.2)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.problem.problem import DualProblem

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MOST_CHANGES = 64  # changes in a mutant; n coordinates hit with probability 1/n have more with a probability below 1e-89


class Rows:
    """Parents and children as rows: beta = alpha y, gradient y - K beta, fitness y'beta - beta' K beta / 2 (eq. 31).

    Parameters
    ----------
    beta : ndarray of shape (size, n)
        The parents.
    problem : DualProblem
        The problem that the individuals solve.
    """

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

    def refresh(self, problem: DualProblem) -> None:
        """Recompute gradients and fitness of the parents."""
        beta = self.beta[: self.size]
        self.gradient[: self.size] = problem.y - beta @ problem.K
        # beta' K beta = beta' (y - gradient)
        self.fitness[: self.size] = 0.5 * np.einsum("ij,ij->i", beta, problem.y + self.gradient[: self.size])


class Mutation(Protocol):
    """Makes a mutant of each row, and stores the mutants until the winners are selected."""

    def mutate(self, rows: Rows, rng: np.random.Generator) -> Floats:
        """Make the mutants and return their fitness, -inf for a mutant without a change."""
        ...

    def take(self, rows: Rows, winners: Integers, pool: Floats) -> None:
        """Make the winners the first rows; indices from `rows.used` on are mutants."""
        ...


class Gaussian:
    """Add Gaussian noise to every coordinate, with the 1/5 rule for its standard deviation.

    Parameters
    ----------
    problem : DualProblem
        The problem.
    step : float
        First standard deviation in units of the bounds.
    adaptation : float
        Factor of the 1/5 rule.
    """

    def __init__(self, problem: DualProblem, step: float, adaptation: float):
        self.problem = problem
        self.step = step
        self.adaptation = adaptation
        self.lower = np.minimum(problem.C * problem.y, 0.0)
        self.upper = np.maximum(problem.C * problem.y, 0.0)
        self.beta = self.gradient = np.empty((0, problem.n))

    def mutate(self, rows: Rows, rng: np.random.Generator) -> Floats:
        """Make a mutant of each row."""
        noise = rng.standard_normal((rows.used, self.problem.n)) * (self.step * self.problem.C)
        self.beta = np.clip(rows.beta[: rows.used] + noise, self.lower, self.upper)
        self.gradient = self.problem.y - self.beta @ self.problem.K
        fitness: Floats = 0.5 * np.einsum("ij,ij->i", self.beta, self.problem.y + self.gradient)
        share = float(np.mean(fitness > rows.fitness[: rows.used]))
        if share != 0.2:
            self.step *= self.adaptation if share < 0.2 else 1.0 / self.adaptation
        return fitness

    def take(self, rows: Rows, winners: Integers, pool: Floats) -> None:
        """Make the winners the first rows."""
        beta = np.concatenate([rows.beta[: rows.used], self.beta])[winners]
        gradient = np.concatenate([rows.gradient[: rows.used], self.gradient])[winners]
        rows.beta[: len(winners)] = beta
        rows.gradient[: len(winners)] = gradient
        rows.fitness[: len(winners)] = pool[winners]


class Flip:
    """Hit each coordinate with probability 1/n: nonzero ones become 0, zeros become C (switching) or less (hybrid, Fig. 4).

    Parameters
    ----------
    problem : DualProblem
        The problem.
    kind : {"switching", "hybrid"}
        New value of a coordinate at zero: its bound, or uniform between zero and its bound.
    """

    def __init__(self, problem: DualProblem, kind: str):
        self.problem = problem
        self.kind = kind
        self.bounds = problem.C * problem.y
        self.changed = np.zeros((0, 0), dtype=np.int64)
        self.changes = np.zeros((0, 0))
        self.counts = np.zeros(0, dtype=np.int64)

    def mutate(self, rows: Rows, rng: np.random.Generator) -> Floats:
        """Make a mutant of each row."""
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
        """Make the winners the first rows."""
        from spotsvm.solvers.dual.evolution._evolution_kernels import take_rows

        beta, gradient = rows.spare
        take_rows(self.problem.K, rows.beta, rows.gradient, winners, self.changed, self.changes, self.counts, beta, gradient)
        rows.spare = rows.beta, rows.gradient
        rows.beta, rows.gradient = beta, gradient
        rows.fitness[: len(winners)] = pool[winners]

"""EvoSVM-H as one would first write it: each individual is evaluated in full, in O(n^2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from solvers.dual.evolution import EvolutionSettings
from solvers.dual.problem import DualProblem

Floats = NDArray[np.float64]


def plain_hybrid(
    problem: DualProblem, rng: np.random.Generator, settings: EvolutionSettings, together: bool
) -> tuple[float, int]:
    """Run the evolution of `solvers.dual.evolution` with the hybrid mutation on the same random numbers, plainly.

    Parameters
    ----------
    problem : DualProblem
        A problem without bias.
    rng : numpy.random.Generator
        Source of all randomness, used as `evolve` uses it.
    settings : EvolutionSettings
        Its settings.
    together : bool
        Whether all new individuals of a generation are evaluated by one product of matrices, and not one by one.

    Returns
    -------
    float, int
        The best objective and the number of generations.
    """
    n, size, bounds = problem.n, settings.population_size, problem.C * problem.y
    parents = rng.random((size, n)) * bounds
    parents_fitness = _evaluate(problem, parents, together)
    pool, fitness, best, idle, generation = parents, parents_fitness, -np.inf, 0, 0
    while generation < settings.max_generations and idle < settings.patience:
        if generation:
            drawn = rng.integers(len(pool), size=(size - 1, settings.tournament_size))
            winners = np.array([fitness.argmax(), *(d[fitness[d].argmax()] for d in drawn)])
            parents, parents_fitness = pool[winners], fitness[winners]
        children = _cross(parents, settings.crossover_probability, rng)
        rows = np.concatenate([parents, children])
        mutants = _mutate(rows, bounds, rng)
        new = _evaluate(problem, np.concatenate([children, mutants]), together)
        pool, fitness = np.concatenate([rows, mutants]), np.concatenate([parents_fitness, new])
        highest = float(fitness.max())
        idle = 0 if best == -np.inf or highest > best + 1e-12 * abs(best) else idle + 1
        best, generation = highest, generation + 1
    return best, generation


def _evaluate(problem: DualProblem, rows: Floats, together: bool) -> Floats:
    if together:
        fitness: Floats = np.einsum("ij,ij->i", rows, problem.y - 0.5 * (rows @ problem.K))
        return fitness
    return np.array([problem.y @ beta - 0.5 * beta @ (problem.K @ beta) for beta in rows])


def _cross(parents: Floats, probability: float, rng: np.random.Generator) -> Floats:
    size, n = parents.shape
    couples = rng.permutation(size)[: size // 2 * 2].reshape(-1, 2)
    couples = couples[rng.random(len(couples)) < probability]
    if not len(couples):
        return np.empty((0, n))
    bits = np.frombuffer(rng.bytes(-(-len(couples) * n // 8)), np.uint8)
    swapped = np.unpackbits(bits, count=len(couples) * n).reshape(-1, n) == 1
    one, other = parents[couples[:, 0]], parents[couples[:, 1]]
    pairs = np.stack([np.where(swapped, other, one), np.where(swapped, one, other)], axis=1)
    return pairs.reshape(-1, n)


def _mutate(rows: Floats, bounds: Floats, rng: np.random.Generator) -> Floats:
    n = rows.shape[1]
    hits = np.sort(rng.choice(rows.size, rng.binomial(rows.size, 1 / n), replace=False, shuffle=False))
    values = bounds[hits % n] * rng.random(len(hits))
    mutants = rows.copy()
    mutants.flat[hits] = np.where(mutants.flat[hits] != 0, 0.0, values)
    hit: Floats = mutants[np.unique(hits // n)]
    return hit

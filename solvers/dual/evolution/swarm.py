"""PsoSVM: the dual without bias solved by a particle swarm (Mierswa 2006, section 4.2)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float, check_choice, check_counts
from spotsvm.solvers.dual.problem.problem import DualProblem
from spotsvm.solvers.dual.problem.result import Solution

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SwarmSettings:
    """Settings of the swarm; the defaults are the paper's, in the interpretation that is closest to its figures.

    `pulls`: random factors normal with mean and deviation 1, as in later releases of the paper's software, which reach better
    solutions; or uniform on [0, 1], as in the standard swarm. `inertia` falls linearly to zero.
    """

    population_size: int = 10
    max_generations: int = 1000
    patience: int = 5
    inertia: float = 0.1
    local_weight: float = 1.0
    global_weight: float = 1.0
    pulls: str = "gaussian"

    def __post_init__(self) -> None:
        check_counts(population_size=self.population_size, max_generations=self.max_generations, patience=self.patience)
        for name in ("inertia", "local_weight", "global_weight"):
            value = getattr(self, name)
            if not 0 <= as_float(value) < np.inf:
                raise SolverError(f"{name}={value!r}; use a finite number, 0 or more")
        check_choice("pulls", self.pulls, ("uniform", "gaussian"))


def swarm(problem: DualProblem, rng: np.random.Generator, settings: SwarmSettings | None = None) -> Solution:
    """Maximise the dual without bias by a particle swarm: Mierswa 2006, section 4.2, after Kennedy and Eberhart 1995.

    Particles start at random positions in the box, at rest, and stop at its bounds. A generation is a single matrix product.
    """
    if problem.bias:
        raise SolverError("bias=True; this method searches the box alone: use bias=False, or the method 'exact' or 'memetic'")
    s = settings or SwarmSettings()
    bounds = problem.C * problem.y
    lower, upper = problem.box
    shape = (s.population_size, problem.n)
    place = rng.random(shape) * bounds
    velocity = np.zeros(shape)
    own, own_fitness = place.copy(), _fitness(problem, place)
    leader = int(own_fitness.argmax())
    best, generation, idle = float(own_fitness[leader]), 0, 0
    while generation < s.max_generations and idle < s.patience:
        velocity *= s.inertia * (1.0 - generation / s.max_generations)
        velocity += s.local_weight * _pulls(s, shape, rng) * (own - place)
        velocity += s.global_weight * _pulls(s, shape, rng) * (own[leader] - place)
        place = np.clip(place + velocity, lower, upper)
        fitness = _fitness(problem, place)
        better = fitness > own_fitness
        own[better], own_fitness[better] = place[better], fitness[better]
        leader = int(own_fitness.argmax())
        idle = 0 if own_fitness[leader] > best + 1e-12 * abs(best) else idle + 1
        best = float(own_fitness[leader])
        generation += 1
    converged = idle >= s.patience
    message = f"no improvement in {idle} generations" if converged else f"stopped at max_generations={s.max_generations}"
    return Solution(np.abs(own[leader]), generation, (generation + 1) * s.population_size, converged, message)


def _pulls(settings: SwarmSettings, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    return rng.random(shape) if settings.pulls == "uniform" else rng.standard_normal(shape) + 1.0


def _fitness(problem: DualProblem, beta: Floats) -> Floats:
    # eq. 31 of beta = alpha y: y'beta - beta' K beta / 2
    fitness: Floats = np.einsum("ij,ij->i", beta, problem.y - 0.5 * (beta @ problem.K))
    return fitness

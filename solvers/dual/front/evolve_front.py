"""NSGA-II on margin and training error, from exact solutions and random expansions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spotsvm.solvers.dual.front.front import Front, merge, without_C
from spotsvm.solvers.dual.front.margin_error import MarginError, evenly

Floats = NDArray[np.float64]


def evolve_front(
    criteria: MarginError, starts: Front, population_size: int, n_generations: int, generator: np.random.Generator
) -> Front:
    """Run NSGA-II (Deb et al. 2002; pymoo) from a front and random expansions; no point of the front is lost.

    Every generation costs a matrix product. The objectives of NSGA-II are log ||w|| and the training error, so that its crowding
    distance spreads the population evenly over the orders of magnitude of the margin.

    Parameters
    ----------
    criteria : MarginError
        The two criteria.
    starts : Front
        Points to start from. At most three quarters of the first population are taken from them, evenly spaced.
    population_size : int
        Individuals, at least 4.
    n_generations : int
        Generations after the first population.
    generator : numpy.random.Generator
        Generator of the random numbers.

    Returns
    -------
    Front
        The non-dominated points of `starts` and of all generations.
    """
    from pymoo.algorithms.moo.nsga2 import NSGA2  # on use: it takes half a second
    from pymoo.core.problem import Problem

    from spotsvm.solvers.dual.front.expansion_operators import BlendOrSwap, SparseMutation, random_expansions

    n = len(criteria.y)
    taken = evenly(len(starts), 3 * population_size // 4)
    drawn = random_expansions(population_size - len(taken), n, generator)
    algorithm = NSGA2(
        pop_size=population_size,
        sampling=np.concatenate([starts.expansions.alpha[taken], drawn]),
        crossover=BlendOrSwap(generator),
        mutation=SparseMutation(generator),
    )
    algorithm.setup(
        Problem(n_var=n, n_obj=2, xl=np.zeros(n), xu=np.full(n, np.inf)),
        termination=("n_gen", n_generations + 1),
        seed=int(generator.integers(2**31)),
    )
    best = starts
    while algorithm.has_next():
        individuals = algorithm.ask()
        if individuals is None or not len(individuals):  # with very few rows, no new individual can be made
            break
        points = criteria.evaluate(individuals.get("X"))
        individuals.set("X", points.alpha)
        individuals.set("F", _for_sorting(criteria.objectives(points)))
        algorithm.tell(infills=individuals)
        best = merge(criteria, best, without_C(points, "evolved"))
    return best


def _for_sorting(objectives: Floats) -> Floats:
    exists = np.isfinite(objectives[:, :1])
    norms = np.where(exists[:, 0], objectives[:, 0], 1.0)
    # a point without a norm is worse in both criteria than all points with a norm
    sortable: Floats = np.where(exists, np.column_stack([0.5 * np.log(norms), objectives[:, 1]]), 1e6)
    return sortable

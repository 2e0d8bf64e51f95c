"""NSGA-II on margin and training error, from exact solutions and random expansions. Imported on use, as pymoo is slow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem

from spotsvm.solvers.dual.front.front import Front, merge, without_C
from spotsvm.solvers.dual.front.margin_error import MarginError, evenly

Floats = NDArray[np.float64]


def evolve_front(
    criteria: MarginError, starts: Front, population_size: int, n_generations: int, generator: np.random.Generator
) -> Front:
    """Run NSGA-II (Deb et al. 2002; pymoo) from a front and random expansions; no point of the front is lost.

    The objectives are log ||w||, the training error and, if it is a criterion, the number of support vectors: crowding spreads
    the population over the orders of magnitude of the margin. At most three quarters of the first population come from `starts`.
    """
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
        Problem(n_var=n, n_obj=2 + criteria.sparse, xl=np.zeros(n), xu=np.full(n, np.inf)),
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
    # a point without a norm is worse in all criteria than all points with a norm
    sortable: Floats = np.where(exists, np.column_stack([0.5 * np.log(norms), objectives[:, 1:]]), 1e9)
    return sortable


class SparseMutation(Mutation):
    """Mutate coefficients: half of the individuals by Mierswa 2006, Fig. 4, with their own largest coefficient in place of C.

    A quarter by Gaussian steps of a tenth of the largest on a random share of the positive ones; a quarter by a log-normal factor
    (0.3) for all coefficients, a step along the margin.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        super().__init__()
        self.generator = generator

    def _do(self, problem: Any, X: Floats, **kwargs: Any) -> Floats:
        draw = self.generator
        m, n = X.shape
        largest = X.max(axis=1, keepdims=True)
        kind = draw.random((m, 1))
        chosen = draw.random((m, n)) < 1.0 / n
        chosen[np.arange(m), draw.integers(n, size=m)] = True
        switched = np.where(chosen, np.where(X > 0, 0.0, draw.random((m, n)) * largest), X)
        moved = (X > 0) & (draw.random((m, n)) < draw.random((m, 1)))
        stepped = np.maximum(X + moved * draw.standard_normal((m, n)) * 0.1 * largest, 0.0)
        scaled = X * np.exp(0.3 * draw.standard_normal((m, 1)))
        mutated: Floats = np.where(kind < 0.5, switched, np.where(kind < 0.75, stepped, scaled))
        return mutated


class BlendOrSwap(Crossover):
    """Cross two parents, along the straight line between them or coefficient by coefficient.

    The line serves the convex criteria: halfway between two solutions, norm and hinge error are at most their means. For the swap
    the second parent is scaled to the sum of the first, because parents of different C would not mix otherwise.
    """

    def __init__(self, generator: np.random.Generator) -> None:
        super().__init__(2, 2, prob=0.9)
        self.generator = generator

    def _do(self, problem: Any, X: Floats, **kwargs: Any) -> Floats:
        draw = self.generator
        first, second = X
        m, n = first.shape
        share = draw.random((m, 1))
        between = np.stack([share * first + (1 - share) * second, (1 - share) * first + share * second])
        ratio = _ratio(first.sum(axis=1, keepdims=True), second.sum(axis=1, keepdims=True))
        taken = draw.random((m, n)) < draw.random((m, 1))
        swapped = np.stack([np.where(taken, second * ratio, first), np.where(taken, first / ratio, second)])
        crossed: Floats = np.where(draw.random((m, 1)) < 0.5, between, swapped)
        return crossed


def _ratio(first: Floats, second: Floats) -> Floats:
    usable = (first > 0) & (second > 0)
    ratio: Floats = np.where(usable, first, 1.0) / np.where(usable, second, 1.0)
    return ratio


def random_expansions(count: int, n: int, generator: np.random.Generator) -> Floats:
    """Draw sparse coefficients (count, n): a random share of them positive, uniform up to a scale between 1/n and 1."""
    positive = generator.random((count, n)) < generator.random((count, 1))
    positive[np.arange(count), generator.integers(n, size=count)] = True
    scale = np.exp(-generator.random((count, 1)) * np.log(max(n, 2)))
    drawn: Floats = positive * generator.random((count, n)) * scale
    return drawn

"""Operators on models, each a tuple of positive parameters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float

Model = tuple[float, ...]

#: bounds of the parameters: beyond them, a support vector machine on scaled data changes only by rounding
LOWEST, HIGHEST = 1e-12, 1e12
_TRIES = 100
#: factors of a finer grid around a model
FINER = tuple(2.0**k for k in range(-3, 4))


class ModelGenetics:
    """Models of a few positive parameters, such as (C, gamma), whose grid is the first population: Kawulok et al. 2017, 3.3.

    A child has x_a + alpha (x_a - x_b), a the better parent, alpha uniform in `weights` and redrawn until it is positive; a
    mutation draws from x (1 - delta) to x (1 + delta).
    """

    def __init__(
        self,
        values: Sequence[Sequence[float]],
        crossover_probability: float = 0.7,
        mutation_probability: float = 0.2,
        mutation_range: float = 0.1,
        weights: tuple[float, float] = (-0.5, 1.5),
    ):
        self.values = [tuple(as_float(value) for value in of_one) for of_one in values]
        for listed, of_one in zip(values, self.values, strict=True):
            low, high = (LOWEST, HIGHEST) if len(set(of_one)) > 1 else (np.nextafter(0, 1), np.finfo(float).max)
            if not of_one or not all(low <= value <= high for value in of_one):
                raise SolverError(f"values={listed!r}; use one positive number or more, several from {LOWEST:g} to {HIGHEST:g}")
        for name, value in (
            ("crossover_probability", crossover_probability),
            ("mutation_probability", mutation_probability),
            ("mutation_range", mutation_range),
        ):
            if not 0 <= as_float(value) <= 1 or (name == "mutation_range" and value == 1):
                raise SolverError(f"{name}={value!r} is not in [0, 1{')' if name == 'mutation_range' else ']'}")
        self.crossover_probability, self.mutation_probability = float(crossover_probability), float(mutation_probability)
        self.mutation_range = float(mutation_range)
        self.weights = float(weights[0]), float(weights[1])

    @property
    def _free(self) -> list[bool]:
        return [len(set(of_one)) > 1 for of_one in self.values]

    def grid(self) -> list[Model]:
        """Return the models of the grid; the last parameter varies fastest."""
        return list(product(*self.values))

    def finer(self, model: Model) -> list[Model]:
        """Return the models around one by factors of 2, three steps up and down, nearly a factor of 10; fixed parameters stay."""
        steps = [FINER if free else (1.0,) for free in self._free]
        return [tuple(_bounded(x * step) for x, step in zip(model, of_one, strict=True)) for of_one in product(*steps)]

    def initial(self, size: int, rng: np.random.Generator) -> list[Model]:
        """Return the grid for every `size`: the first population is deterministic."""
        return self.grid()

    def cross(self, better: Model, worse: Model, rng: np.random.Generator) -> Model:
        """Move from the better parent along its difference to the worse parent, with the crossover probability."""
        if rng.random() >= self.crossover_probability:
            return better
        alpha = rng.uniform(*self.weights)
        return tuple(self._moved(a, b, alpha, rng) if free else a for a, b, free in zip(better, worse, self._free, strict=True))

    def mutate(self, individual: Model, rng: np.random.Generator) -> Model:
        """Change each free parameter by a share of itself, with the mutation probability."""
        if rng.random() >= self.mutation_probability:
            return individual
        factors = 1.0 + rng.uniform(-self.mutation_range, self.mutation_range, size=len(individual))
        return tuple(_bounded(x * float(f)) if free else x for x, f, free in zip(individual, factors, self._free, strict=True))

    def _moved(self, a: float, b: float, alpha: float, rng: np.random.Generator) -> float:
        for _ in range(_TRIES):
            x = a + alpha * (a - b)
            if x > 0:
                return _bounded(x)
            alpha = rng.uniform(*self.weights)
        return a


def _bounded(x: float) -> float:
    return min(max(float(x), LOWEST), HIGHEST)

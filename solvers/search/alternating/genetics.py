"""The operators that a genetic algorithm needs for its individuals."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

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

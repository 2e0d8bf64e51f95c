"""The contract of a space of kernels for genetic programming: random expressions and their variations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_counts
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.kernels.expressions.expression import MAX_DEPTH


class Grammar(ABC):
    """A space of kernel expressions within limits, with its operators.

    The expressions of `grow` and `vary` may exceed the limits or not be kernels: `breed_new` and `breed_variation` try again
    until an expression is valid.

    Parameters
    ----------
    max_depth : int
        Maximum number of levels of an expression, from 1 to 64.
    max_constants : int
        Maximum number of different symbolic constants and numbers in an expression, at least 1.

    Raises
    ------
    SolverError
        If a limit is out of its range.
    """

    def __init__(self, max_depth: int, max_constants: int):
        check_counts(max_depth=max_depth, max_constants=max_constants)
        if max_depth > MAX_DEPTH:
            raise SolverError(f"max_depth={max_depth!r}; use {MAX_DEPTH} or less")
        self.max_depth, self.max_constants = int(max_depth), int(max_constants)

    @abstractmethod
    def grow(self, rng: np.random.Generator) -> Expression:
        """Return a random scalar expression.

        Parameters
        ----------
        rng : numpy.random.Generator
            Generator of the random numbers.
        """

    @abstractmethod
    def mutate(self, expression: Expression, rng: np.random.Generator) -> Expression:
        """Return a random change of an expression.

        Parameters
        ----------
        expression : Expression
            A scalar.
        rng : numpy.random.Generator
            Generator of the random numbers.
        """

    @abstractmethod
    def cross(self, first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
        """Return the first expression with a part of the second.

        Parameters
        ----------
        first, second : Expression
            Scalars.
        rng : numpy.random.Generator
            Generator of the random numbers.
        """

    @property
    @abstractmethod
    def crossover_share(self) -> float:
        """Probability that `vary` crosses two parents instead of changing one."""

    def vary(self, parents: Sequence[Expression], rng: np.random.Generator) -> Expression:
        """Return a child of one or two parents.

        Parameters
        ----------
        parents : sequence of Expression
            The expression to change, and optionally a second expression for a crossover.
        rng : numpy.random.Generator
            Generator of the random numbers.
        """
        if len(parents) > 1 and rng.random() < self.crossover_share:
            return self.cross(parents[0], parents[1], rng)
        return self.mutate(parents[0], rng)

    def is_valid(self, expression: Expression) -> bool:
        """Return whether an expression is a scalar, depends on both inputs and is within the limits.

        Parameters
        ----------
        expression : Expression
            Any.

        References
        ----------
        Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section
        2.3.2, the first two criteria and the limit of depth.
        """
        return (
            expression.type == "scalar"
            and len(expression.inputs) == 2
            and expression.depth <= self.max_depth
            and len(expression.constants) + len(expression.values) <= self.max_constants
        )

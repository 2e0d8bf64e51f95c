"""The contract of a space of kernels for genetic programming: random expressions, and variations of given ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_counts
from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.kernels.expressions.blocks import MAX_DEPTH


class Grammar(ABC):
    """A space of kernel expressions with limits, and the ways through it.

    What `grow` and `vary` give may break the limits, or have a matrix that is none of a kernel: `breed_new` and
    `breed_variation` try again until it does not.

    Parameters
    ----------
    max_depth : int
        Levels of an expression, from 1 to 64.
    max_constants : int
        Symbolic constants, each counted once, and numbers of its own that an expression may have; at least 1.

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
            Source of the draw.
        """

    @abstractmethod
    def mutate(self, expression: Expression, rng: np.random.Generator) -> Expression:
        """Return a random change of an expression.

        Parameters
        ----------
        expression : Expression
            A scalar.
        rng : numpy.random.Generator
            Source of the draw.
        """

    @abstractmethod
    def cross(self, first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
        """Return the first expression with something of the second.

        Parameters
        ----------
        first, second : Expression
            Scalars.
        rng : numpy.random.Generator
            Source of the draw.
        """

    @property
    @abstractmethod
    def crossover_share(self) -> float:
        """Probability that `vary` crosses two parents instead of changing one."""

    def vary(self, parents: Sequence[Expression], rng: np.random.Generator) -> Expression:
        """Return a child of one parent or of two.

        Parameters
        ----------
        parents : sequence of Expression
            The one that is changed, and, where there is one, another that it may be crossed with.
        rng : numpy.random.Generator
            Source of the draw.
        """
        if len(parents) > 1 and rng.random() < self.crossover_share:
            return self.cross(parents[0], parents[1], rng)
        return self.mutate(parents[0], rng)

    def is_valid(self, expression: Expression) -> bool:
        """Return whether an expression is a scalar of both inputs within the limits.

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

"""The contract of a space of kernels for genetic programming, and the breeding of valid expressions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import check_counts
from spotsvm.solvers.kernels.expressions import CONSTANTS, Expression
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
    """

    def __init__(self, max_depth: int, max_constants: int):
        check_counts(max_depth=max_depth, max_constants=max_constants)
        if max_depth > MAX_DEPTH:
            raise SolverError(f"max_depth={max_depth!r}; use {MAX_DEPTH} or less")
        self.max_depth, self.max_constants = int(max_depth), int(max_constants)

    @abstractmethod
    def grow(self, rng: np.random.Generator) -> Expression:
        """Return a random scalar expression."""

    @abstractmethod
    def mutate(self, expression: Expression, rng: np.random.Generator) -> Expression:
        """Return a random change of a scalar expression."""

    @abstractmethod
    def cross(self, first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
        """Return the first scalar expression with a part of the second."""

    @property
    @abstractmethod
    def crossover_share(self) -> float:
        """Probability that `vary` crosses two parents instead of changing one."""

    def vary(self, parents: Sequence[Expression], rng: np.random.Generator) -> Expression:
        """Return a child of the first parent, or of both if there is a second."""
        if len(parents) > 1 and rng.random() < self.crossover_share:
            return self.cross(parents[0], parents[1], rng)
        return self.mutate(parents[0], rng)

    def is_valid(self, expression: Expression) -> bool:
        """Return whether an expression is a scalar, depends on both inputs and is within the limits.

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


Accepts = Callable[[Expression], bool]


class Bred(NamedTuple):
    """The expression that was bred, whether it was accepted, and the number of draws."""

    expression: Expression
    accepted: bool
    tries: int


def breed_new(grammar: Grammar, accepts: Accepts, tries: int, rng: np.random.Generator) -> Bred:
    """Grow expressions until an expression is accepted; after the last try, return the last expression unaccepted.

    Parameters
    ----------
    grammar : Grammar
        The grammar that grows expressions. `accepts` is not called for expressions beyond its limits.
    accepts : callable
        Returns whether an expression within the limits is a kernel; called once for each.
    tries : int
        Maximum number of draws, at least 1.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", section
    2.3.2: "its last result is returned".

    Examples
    --------
    >>> from spotsvm.solvers.search.genetic_programming import PaperGrammar
    >>> bred = breed_new(
    ...     PaperGrammar(),
    ...     lambda expression: expression.size > 5,
    ...     1000,
    ...     np.random.default_rng(0),
    ... )
    >>> bred.accepted, bred.expression.size > 5
    (True, True)
    """
    return _bred(grammar, lambda: grammar.grow(rng), accepts, tries)


def breed_variation(
    grammar: Grammar, parents: Sequence[Expression], accepts: Accepts, tries: int, rng: np.random.Generator
) -> Bred:
    """Vary the first parent until a child is accepted; after the last try, return the parent unchanged.

    When an operator has used up its tries, "its last result is returned" according to section 2.3.2 of the paper, but "its
    unmodified input" according to section 3.1. Growth has no input and follows the first rule. Variation follows the second,
    which keeps the population valid. The operator is redrawn for each try, since a single operator may have no valid result. A
    child equal to the first parent counts as a failed try.

    Parameters
    ----------
    parents : sequence of Expression
        The expression to change, and optionally a second expression for a crossover.
    grammar, accepts, tries, rng
        As in `breed_new`.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", sections
    2.3.2 and 3.1.

    Examples
    --------
    >>> from spotsvm.solvers.search.genetic_programming import PaperGrammar
    >>> linear = Expression(
    ...     "inner_product", (Expression("x_i"), Expression("x_j"))
    ... )
    >>> breed_variation(
    ...     PaperGrammar(),
    ...     [linear],
    ...     lambda expression: False,
    ...     10,
    ...     np.random.default_rng(0),
    ... ).expression == linear
    True
    """
    bred = _bred(grammar, lambda: grammar.vary(parents, rng), accepts, tries, refused={parents[0]})
    return bred if bred.accepted else Bred(parents[0], False, bred.tries)


def _bred(
    grammar: Grammar, draw: Callable[[], Expression], accepts: Accepts, tries: int, refused: set[Expression] | None = None
) -> Bred:
    check_counts(breeding_tries=tries)
    refused = set() if refused is None else refused
    for k in range(1, tries + 1):
        expression = draw()
        if expression in refused:
            continue
        if grammar.is_valid(expression) and accepts(expression):
            return Bred(expression, True, k)
        refused.add(expression)
    return Bred(expression, False, tries)


_COMMUTING = {"add", "multiply", "add_vectors", "inner_product", "squared_distance"}
_SWAPPED = {"x_i": "x_j", "x_j": "x_i"}


def canonical_key(expression: Expression) -> tuple[Any, ...]:
    """Return a key that is equal for expressions whose forms show that they are the same kernel.

    The key does not depend on the order of commuting arguments; on an exchange of x_i and x_j throughout, as a kernel is
    symmetric; or on the names of symbolic constants, as the search treats all constants alike.

    Examples
    --------
    >>> one, two = Expression("c1"), Expression("c2")
    >>> product = Expression(
    ...     "inner_product", (Expression("x_i"), Expression("x_j"))
    ... )
    >>> canonical_key(Expression("add", (product, two))) == canonical_key(
    ...     Expression("add", (one, product))
    ... )
    True
    """
    return min(_renamed(_sorted(expression, swap)) for swap in (False, True))


def _sorted(node: Expression, swap: bool) -> tuple[Any, ...]:
    arguments = [_sorted(child, swap) for child in node.arguments]
    name = node.block
    if name == "vector_times_scalar":
        name, arguments = "scalar_times_vector", arguments[::-1]
    if name in _COMMUTING:
        # the names of constants come last: everything else decides first
        arguments.sort(key=lambda part: (_nameless(part), part))
    return (_SWAPPED.get(name, name) if swap else name, -1.0 if node.value is None else node.value, *arguments)


def _nameless(part: tuple[Any, ...]) -> tuple[Any, ...]:
    name, value, *arguments = part
    return ("c" if name in CONSTANTS else name, value, *(_nameless(child) for child in arguments))


def _renamed(tree: tuple[Any, ...]) -> tuple[Any, ...]:
    names: dict[str, str] = {}

    def rename(part: tuple[Any, ...]) -> tuple[Any, ...]:
        name, value, *arguments = part
        if name in CONSTANTS:
            if name not in names:
                names[name] = CONSTANTS[len(names)]
            name = names[name]
        return (name, value, *(rename(child) for child in arguments))

    return rename(tree)

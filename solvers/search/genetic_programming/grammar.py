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

    `grow` and `vary` may exceed the limits or give no kernel: `breed_new` and `breed_variation` try again until one is valid.
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
        """Return whether an expression is a scalar of both inputs within the limits: Koch et al. 2011, section 2.3.2."""
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
    """Grow expressions until one is accepted; after the last try, return it unaccepted ("its last result is returned").

    Koch et al. 2011, section 2.3.2. `accepts` is not called for expressions beyond the grammar's limits.
    """
    return _bred(grammar, lambda: grammar.grow(rng), accepts, tries)


def breed_variation(
    grammar: Grammar, parents: Sequence[Expression], accepts: Accepts, tries: int, rng: np.random.Generator
) -> Bred:
    """Vary the first parent until a child is accepted; after the last try, return the parent unchanged.

    So section 3.1 of Koch et al. 2011, and the population stays valid; section 2.3.2 says "its last result". The operator is
    redrawn for each try, and a child equal to the parent is a failed try.
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

    It ignores the order of commuting arguments, an exchange of x_i and x_j throughout, and the names of constants.
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

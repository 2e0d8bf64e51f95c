"""A space of kernels that are positive semidefinite by construction, with small mutations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float
from spotsvm.solvers.kernels.expressions import BLOCKS, Expression
from spotsvm.solvers.kernels.expressions.expression import Part, parts_of, with_part
from spotsvm.solvers.kernels.expressions.simplification import simplified
from spotsvm.solvers.search.genetic_programming.grammar import Grammar
from spotsvm.solvers.search.genetic_programming.paper_grammar import cross_subtrees

Floats = NDArray[np.float64]
T = TypeVar("T")

# probabilities of the blocks; blocks that tend to be useful are more likely
_LEAVES = {"gaussian": 0.4, "linear": 0.3, "number": 0.1, "rational": 0.1, "norms": 0.05, "damping": 0.05}
_OPERATORS = {
    "add": 0.35,
    "multiply": 0.25,
    "square": 0.1,
    "normalise": 0.1,
    "exponential": 0.1,
    "cube": 0.05,
    "scale": 0.05,
}
PSD_BLOCKS = frozenset(_LEAVES) | frozenset(_OPERATORS)

_PER_SQUARED_NORM = ("linear", "gaussian", "rational", "norms", "damping")
_OPERATOR_SHARE = 0.5
_SPREAD = 1.0
_REACH = 1e4


def typical_value(block: str, squared_norm: float) -> float:
    """Return a number at which a block is neither constant nor a spike, for rows with this typical |x|^2."""
    return 1.0 / squared_norm if block in _PER_SQUARED_NORM else 1.0


def value_bounds(block: str, squared_norm: float) -> tuple[float, float]:
    """Return the search range of a block's number, four powers of ten to each side of the typical value."""
    typical = typical_value(block, squared_norm)
    return typical / _REACH, typical * _REACH


def random_leaf(squared_norm: float, rng: np.random.Generator) -> Expression:
    """Draw a kernel of a single block."""
    return with_random_value(_drawn(_LEAVES, rng), (), squared_norm, rng)


def with_random_value(block: str, arguments: tuple[Expression, ...], squared_norm: float, rng: np.random.Generator) -> Expression:
    """Make an expression of a block; if the block carries a number, it is drawn around its typical value."""
    if BLOCKS[block].values == "none":
        return Expression(block, arguments)
    return Expression(block, arguments, typical_value(block, squared_norm) * float(np.exp(_SPREAD * rng.normal())))


def grow_kernel(max_depth: int, squared_norm: float, rng: np.random.Generator) -> Expression:
    """Grow a random kernel: an operator with probability 1/2 while there is depth left, and a leaf otherwise."""
    if max_depth == 1 or rng.random() >= _OPERATOR_SHARE:
        return random_leaf(squared_norm, rng)
    block = _drawn(_OPERATORS, rng)
    arguments = tuple(grow_kernel(max_depth - 1, squared_norm, rng) for _ in BLOCKS[block].arguments)
    return with_random_value(block, arguments, squared_norm, rng)


def _drawn(shares: dict[T, float], rng: np.random.Generator) -> T:
    names = list(shares)
    return names[rng.choice(len(names), p=list(shares.values()))]


_STEP = 0.3
_WEIGHTS = (0.02, 0.2)
# pairs of similar blocks, with the same number or the same argument
_ALIKE = {"gaussian": "rational", "rational": "gaussian", "square": "cube", "cube": "square"}
_WRAPPERS = ("square", "cube", "normalise", "exponential")


def step_values(expression: Expression, rng: np.random.Generator) -> Expression:
    """Multiply some of the numbers, at least one, by exp(0.3 z), z standard normal."""
    values = np.array(expression.values)
    if not len(values):
        return expression
    chosen = rng.random(len(values)) < 1.0 / len(values)
    chosen[rng.integers(len(values))] = True
    return expression.with_values((values * np.exp(_STEP * rng.normal(size=len(values)) * chosen)).tolist())


def add_term(expression: Expression, squared_norm: float, rng: np.random.Generator) -> Expression:
    """Add a random leaf with a small weight at a random part: k becomes k + w l."""
    part = _any(parts_of(expression), rng)
    return with_part(expression, part.position, Expression("add", (part.node, _small_term(squared_norm, rng))))


def add_factor(expression: Expression, squared_norm: float, rng: np.random.Generator) -> Expression:
    """Multiply a random part by 1 plus a random leaf with a small weight: k becomes k (1 + w l)."""
    part = _any(parts_of(expression), rng)
    factor = Expression("add", (Expression("number", value=1.0), _small_term(squared_norm, rng)))
    return with_part(expression, part.position, Expression("multiply", (part.node, factor)))


def remove_operator(expression: Expression, rng: np.random.Generator) -> Expression:
    """Replace an operator by one of its arguments."""
    operators = [part for part in parts_of(expression) if part.node.arguments]
    if not operators:
        return expression
    part = _any(operators, rng)
    return with_part(expression, part.position, part.node.arguments[rng.integers(len(part.node.arguments))])


def wrap(expression: Expression, squared_norm: float, rng: np.random.Generator) -> Expression:
    """Apply an operator with a single argument to a part."""
    part = _any(parts_of(expression), rng)
    wrapped = with_random_value(_WRAPPERS[rng.integers(len(_WRAPPERS))], (part.node,), squared_norm, rng)
    return with_part(expression, part.position, wrapped)


def swap_alike(expression: Expression, rng: np.random.Generator) -> Expression:
    """Exchange a block for a similar block: Gaussian and rational, square and cube."""
    candidates = [part for part in parts_of(expression) if part.node.block in _ALIKE]
    if not candidates:
        return expression
    part = _any(candidates, rng)
    return with_part(expression, part.position, Expression(_ALIKE[part.node.block], part.node.arguments, part.node.value))


def replace_leaf(expression: Expression, squared_norm: float, rng: np.random.Generator) -> Expression:
    """Replace a leaf by another."""
    part = _any([part for part in parts_of(expression) if not part.node.arguments], rng)
    return with_part(expression, part.position, random_leaf(squared_norm, rng))


def blend(first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
    """Mix a part of the second into the first: k becomes (1 - w) k + w l at a random part."""
    part, donor = _any(parts_of(first), rng), _any(parts_of(second), rng)
    weight = _small_weight(rng)
    mixed = Expression("add", (Expression("scale", (part.node,), 1 - weight), Expression("scale", (donor.node,), weight)))
    return with_part(first, part.position, mixed)


def _small_term(squared_norm: float, rng: np.random.Generator) -> Expression:
    return Expression("scale", (random_leaf(squared_norm, rng),), _small_weight(rng))


def _small_weight(rng: np.random.Generator) -> float:
    low, high = np.log(_WEIGHTS)
    return float(np.exp(rng.uniform(low, high)))


def _any(parts: list[Part], rng: np.random.Generator) -> Part:
    return parts[rng.integers(len(parts))]


_GROWN_DEPTH = 4
_MAX_DEGREE = 8
#: the mutations with their probabilities
_MUTATIONS: dict[Callable[..., Expression], float] = {
    step_values: 0.5,
    add_term: 0.1,
    add_factor: 0.05,
    remove_operator: 0.15,
    swap_alike: 0.1,
    wrap: 0.05,
    replace_leaf: 0.05,
}
#: mutations that draw new numbers, and therefore need the size of the data
_ENLARGING = (add_term, add_factor, wrap, replace_leaf)


class PsdGrammar(Grammar):
    """Kernels composed so that all their matrices are positive semidefinite (Koch et al. 2011, 2.3.2; Shawe-Taylor 2004, 3.22).

    Each carries its own positive numbers, varied by small steps of their logarithms; changes of the tree are small too.
    `squared_norm` is a typical |x|^2, about the number of standardised features.
    """

    crossover_share = 0.25

    def __init__(self, max_depth: int = 10, max_constants: int = 8, squared_norm: float = 1.0):
        super().__init__(max_depth, max_constants)
        if not 0 < as_float(squared_norm) < np.inf:
            raise SolverError(f"squared_norm={squared_norm!r}; use a positive, finite number")
        self.squared_norm = float(squared_norm)

    def grow(self, rng: np.random.Generator) -> Expression:
        """Return a small random kernel, of about four levels at most; see `Grammar.grow`."""
        deepest = int(rng.integers(1, min(self.max_depth, _GROWN_DEPTH) + 1))
        return self._settled(grow_kernel(deepest, self.squared_norm, rng))

    def mutate(self, expression: Expression, rng: np.random.Generator) -> Expression:
        """Change numbers or one part a little; see `Grammar.mutate`."""
        mutation = _drawn(_MUTATIONS, rng)
        size = (self.squared_norm,) if mutation in _ENLARGING else ()
        return self._settled(mutation(expression, *size, rng))

    def cross(self, first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
        """Mix in a part of the second with a small weight, or exchange a part (probability 1/4); see `Grammar.cross`."""
        if rng.random() < 0.25:
            return self._settled(cross_subtrees(first, second, rng))
        return self._settled(blend(first, second, rng))

    def is_valid(self, expression: Expression) -> bool:
        """Return whether an expression is a kernel of both inputs within the limits, with a degree in x_i of at most 8."""
        return (
            super().is_valid(expression)
            and all(node.block in PSD_BLOCKS and (node.value is None or node.value > 0) for node in expression.nodes())
            and degree(expression) <= _MAX_DEGREE
        )

    def value_bounds(self, expression: Expression) -> Floats:
        """Return the lowest and highest value (k, 2) of each number of an expression, for a search on a log scale."""
        carriers = (node.block for node in expression.nodes() if node.value is not None)
        return np.array([value_bounds(block, self.squared_norm) for block in carriers]).reshape(-1, 2)

    def _settled(self, expression: Expression) -> Expression:
        """Simplify, and clip the numbers to their bounds."""
        simple = simplified(expression)
        bounds = self.value_bounds(simple)
        return simple.with_values(np.clip(simple.values, bounds[:, 0], bounds[:, 1]).tolist())


def degree(expression: Expression) -> int:
    """Return the degree of a kernel as a polynomial of x_i; bounded blocks have degree 0."""
    if expression.block in ("linear", "norms"):
        return 1 if expression.block == "linear" else 2
    if expression.block in ("normalise", "exponential") or not expression.arguments:
        return 0
    degrees = [degree(child) for child in expression.arguments]
    if expression.block == "multiply":
        return sum(degrees)
    return max(degrees) * {"square": 2, "cube": 3}.get(expression.block, 1)

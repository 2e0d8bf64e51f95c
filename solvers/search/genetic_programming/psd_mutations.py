"""Small changes of kernels that are positive semidefinite by construction."""

from __future__ import annotations

import numpy as np

from spotsvm.solvers.kernels.expressions import Expression
from spotsvm.solvers.kernels.expressions.expression import Part, parts_of, with_part
from spotsvm.solvers.search.genetic_programming.psd_growth import random_leaf, with_random_value

_STEP = 0.3
_WEIGHTS = (0.02, 0.2)
# pairs of similar blocks, with the same number or the same argument
_ALIKE = {"gaussian": "rational", "rational": "gaussian", "square": "cube", "cube": "square"}
_WRAPPERS = ("square", "cube", "normalise", "exponential")


def step_values(expression: Expression, rng: np.random.Generator) -> Expression:
    """Multiply some of the numbers, at least one, by exp(0.3 z), z standard normal.

    Parameters
    ----------
    expression : Expression
        Any; it is returned unchanged if it carries no number.
    rng : numpy.random.Generator
        Generator of the random numbers.

    Examples
    --------
    >>> stepped = step_values(
    ...     Expression("gaussian", value=1.0), np.random.default_rng(0)
    ... )
    >>> 0.3 < stepped.value < 3.0 and stepped.value != 1.0
    True
    """
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

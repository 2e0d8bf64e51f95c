"""Shorter expressions of the same kernel: numbers are merged, and superfluous normalisations removed."""

from __future__ import annotations

from spotsvm.solvers.kernels.expressions.expression import Expression

_LARGEST = 1e100
_OF_UNIT_DIAGONAL = ("gaussian", "rational", "normalise")


def simplified(expression: Expression) -> Expression:
    """Merge numbers and remove superfluous blocks of a positive semidefinite kernel; values stay the same up to rounding.

    Factors are collected, products and powers of Gaussians become one, and nothing is normalised or scaled twice. Numbers are
    clipped to 1e-100 .. 1e100.
    """
    arguments = tuple(simplified(child) for child in expression.arguments)
    return _merged(Expression(expression.block, arguments, expression.value))


def _merged(node: Expression) -> Expression:
    if node.block in ("add", "multiply"):
        return _merged_pair(node)
    if len(node.arguments) != 1:
        return node
    (child,) = node.arguments
    if node.block == "scale":
        return _scaled(child, node.value or 0.0)
    if node.block in ("square", "cube"):
        return _power(node, child, 2 if node.block == "square" else 3)
    if node.block == "normalise" and child.block in _OF_UNIT_DIAGONAL:
        return child
    if (node.block, child.block) in (("normalise", "scale"), ("exponential", "scale"), ("exponential", "normalise")):
        return _merged(Expression(node.block, child.arguments, node.value))
    return node


def _merged_pair(node: Expression) -> Expression:
    first, second = node.arguments
    blocks = (first.block, second.block)
    v, w = first.value, second.value
    if node.block == "add":
        same = blocks in (("number", "number"), ("linear", "linear"))
        return _leaf(first.block, (v or 0.0) + (w or 0.0)) if same else node
    if blocks == ("gaussian", "gaussian"):
        return _leaf("gaussian", (v or 0.0) + (w or 0.0))
    for factor, other in ((first, second), (second, first)):
        if factor.block == "number" and (factor.value or 0.0) > 0:
            return _scaled(other, factor.value or 0.0)
        if factor.block == "scale":
            return _scaled(_merged(Expression("multiply", (factor.arguments[0], other))), factor.value or 0.0)
    return node


def _scaled(child: Expression, factor: float) -> Expression:
    if child.block == "number" and (child.value or 0.0) > 0:
        return _leaf("number", factor * (child.value or 0.0))
    if child.block == "linear":
        return _leaf("linear", factor * (child.value or 0.0))
    if child.block == "scale":
        return Expression("scale", child.arguments, _held(factor * (child.value or 0.0)))
    return child if factor == 1.0 else Expression("scale", (child,), _held(factor))


def _power(node: Expression, child: Expression, power: int) -> Expression:
    v = child.value or 0.0
    if child.block == "gaussian":
        return _leaf("gaussian", power * v)
    if child.block == "number" and v > 0:
        return _leaf("number", v**power)
    if child.block == "scale":
        return _scaled(_merged(Expression(node.block, child.arguments)), _held(v) ** power)
    return node


def _leaf(block: str, value: float) -> Expression:
    return Expression(block, value=_held(value))


def _held(value: float) -> float:
    return min(max(value, 1 / _LARGEST), _LARGEST) if value > 0 else value

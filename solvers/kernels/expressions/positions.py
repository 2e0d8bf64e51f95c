"""The nodes of an expression with their positions, and the replacement of a node."""

from __future__ import annotations

from typing import NamedTuple

from spotsvm.solvers.kernels.expressions.expression import Expression


class Part(NamedTuple):
    """A node of an expression, with its position.

    Parameters
    ----------
    position : tuple of int
        Which argument to take at each step from the root; empty for the root.
    node : Expression
        The part.
    """

    position: tuple[int, ...]
    node: Expression


def parts_of(expression: Expression) -> list[Part]:
    """List every node with its position, the root first.

    Parameters
    ----------
    expression : Expression
        Any.

    Examples
    --------
    >>> [
    ...     part.position
    ...     for part in parts_of(
    ...         Expression("add", (Expression("c1"), Expression("c2")))
    ...     )
    ... ]
    [(), (0,), (1,)]
    """
    parts = [Part((), expression)]
    for k, child in enumerate(expression.arguments):
        parts.extend(Part((k, *part.position), part.node) for part in parts_of(child))
    return parts


def with_part(expression: Expression, position: tuple[int, ...], new: Expression) -> Expression:
    """Replace a part.

    Parameters
    ----------
    expression : Expression
        Any.
    position : tuple of int
        The position of the part.
    new : Expression
        The replacement, of the same type.

    Raises
    ------
    SolverError
        If the replacement has another type, or the new expression is too large.

    Examples
    --------
    >>> with_part(
    ...     Expression("add", (Expression("c1"), Expression("c2"))),
    ...     (1,),
    ...     Expression("c3"),
    ... ).text()
    'c1 + c3'
    """
    if not position:
        return new
    k, *rest = position
    arguments = list(expression.arguments)
    arguments[k] = with_part(arguments[k], tuple(rest), new)
    return Expression(expression.block, tuple(arguments), expression.value)

"""A canonical form for kernel expressions that differ in the order of commuting arguments or the names of constants."""

from __future__ import annotations

from typing import Any

from spotsvm.solvers.kernels.expressions import CONSTANTS, Expression

_COMMUTING = {"add", "multiply", "add_vectors", "inner_product", "squared_distance"}
_SWAPPED = {"x_i": "x_j", "x_j": "x_i"}


def canonical_key(expression: Expression) -> tuple[Any, ...]:
    """Return a key that is equal for expressions whose forms show that they are the same kernel.

    The key does not depend on the order of commuting arguments; on an exchange of x_i and x_j throughout, as a kernel is
    symmetric; or on the names of symbolic constants, as the search treats all constants alike.

    Parameters
    ----------
    expression : Expression
        A kernel.

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

"""One form for kernel expressions that differ in the order of commuting arguments or in the names of constants."""

from __future__ import annotations

from typing import Any

from spotsvm.solvers.kernels.expressions import CONSTANTS, Expression

_COMMUTING = {"add", "multiply", "add_vectors", "inner_product", "squared_distance"}
_SWAPPED = {"x_i": "x_j", "x_j": "x_i"}


def canonical_key(expression: Expression) -> tuple[Any, ...]:
    """Return a key that is the same for expressions that are the same kernel by their form.

    Arguments of commuting blocks may be in any order, x_i and x_j may be exchanged throughout, as a kernel is symmetric, and
    symbolic constants may be renamed, as a design tries values of each alike.

    Parameters
    ----------
    expression : Expression
        A kernel.

    Examples
    --------
    >>> one, two = Expression("c1"), Expression("c2")
    >>> product = Expression("inner_product", (Expression("x_i"), Expression("x_j")))
    >>> canonical_key(Expression("add", (product, two))) == canonical_key(Expression("add", (one, product)))
    True
    """
    return min(_renamed(_sorted(expression, swap)) for swap in (False, True))


def _sorted(node: Expression, swap: bool) -> tuple[Any, ...]:
    arguments = [_sorted(child, swap) for child in node.arguments]
    name = node.block
    if name == "vector_times_scalar":
        name, arguments = "scalar_times_vector", arguments[::-1]
    if name in _COMMUTING:
        # the names of constants come last: what is without them decides first
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

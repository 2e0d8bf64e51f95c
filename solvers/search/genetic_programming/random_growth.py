"""Random expressions of the paper's search space, of a required type."""

from __future__ import annotations

import numpy as np

from spotsvm.solvers.kernels.expressions import PAPER_BLOCKS, Expression
from spotsvm.solvers.kernels.expressions.expression import Block, Type

_FUNCTION_SHARE = 0.5


def _by_result() -> tuple[dict[Type, list[Block]], dict[Type, list[Block]]]:
    functions: dict[Type, list[Block]] = {"scalar": [], "vector": []}
    leaves: dict[Type, list[Block]] = {"scalar": [], "vector": []}
    for block in PAPER_BLOCKS.values():
        (functions if block.arguments else leaves)[block.result].append(block)
    return functions, leaves


_FUNCTIONS, _LEAVES = _by_result()


def grow_subtree(wanted: Type, max_depth: int, rng: np.random.Generator) -> Expression:
    """Grow a random expression of Table 1's building blocks.

    A node is a function with probability 1/2 while there is depth left, and a leaf otherwise; all functions, and all leaves, of
    the required type are equally likely.

    Parameters
    ----------
    wanted : {"scalar", "vector"}
        Type of the expression.
    max_depth : int
        Maximum number of levels, at least 1.
    rng : numpy.random.Generator
        Generator of the random numbers.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", Tables 1 and
    3; Koza 1992, "Genetic Programming", section 6.2, the "grow" method.

    Examples
    --------
    >>> grow_subtree("vector", 1, np.random.default_rng(0)).block in ("x_i", "x_j")
    True
    """
    blocks = _FUNCTIONS if max_depth > 1 and rng.random() < _FUNCTION_SHARE else _LEAVES
    block = blocks[wanted][rng.integers(len(blocks[wanted]))]
    return Expression(block.name, tuple(grow_subtree(kind, max_depth - 1, rng) for kind in block.arguments))


def grow_function(wanted: Type, max_depth: int, rng: np.random.Generator) -> Expression:
    """Grow a random expression whose root is a function; as `grow_subtree`, with max_depth at least 2."""
    block = _FUNCTIONS[wanted][rng.integers(len(_FUNCTIONS[wanted]))]
    return Expression(block.name, tuple(grow_subtree(kind, max_depth - 1, rng) for kind in block.arguments))

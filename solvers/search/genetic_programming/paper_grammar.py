"""The paper's space of kernels and its three type-safe operators."""

from __future__ import annotations

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.expressions import PAPER_BLOCKS, Expression
from spotsvm.solvers.kernels.expressions.expression import Block, Type, parts_of, with_part
from spotsvm.solvers.search.genetic_programming.grammar import Grammar

_FUNCTION_SHARE = 0.5


def _by_result() -> tuple[dict[Type, list[Block]], dict[Type, list[Block]]]:
    functions: dict[Type, list[Block]] = {"scalar": [], "vector": []}
    leaves: dict[Type, list[Block]] = {"scalar": [], "vector": []}
    for block in PAPER_BLOCKS.values():
        (functions if block.arguments else leaves)[block.result].append(block)
    return functions, leaves


_FUNCTIONS, _LEAVES = _by_result()


def grow_subtree(wanted: Type, max_depth: int, rng: np.random.Generator) -> Expression:
    """Grow a random expression of Table 1's blocks (Koch et al. 2011; Koza 1992, section 6.2, "grow").

    A node is a function with probability 1/2 while there is depth left, else a leaf; all of the required type are equally likely.
    """
    blocks = _FUNCTIONS if max_depth > 1 and rng.random() < _FUNCTION_SHARE else _LEAVES
    block = blocks[wanted][rng.integers(len(blocks[wanted]))]
    return Expression(block.name, tuple(grow_subtree(kind, max_depth - 1, rng) for kind in block.arguments))


def grow_function(wanted: Type, max_depth: int, rng: np.random.Generator) -> Expression:
    """Grow a random expression whose root is a function; as `grow_subtree`, with max_depth at least 2."""
    block = _FUNCTIONS[wanted][rng.integers(len(_FUNCTIONS[wanted]))]
    return Expression(block.name, tuple(grow_subtree(kind, max_depth - 1, rng) for kind in block.arguments))


class PaperGrammar(Grammar):
    """The strongly typed search space of Koch et al. 2011 (section 2.3.2, Tables 1 and 3), with symbolic constants c1 to c4.

    A variation takes, with equal chances, another label of the same types, a new subtree, or a subtree of the other parent. Not
    every expression is a kernel: its matrix must be checked.
    """

    crossover_share = 1 / 3

    def __init__(self, max_depth: int = 10, max_constants: int = 4):
        super().__init__(max_depth, max_constants)
        if self.max_depth < 2:
            raise SolverError(f"max_depth={max_depth!r}; no expression of one level has both inputs: use 2 or more")

    def grow(self, rng: np.random.Generator) -> Expression:
        """Return a random scalar expression; see `Grammar.grow`."""
        return grow_function("scalar", int(rng.integers(2, self.max_depth + 1)), rng)

    def mutate(self, expression: Expression, rng: np.random.Generator) -> Expression:
        """Replace a label or a node; see `Grammar.mutate`."""
        if rng.random() < 0.5:
            return replace_label(expression, rng)
        return replace_node(expression, self.max_depth, rng)

    def cross(self, first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
        """Exchange a subtree; see `Grammar.cross`."""
        return cross_subtrees(first, second, rng)


def replace_label(expression: Expression, rng: np.random.Generator) -> Expression:
    """Replace the label of a function by another label with the same types, if there is such a function."""
    choices = [(part, others) for part in parts_of(expression) if (others := _other_labels(part.node))]
    if not choices:
        return expression
    part, others = choices[rng.integers(len(choices))]
    return with_part(expression, part.position, Expression(others[rng.integers(len(others))], part.node.arguments))


def _other_labels(node: Expression) -> list[str]:
    block = PAPER_BLOCKS.get(node.block)
    if block is None or not block.arguments:
        return []
    return [
        other.name
        for other in PAPER_BLOCKS.values()
        if other != block and (other.arguments, other.result) == (block.arguments, block.result)
    ]


def replace_node(expression: Expression, max_depth: int, rng: np.random.Generator) -> Expression:
    """Replace a node by a new subtree of its type, within the maximum depth."""
    parts = parts_of(expression)
    part = parts[rng.integers(len(parts))]
    return with_part(expression, part.position, grow_subtree(part.node.type, max(1, max_depth - len(part.position)), rng))


def cross_subtrees(first: Expression, second: Expression, rng: np.random.Generator) -> Expression:
    """Replace a subtree of the first expression by a subtree of the second that has the same type."""
    parts = parts_of(first)
    part = parts[rng.integers(len(parts))]
    donors = [node for node in second.nodes() if node.type == part.node.type]
    if not donors:
        return first
    return with_part(first, part.position, donors[rng.integers(len(donors))])

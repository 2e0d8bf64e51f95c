"""The building blocks of kernel expressions: names, argument and result types, and whether a block carries a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Type = Literal["scalar", "vector"]
Values = Literal["none", "any", "positive"]


@dataclass(frozen=True)
class Block:
    """A building block of expressions.

    Parameters
    ----------
    name : str
        Its name in expressions and in files.
    arguments : tuple of {"scalar", "vector"}
        The argument types, in order; empty for a leaf.
    result : {"scalar", "vector"}
        The result type.
    values : {"none", "any", "positive"}
        Whether the block carries no number, any finite number, or a positive number.
    inputs : frozenset of str
        The inputs, "x_i" and "x_j", that the block itself depends on.
    """

    name: str
    arguments: tuple[Type, ...]
    result: Type
    values: Values = "none"
    inputs: frozenset[str] = frozenset()


_BOTH = frozenset({"x_i", "x_j"})

CONSTANTS = ("c1", "c2", "c3", "c4")

# Table 1 of Koch 2011; an operator that is overloaded there has a name for each type here
_OF_THE_PAPER = (
    *(Block(name, (), "scalar") for name in CONSTANTS),
    *(Block(name, (), "vector", inputs=frozenset({name})) for name in ("x_i", "x_j")),
    *(Block(name, ("scalar",), "scalar") for name in ("exp", "square")),
    *(Block(name, ("scalar", "scalar"), "scalar") for name in ("add", "subtract", "multiply", "divide")),
    *(Block(name, ("vector", "vector"), "vector") for name in ("add_vectors", "subtract_vectors")),
    *(Block(name, ("vector", "vector"), "scalar") for name in ("inner_product", "squared_distance")),
    Block("scalar_times_vector", ("scalar", "vector"), "vector"),
    Block("vector_times_scalar", ("vector", "scalar"), "vector"),
)

# blocks that keep a matrix positive semidefinite, in addition to "add", "multiply" and "square"
_OF_KERNELS = (
    Block("number", (), "scalar", "any"),
    Block("linear", (), "scalar", "positive", _BOTH),
    Block("gaussian", (), "scalar", "positive", _BOTH),
    Block("rational", (), "scalar", "positive", _BOTH),
    Block("norms", (), "scalar", "positive", _BOTH),
    Block("damping", (), "scalar", "positive", _BOTH),
    Block("scale", ("scalar",), "scalar", "positive"),
    Block("cube", ("scalar",), "scalar"),
    Block("normalise", ("scalar",), "scalar"),
    Block("exponential", ("scalar",), "scalar", "positive"),
)

PAPER_BLOCKS = {block.name: block for block in _OF_THE_PAPER}
BLOCKS = PAPER_BLOCKS | {block.name: block for block in _OF_KERNELS}

#: maximum levels and nodes of an expression, far more than any grown expression has: they bound recursion over a tree, and the
#: time that a hostile file can cost
MAX_DEPTH, MAX_SIZE = 64, 10_000

"""Kernel functions as typed expression trees, stored as plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from spotsvm.errors import SolverError
from spotsvm.solvers.checked_numbers import as_float

_LENGTH = 40


def shown(content: Any) -> str:
    """Show a number or a short string as it is, and only the type of other data: traversing hostile data may not end."""
    if isinstance(content, int) and not isinstance(content, bool) and abs(content) >= 10**_LENGTH:
        return "a whole number of more than 40 digits"
    if content is None or isinstance(content, (bool, int, float)):
        return repr(content)
    if isinstance(content, str):
        text = repr(content[:_LENGTH])
        return text if len(content) <= _LENGTH else text + "..."
    return f"a {type(content).__name__}"


Type = Literal["scalar", "vector"]
Values = Literal["none", "any", "positive"]


@dataclass(frozen=True)
class Block:
    """A building block of expressions; one without arguments is a leaf.

    `values` says whether it carries no number, any finite, or a positive one, and `inputs` on which of "x_i" and "x_j" it depends
    itself.
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


@dataclass(frozen=True)
class Expression:
    """A kernel k(x_i, x_j), or a part of one, as a tree of building blocks.

    =============================================== ===================== ===================================
    block                                           takes                 gives
    =============================================== ===================== ===================================
    `"c1"` ... `"c4"`                               nothing               a symbolic constant
    `"x_i"`, `"x_j"`                                nothing               a vector, the first or second input
    `"exp"`, `"square"`                             a scalar              a scalar
    `"add"`, `"subtract"`, `"multiply"`, `"divide"` two scalars           a scalar
    `"add_vectors"`, `"subtract_vectors"`           two vectors           a vector
    `"inner_product"`, `"squared_distance"`         two vectors           a scalar
    `"scalar_times_vector"`                         a scalar and a vector a vector
    `"vector_times_scalar"`                         a vector and a scalar a vector
    `"number"`                                      nothing               v
    `"linear"`                                      nothing               `v <x_i, x_j>`
    `"gaussian"`                                    nothing               `exp(-v d^2)`, `d = ||x_i - x_j||`
    `"rational"`                                    nothing               `1 / (1 + v d^2)`
    `"norms"`                                       nothing               `(v |x_i|^2) (v |x_j|^2)`
    `"damping"`                                     nothing               `exp(-v |x_i|^2) exp(-v |x_j|^2)`
    `"scale"`                                       a scalar k            `v k`
    `"cube"`                                        a scalar k            `k^3`
    `"normalise"`                                   a scalar k            `k / sqrt(k(x_i, x_i) k(x_j, x_j))`
    `"exponential"`                                 a scalar k            `exp(v (normalise(k) - 1))`
    =============================================== ===================== ===================================

    The blocks down to "vector_times_scalar" are the paper's search space. Most of those from "number" on carry a number v;
    together with "add", "multiply" and "square" they give positive semidefinite matrices for all data, if no "number" is
    negative. Where k(x, x) is 0, "normalise" is 0.

    Parameters
    ----------
    block : str
        The block at the root.
    arguments : tuple of Expression
        Its arguments.
    value : float, optional
        The number v, only for blocks that carry a number: finite, and positive except for "number".

    Raises
    ------
    SolverError
        If the block is unknown, an argument is missing or of the wrong type, the number is missing or out of range, or the
        tree has more than 64 levels or 10,000 nodes.

    References
    ----------
    Koch, Bischl, Flasch, Bartz-Beielstein, Konen 2011, "On the Tuning and Evolution of Support Vector Kernels", Table 1.

    Examples
    --------
    >>> x_i, x_j = Expression("x_i"), Expression("x_j")
    >>> polynomial = Expression(
    ...     "square", (Expression("inner_product", (x_i, x_j)),)
    ... )
    >>> polynomial.text(), polynomial.depth, polynomial.size
    ('<x_i, x_j>^2', 3, 4)
    >>> Expression("gaussian", value=0.5).text()
    'exp(-0.5 * |x_i - x_j|^2)'
    """

    block: str
    arguments: tuple[Expression, ...] = ()
    value: float | None = None
    depth: int = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)
    constants: tuple[str, ...] = field(init=False, repr=False, compare=False)
    inputs: frozenset[str] = field(init=False, repr=False, compare=False)
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        block = BLOCKS.get(self.block) if isinstance(self.block, str) else None
        if block is None:
            raise SolverError(f"block={shown(self.block)} is unknown; use one of {', '.join(BLOCKS)}")
        _check_arguments(block, self.arguments)
        used = {c for child in self.arguments for c in child.constants} | ({self.block} & set(CONSTANTS))
        derived = {
            "value": _checked_value(block, self.value),
            "depth": 1 + max((child.depth for child in self.arguments), default=0),
            "size": 1 + sum(child.size for child in self.arguments),
            "constants": tuple(c for c in CONSTANTS if c in used),
            "inputs": block.inputs.union(*(child.inputs for child in self.arguments)),
        }
        derived["_hash"] = hash((self.block, self.arguments, derived["value"]))
        for name, content in derived.items():
            object.__setattr__(self, name, content)
        if self.depth > MAX_DEPTH or self.size > MAX_SIZE:
            raise SolverError(
                f"the expression has {self.depth} levels and {self.size} nodes; "
                f"use at most {MAX_DEPTH} levels and {MAX_SIZE} nodes"
            )

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type[Expression], tuple[Any, ...]]:
        # rebuilt when unpickled: hashes of strings differ between processes
        return Expression, (self.block, self.arguments, self.value)

    @property
    def type(self) -> Type:
        """The result type, "scalar" or "vector"."""
        return BLOCKS[self.block].result

    def nodes(self) -> Iterator[Expression]:
        """Yield every node, the root first, then the nodes of each argument in turn.

        Yields
        ------
        Expression
            A node of the tree.
        """
        yield self
        for child in self.arguments:
            yield from child.nodes()

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers of the nodes, in the order of `nodes`."""
        return tuple(node.value for node in self.nodes() if node.value is not None)

    def with_values(self, values: Sequence[float]) -> Expression:
        """Return the same tree with other numbers.

        Parameters
        ----------
        values : sequence of float
            New numbers in the order of the property `values`, and equally many.

        Returns
        -------
        Expression
            The tree with these numbers.

        Raises
        ------
        SolverError
            If there are too few or too many numbers, or a number is out of range.

        Examples
        --------
        >>> Expression("gaussian", value=0.5).with_values([2.0]).text()
        'exp(-2 * |x_i - x_j|^2)'
        """
        if len(values) != len(self.values):
            raise SolverError(f"values has {len(values)} entries; the expression carries {len(self.values)} numbers")
        remaining = iter(values)
        return self._with_next(remaining)

    def _with_next(self, remaining: Iterator[float]) -> Expression:
        value = None if self.value is None else next(remaining)
        return Expression(self.block, tuple(child._with_next(remaining) for child in self.arguments), value)

    def bind(self, constants: Mapping[str, float]) -> Expression:
        """Replace symbolic constants by numbers; constants that are not named stay symbolic.

        Parameters
        ----------
        constants : mapping of str to float
            Finite values for some of "c1" to "c4".

        Returns
        -------
        Expression
            The expression with numbers in place of the constants named.

        Examples
        --------
        >>> Expression("add", (Expression("c1"), Expression("c2"))).bind(
        ...     {"c1": 0.5}
        ... ).text()
        '0.5 + c2'
        """
        if self.block in constants:
            return Expression("number", value=constants[self.block])
        if not self.constants:
            return self
        return Expression(self.block, tuple(child.bind(constants) for child in self.arguments), self.value)

    def text(self) -> str:
        """Return the formula as plain text, with numbers of four digits.

        Returns
        -------
        str
            The formula.
        """
        from spotsvm.solvers.kernels.expressions.formula import text_formula

        return text_formula(self)

    def latex(self) -> str:
        """Return the formula in LaTeX math mode, with numbers of four digits.

        Returns
        -------
        str
            The formula.
        """
        from spotsvm.solvers.kernels.expressions.formula import latex_formula

        return latex_formula(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries, lists, strings and numbers that JSON can store.

        Returns
        -------
        dict
            The tree.
        """
        content: dict[str, Any] = {"block": self.block}
        if self.value is not None:
            content["value"] = self.value
        if self.arguments:
            content["arguments"] = [child.to_dict() for child in self.arguments]
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Expression:
        """Read the result of `to_dict` and check all of it; nothing is executed.

        Parameters
        ----------
        content : mapping
            A "block", with "arguments" and "value" if the block has them.

        Returns
        -------
        Expression
            The expression.

        Raises
        ------
        SolverError
            If the mapping is invalid; the message says what is wrong and where.

        Examples
        --------
        >>> Expression.from_dict(
        ...     {"block": "square", "arguments": [{"block": "c1"}]}
        ... ).text()
        'c1^2'
        """
        return _read(content)

    @classmethod
    def from_json(cls, text: str) -> Expression:
        """Read an expression from the text of a JSON file, checking all of it.

        Parameters
        ----------
        text : str
            The result of `json.dumps(expression.to_dict())`.

        Returns
        -------
        Expression
            The expression.

        Raises
        ------
        SolverError
            If the text is not JSON, or not an expression.
        """
        try:
            content = json.loads(text)
        except RecursionError:
            raise SolverError(f"the JSON text is nested too deep; an expression has at most {MAX_DEPTH} levels") from None
        except (ValueError, TypeError) as error:
            raise SolverError(f"the text is not JSON: {error}") from error
        return _read(content)


def _check_arguments(block: Block, arguments: Any) -> None:
    if not isinstance(arguments, tuple) or not all(isinstance(child, Expression) for child in arguments):
        raise SolverError(f"arguments={shown(arguments)} of {block.name!r}; use a tuple of expressions")
    types = tuple(child.type for child in arguments)
    if types != block.arguments:
        raise SolverError(f"{block.name!r} takes {_listed(block.arguments)}; it was given {_listed(types)}")


def _listed(types: Sequence[str]) -> str:
    return f"({', '.join(types)})" if types else "no arguments"


def _checked_value(block: Block, value: Any) -> float | None:
    if block.values == "none":
        if value is not None:
            raise SolverError(f"value={shown(value)}; the block {block.name!r} carries no number")
        return None
    number = as_float(value)
    if not np.isfinite(number) or (block.values == "positive" and number <= 0):
        allowed = "a positive, finite number" if block.values == "positive" else "a finite number"
        raise SolverError(f"value={shown(value)} of the block {block.name!r}; use {allowed}")
    return number


_KEYS = {"block", "arguments", "value"}


@dataclass
class _Unread:
    """A node whose arguments are being read."""

    block: str
    value: Any
    waiting: list[Any]
    place: str
    done: list[Any] = field(default_factory=list)


def _read(content: Any) -> Expression:
    # with an explicit stack: a file of 10^5 levels must raise a clear error
    stack = [_opened(content, "expression")]
    n_nodes = 1
    while True:
        node = stack[-1]
        if node.waiting:
            place = f"{node.place}.arguments[{len(node.done)}]"
            stack.append(_opened(node.waiting.pop(), place))
            n_nodes += 1
            if len(stack) > MAX_DEPTH or n_nodes > MAX_SIZE:
                what = f"{MAX_DEPTH} levels" if len(stack) > MAX_DEPTH else f"{MAX_SIZE} nodes"
                raise SolverError(f"the expression has more than {what}; it was not written by this library")
            continue
        try:
            expression = Expression(node.block, tuple(node.done), node.value)
        except SolverError as error:
            raise SolverError(f"{node.place}: {error}") from None
        stack.pop()
        if not stack:
            return expression
        stack[-1].done.append(expression)


def _opened(content: Any, place: str) -> _Unread:
    if not isinstance(content, Mapping):
        raise SolverError(f"{place} is {shown(content)}; use a mapping with a 'block'")
    unknown = [key for key in content if not isinstance(key, str) or key not in _KEYS]
    if unknown or "block" not in content:
        wrong = f"has the key {shown(unknown[0])}" if unknown else "has no 'block'"
        raise SolverError(f"{place} {wrong}; its keys are 'block', 'arguments' and 'value'")
    name = content["block"]
    if not isinstance(name, str) or name not in BLOCKS:
        raise SolverError(f"{place} has the unknown block {shown(name)}; use one of {', '.join(BLOCKS)}")
    arguments = content.get("arguments", [])
    if not isinstance(arguments, (list, tuple)):
        raise SolverError(f"the arguments of {place} are {shown(arguments)}; use a list of mappings")
    wanted = len(BLOCKS[name].arguments)
    if len(arguments) != wanted:
        raise SolverError(f"{place} has {len(arguments)} arguments; the block {name!r} takes {wanted}")
    return _Unread(name, content.get("value"), list(reversed(arguments)), place)


class Part(NamedTuple):
    """A node of an expression, with its position: the argument to take at each step from the root."""

    position: tuple[int, ...]
    node: Expression


def parts_of(expression: Expression) -> list[Part]:
    """List every node with its position (the indices of arguments from the root), the root first."""
    parts = [Part((), expression)]
    for k, child in enumerate(expression.arguments):
        parts.extend(Part((k, *part.position), part.node) for part in parts_of(child))
    return parts


def with_part(expression: Expression, position: tuple[int, ...], new: Expression) -> Expression:
    """Replace the part at a position; SolverError if the new part has another type or the result is too large."""
    if not position:
        return new
    k, *rest = position
    arguments = list(expression.arguments)
    arguments[k] = with_part(arguments[k], tuple(rest), new)
    return Expression(expression.block, tuple(arguments), expression.value)

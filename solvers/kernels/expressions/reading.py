"""Read an expression from data that may be damaged or hostile."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from spotsvm.errors import SolverError
from spotsvm.solvers.kernels.expressions.blocks import BLOCKS, MAX_DEPTH, MAX_SIZE
from spotsvm.solvers.kernels.expressions.shown import shown

T = TypeVar("T")

_KEYS = {"block", "arguments", "value"}


@dataclass
class _Node:
    """A node whose arguments are being read."""

    block: str
    value: Any
    waiting: list[Any]
    place: str
    done: list[Any] = field(default_factory=list)


def read_mapping(make: Callable[..., T], content: Mapping[str, Any]) -> T:
    """Read a mapping as `Expression.from_dict` does; `make` is the class `Expression`."""
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
        expression = _closed(make, stack.pop())
        if not stack:
            return expression
        stack[-1].done.append(expression)


def read_json(make: Callable[..., T], text: str) -> T:
    """Read a JSON text as `Expression.from_json` does; `make` is the class `Expression`."""
    try:
        content = json.loads(text)
    except RecursionError:
        raise SolverError(f"the JSON text is nested too deep; an expression has at most {MAX_DEPTH} levels") from None
    except (ValueError, TypeError) as error:
        raise SolverError(f"the text is not JSON: {error}") from error
    return read_mapping(make, content)


def _opened(content: Any, place: str) -> _Node:
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
    return _Node(name, content.get("value"), list(reversed(arguments)), place)


def _closed(make: Callable[..., T], node: _Node) -> T:
    try:
        return make(node.block, tuple(node.done), node.value)
    except SolverError as error:
        raise SolverError(f"{node.place}: {error}") from None

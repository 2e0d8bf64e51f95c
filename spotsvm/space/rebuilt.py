"""A space that can be searched again, from its description and the code of its parameters in a record."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from spotsvm.errors import SpaceError
from spotsvm.space.description import described_parameter, is_parameter_code, same_parameter, scale_of
from spotsvm.space.parameter import Parameter, make_parameter
from spotsvm.space.space import Space


def rebuilt_space(description: Any, code: Any = None) -> Space:
    """Return the space that a record describes, so that its points decode to the same values as when they were asked for.

    `code` of the parameters (`parameter_code`) is read, not executed; without it, only uniform and log-uniform distributions,
    integers, numbers and texts can be rebuilt, else SpaceError.
    """
    Space.described(description)  # raises SpaceError for an invalid description
    codes = code if isinstance(code, list) and len(code) == len(description) else []
    return Space(
        [
            {
                name: _parameter(name, what, texts.get(name) if isinstance(texts, Mapping) else None)
                for name, what in branch.items()
            }
            for branch, texts in zip_longest(description, codes)
        ]
    )


def _parameter(name: str, description: Mapping[str, Any], code: Any) -> Parameter:
    if code and is_parameter_code(code):
        found = make_parameter(name, _of_code(code))
        if same_parameter(description, found.describe()):
            return found
    found = described_parameter(name, description)
    if found.known_by_text:
        raise SpaceError(f"{name} has values that are known by their texts only, such as {found.known_by_text[0]!r:.80}")
    if scale_of(found) == "quantiles":
        raise SpaceError(f"{name} has a distribution of which only some quantiles are known")
    return found


def _of_code(code: str) -> Any:
    """Return the distribution or the list that a code stands for, of those that `is_parameter_code` accepts."""
    from scipy import stats  # on use: it takes a while

    tree = ast.parse(code, mode="eval").body
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        return ast.literal_eval(code)
    arguments = [ast.literal_eval(part) for part in tree.args]
    return getattr(stats, tree.func.id)(*arguments, **{str(one.arg): ast.literal_eval(one.value) for one in tree.keywords})

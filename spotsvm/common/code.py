"""Python code that repeats a run: scripts with their imports, values as code, and the code of a literal as its value."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

#: longest line of code, in characters
WIDTH = 100


class Script:
    """Complete Python code: lines and their imports. Only public names of spotsvm are used.

    Examples
    --------
    >>> script = Script("print(Study)")
    >>> script.use("spotsvm", "Study")
    >>> script.use("scipy.stats", "uniform", "randint")
    >>> print(script)
    from scipy.stats import randint, uniform
    <BLANKLINE>
    from spotsvm import Study
    <BLANKLINE>
    print(Study)
    """

    def __init__(self, *lines: str):
        self.lines = list(lines)
        self._names: dict[str, set[str]] = {}

    def use(self, module: str, *names: str) -> None:
        """Import names from a module."""
        if names:
            self._names.setdefault(module, set()).update(names)

    def include(self, other: Script) -> None:
        """Append another script, with its imports."""
        for module, names in other._names.items():
            self.use(module, *names)
        self.lines += other.lines

    def __str__(self) -> str:
        imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self._names.items())]
        ours = [line for line in imports if line.startswith("from spotsvm")]
        blocks = [[line for line in imports if line not in ours], ours, self.lines]
        return "\n\n".join("\n".join(block) for block in blocks if block)


def literal(code: str) -> Any:
    """Return the value of a Python literal; Ellipsis if the code is not a literal.

    Examples
    --------
    >>> literal("[1, 'a']"), literal("print()")
    ([1, 'a'], Ellipsis)
    """
    try:
        return ast.literal_eval(code)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return ...


def value_code(value: Any) -> str:
    """Return the literal of a value, which restores the same type (text for a path); empty if there is no literal.

    Examples
    --------
    >>> (
    ...     value_code([1, "a"]),
    ...     value_code((0.5, None)),
    ...     value_code(range(3)),
    ...     value_code([True]),
    ...     value_code(float("nan")),
    ... )
    ("[1, 'a']", '(0.5, None)', '', '[True]', '')
    """
    if isinstance(value, PurePath):
        return repr(str(value))
    code = repr(value)
    again = literal(code)
    if type(again) is not type(value) or (again == value) is not True:
        return ""
    entries = zip(again, value, strict=True) if isinstance(value, list | tuple) else ()
    return code if all(type(one) is type(other) for one, other in entries) else ""


def mapping_code(entries: Mapping[str, str]) -> str:
    """Return the code of a dictionary from the code of its values, on several lines if it is long.

    Examples
    --------
    >>> mapping_code({"C": "loguniform(0.1, 10.0)"})
    "{'C': loguniform(0.1, 10.0)}"
    """
    pairs = [f"{name!r}: {text}" for name, text in entries.items()]
    whole = f"{{{', '.join(pairs)}}}"
    return whole if len(whole) <= WIDTH else "{\n" + "".join(f"    {pair},\n" for pair in pairs) + "}"


def params_code(params: Mapping[str, Any]) -> str:
    """Return the code of a dictionary of parameters; numpy numbers become Python numbers, and other objects their repr.

    Examples
    --------
    >>> import numpy as np
    >>> params_code({"C": np.float64(0.5), "kernel": "rbf"})
    "{'C': 0.5, 'kernel': 'rbf'}"
    """
    return mapping_code({name: repr(value.item() if hasattr(value, "item") else value) for name, value in params.items()})

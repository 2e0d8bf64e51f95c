"""Python code that repeats a run: scripts with their imports, values as code, and the code of a literal as its value."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

#: longest line of code, in characters
WIDTH = 100


class Script:
    """Complete Python code: lines and their imports. Only public names of spotsvm are used."""

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
    """Return the value of a Python literal; Ellipsis if the code is not a literal."""
    try:
        return ast.literal_eval(code)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return ...


def value_code(value: Any) -> str:
    """Return the literal of a value, which restores the same type (text for a path); empty if there is no literal."""
    if isinstance(value, PurePath):
        return repr(str(value))
    code = repr(value)
    again = literal(code)
    if type(again) is not type(value) or (again == value) is not True:
        return ""
    entries = zip(again, value, strict=True) if isinstance(value, list | tuple) else ()
    return code if all(type(one) is type(other) for one, other in entries) else ""


def mapping_code(entries: Mapping[str, str]) -> str:
    """Return the code of a dictionary from the code of its values, on several lines if it is long."""
    pairs = [f"{name!r}: {text}" for name, text in entries.items()]
    whole = f"{{{', '.join(pairs)}}}"
    return whole if len(whole) <= WIDTH else "{\n" + "".join(f"    {pair},\n" for pair in pairs) + "}"


def params_code(params: Mapping[str, Any]) -> str:
    """Return the code of a dictionary of parameters; numpy numbers become Python numbers, and other objects their repr."""
    return mapping_code({name: repr(value.item() if hasattr(value, "item") else value) for name, value in params.items()})

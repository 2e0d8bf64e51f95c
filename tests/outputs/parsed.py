"""Sources of the library as trees. Several tests read all of them: each source is parsed once in a process."""

import ast
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    return ast.parse(source)

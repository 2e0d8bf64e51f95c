"""Docstrings: the public ones are complete, those of everything else have at most three lines of text."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from parsed import parsed

ROOT = Path(__file__).parent.parent
FOLDERS = ("surrogates", "solvers", "spotsvm", "studies")
TREES = {
    path.relative_to(ROOT).as_posix(): parsed(path.read_text(encoding="utf-8"))
    for folder in FOLDERS
    for path in sorted((ROOT / folder).rglob("*.py"))
}
#: the names that a page of the reference describes
LISTED = {name.rpartition(".")[2] for name in re.findall(r"^   ([\w.]+)$", (ROOT / "docs" / "reference.rst").read_text(), re.M)}
#: the studies: the command and their pages show what their classes say
STUDIES = {"Experiment"} | {
    node.name
    for tree in TREES.values()
    for node in tree.body
    if isinstance(node, ast.ClassDef) and "Experiment" in map(ast.unparse, node.bases)
}
Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def base_names(node: ast.ClassDef) -> set[str]:
    """Return the names of a class's bases, without modules and type arguments."""
    return {ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in node.bases}


def with_bases(names: set[str], trees: dict[str, ast.Module]) -> set[str]:
    """Return names and those of all classes that they inherit from: their public members stand on the same pages."""
    bases: dict[str, set[str]] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                bases.setdefault(node.name, set()).update(base_names(node))
    reached, new = set(names), set(names)
    while new:
        new = {base for name in new for base in bases.get(name, ())} - reached
        reached |= new
    return reached


def internal(node: ast.AST, shared: set[str], path: str = "", in_shared: bool = False) -> Iterator[tuple[str, Definition]]:
    """Return the definitions of a module that no page describes, with their names."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            is_listed = child.name in LISTED | STUDIES if not path else in_shared and not child.name.startswith("_")
            if not is_listed:
                yield path + child.name, child
            of_shared = isinstance(child, ast.ClassDef) and not path and child.name in shared
            yield from internal(child, shared, f"{path}{child.name}.", of_shared)
        else:
            yield from internal(child, shared, path, in_shared)


def too_long(tree: ast.Module, shared: set[str]) -> list[str]:
    texts = [(name, ast.get_docstring(node) or "") for name, node in internal(tree, shared)]
    return [name for name, text in texts if sum(bool(line.strip()) for line in text.splitlines()) > 3]


def test_internal_docstrings_have_at_most_three_lines():
    shared = with_bases(LISTED | STUDIES, TREES)
    assert {path: names for path, tree in TREES.items() if (names := too_long(tree, shared))} == {}


@pytest.mark.parametrize(("lines", "expected"), [(3, []), (4, ["helper", "Study._inner", "Helper", "Helper.method"])])
def test_what_is_internal(lines, expected):
    text = '"""Summary.\n\n' + "More.\n" * (lines - 1) + '"""'
    method = "\n".join(f"        {line}" for line in text.splitlines())
    source = "def helper():\n" + "\n".join(f"    {line}" for line in text.splitlines())
    for name, inner in (("Study", "_inner"), ("Study", "run"), ("Helper", "method"), ("Base", "shown")):
        bases = "(Base)" if name == "Study" else ""
        doc = "\n".join(f"    {line}" for line in text.splitlines()) if name == "Helper" else "    '''Short.'''"
        source += f"\nclass {name}{bases}:\n{doc}\n    def {inner}(self):\n{method}"
    tree = ast.parse(source)
    assert too_long(tree, with_bases(LISTED, {"module.py": tree})) == expected

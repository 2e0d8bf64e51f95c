"""The tower: four packages, and imports that only go down."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = {"surrogates": 1, "solvers": 2, "spotsvm": 3, "studies": 4}


def modules():
    return [path for package in FLOORS for path in sorted((ROOT / package).rglob("*.py"))]


def imported_packages(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports inside the tower are by name"
            yield (node.module or "").split(".")[0]


def upward(package, source):
    floor = FLOORS[package]
    return [name for name in imported_packages(ast.parse(source)) if FLOORS.get(name, 0) > floor]


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_down(path):
    package = path.relative_to(ROOT).parts[0]
    assert upward(package, path.read_text()) == []


def test_an_import_that_goes_up_is_found():
    assert upward("surrogates", "def f():\n    from spotsvm.study import Study") == ["spotsvm"]
    assert upward("spotsvm", "import solvers.search, studies") == ["studies"]


def test_every_package_is_typed():
    assert [p for p in FLOORS if not (ROOT / p / "py.typed").is_file()] == []


def test_the_search_floors_know_no_svm():
    """`surrogates` works on points and values; the models that it is used for have no place in it."""
    words = [p for p in (ROOT / "surrogates").rglob("*.py") if "sklearn.svm" in p.read_text()]
    assert words == []

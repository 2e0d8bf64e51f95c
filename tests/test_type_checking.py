"""What type checkers find in code that uses the library."""

import re
from importlib import import_module
from pathlib import Path
from typing import get_args

import pytest

import spotsvm
from spotsvm.searches import SEARCHES
from spotsvm.solvers.search.registry import LibrarySearch

#: a line each, with what is wrong in it, if anything
CODE = {
    "import spotsvm": "",
    "from sklearn.svm import SVC": "",
    "from spotsvm import SpotSearchCV, Study, compare": "",
    "from spotsvm.kernels import nested": "",
    "from spotsvm.searches import KrigingSearch, RandomSearch, register_search": "",
    "from spotsvm.errors import NoSuchError": 'Module "spotsvm.errors" has no attribute "NoSuchError"',
    "from spotsvm import ArgumentError": 'Module "spotsvm" has no attribute "ArgumentError"',
    "spotsvm.errors.SpaceError": "",
    "spotsvm.nonexistent": 'Module has no attribute "nonexistent"',
    'Study({}, "krging")': 'Argument 2 to "Study" has incompatible type "Literal[\'krging\']"',
    'Study({}, "kriging")': "",
    "Study({}, KrigingSearch)": "",
    'Study({}, register_search("mine", RandomSearch))': "",
    'SpotSearchCV(SVC(), {}, search="krging")': 'Argument "search" to "SpotSearchCV" has incompatible type',
    'SpotSearchCV(SVC(), {}, search="nsga2")': "",
    'compare(len, {}, ["kriging", "krging"])': "List item 1 has incompatible type \"Literal['krging']\"",
    'compare(len, {}, ["kriging", ("mine", RandomSearch)])': "",
    'nested([], [], "krging")': 'Argument 3 to "nested" has incompatible type "Literal[\'krging\']"',
    'nested([], [], "vns")': "",
}
#: what is looked into; the rest takes long, and has no part in it
FOLLOWED = [
    "spotsvm",
    *(f"spotsvm.{name}" for name in ("common.text", "errors", "searches", "surrogates.domain")),
    *(f"spotsvm.{name}.*" for name in ("solvers.search", "study", "search_cv", "comparison", "kernels", "multi_kernel.nested")),
]


def as_installed(folder):
    """Make a tree of the packages under one name, as an installation has it: type checkers do not find an editable one's."""
    folder.mkdir(parents=True)
    parts = {part.name: part for part in Path(spotsvm.__file__).parent.iterdir() if part.name != "__pycache__"}
    parts |= {name: Path(import_module(f"spotsvm.{name}").__file__).parent for name in ("solvers", "surrogates")}
    for name, part in parts.items():
        (folder / name).symlink_to(part)


@pytest.mark.slow
def test_mistakes_are_found(tmp_path):
    api = pytest.importorskip("mypy.api", reason='mypy is not installed: pip install "spotsvm[test]"')
    as_installed(tmp_path / "site" / "spotsvm")
    (tmp_path / "code.py").write_text("\n".join(CODE) + "\n")
    (tmp_path / "mypy.ini").write_text(
        f"[mypy]\nmypy_path = {tmp_path / 'site'}\nfollow_imports = skip\nignore_missing_imports = true\n"
        f"[mypy-{','.join(FOLLOWED)}]\nfollow_imports = silent\n"
    )
    said, complaints, _ = api.run(
        ["--config-file", str(tmp_path / "mypy.ini"), f"--cache-dir={tmp_path}", str(tmp_path / "code.py")]
    )
    assert complaints == ""
    found = dict.fromkeys(range(1, len(CODE) + 1), "")
    for line, text in re.findall(r"code\.py:(\d+): error: (.*)", said):
        found[int(line)] = text
    for text, (line, expected) in zip(found.values(), CODE.items(), strict=True):
        assert text.startswith(expected) if expected else text == "", (line, text)


def test_type_checkers_know_the_names_of_the_searches():
    assert set(get_args(LibrarySearch)) <= set(SEARCHES)
    assert len(get_args(LibrarySearch)) == 12

"""What a release says of itself: its versions agree, and it requires what it imports."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from parsed import parsed

import spotsvm

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
#: what brings the modules that are not named as it is, and what scikit-learn requires itself
PACKAGES = {"sklearn": "scikit-learn", "dask": "distributed", "markupsafe": "jinja2"}
WITH_SCIKIT_LEARN = {"joblib", "threadpoolctl"}
#: what studies ask for by name before they use it, and do without; some runs in an interpreter of its own
ASKED_FOR = {"torch", "cocoex", "skopt", "ax", "hebo", "smac", "ConfigSpace"}


def names(requirements):
    return {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}


def imported():
    """Return the packages of others that the library imports, and where."""
    found = {}
    for folder in ("surrogates", "solvers", "spotsvm", "studies"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(parsed(path.read_text(encoding="utf-8"))):
                modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                for module in {module.split(".")[0] for module in modules} - sys.stdlib_module_names - {"spotsvm", ""}:
                    found.setdefault(PACKAGES.get(module, module), path.relative_to(ROOT).as_posix())
    return found


def test_what_is_imported_is_required_and_what_is_required_is_imported():
    required, found = names(PROJECT["dependencies"]), imported()
    extras = {name for extra in ("dask", "optuna") for name in names(PROJECT["optional-dependencies"][extra])}
    undeclared = found.keys() - required - extras - WITH_SCIKIT_LEARN - ASKED_FOR
    assert {name: found[name] for name in undeclared} == {}
    assert required - found.keys() == {"tabulate"}  # which tables of pandas need to become text


def test_every_requirement_has_a_lowest_version():
    assert [text for text in PROJECT["dependencies"] if not re.fullmatch(r"[\w-]+>=[\d.]+", text)] == []


def test_the_changelog_and_the_citation_are_of_this_version():
    """What is not released yet stands above."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    version, day = re.fullmatch(r"([\d.]+) \(([\d-]+)\)", headings[headings[0] == "Unreleased"]).groups()
    assert version == PROJECT["version"]
    assert re.findall(r"^version: (.*)$", CITATION, flags=re.M) == [version]
    assert re.findall(r"^date-released: (.*)$", CITATION, flags=re.M) == [day]
    text = (ROOT / "docs" / "method" / "references.md").read_text(encoding="utf-8")
    assert re.search(r"version\s*= \{(.*?)\}", text)[1] == version
    assert re.search(r"date\s*= \{(.*?)\}", text)[1] == day


def test_the_citation_has_the_library_and_the_five_papers():
    assert "title: spotsvm" in CITATION
    assert [int(year) for year in re.findall(r"^ +year: (\d{4})$", CITATION, flags=re.M)] == [2011, 2006, 2014, 2005, 2017]
    known = re.findall(r"^ +notes: (.*)$", CITATION, flags=re.M)
    assert len(known) == 5
    classes = {word for note in known for word in re.findall(r"\b[A-Z]\w+|\b[a-z]+_\w+", note)} - {"NestedSearch", "keerthi_lin"}
    assert classes <= set(spotsvm.__all__)


@pytest.mark.parametrize("heading", ["urls", "gui-scripts"])
def test_nothing_is_claimed_that_is_not_there(heading):
    assert heading not in PROJECT


def test_the_pythons_named_are_those_that_the_checks_run():
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    named = sorted(
        int(match[1]) for c in PROJECT["classifiers"] if (match := re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", c))
    )
    assert named[0] == int(PROJECT["requires-python"].removeprefix(">=3."))
    tried = [int(minor) for minor in re.search(r"for minor in ([\d ]+); do", text)[1].split()]
    assert set(named[1:]) <= set(tried)


@pytest.mark.parametrize("part", ["learning_part", "workers_part"])
def test_what_the_other_parts_name_is_there(part):
    named = (ROOT / ".ci" / f"{part}.txt").read_text(encoding="utf-8").split()
    assert len(named) > 5
    for path, _, test in (name.partition("::") for name in named):
        assert (ROOT / path).exists()
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8") if test else True
    assert f"@.ci/{part}.txt" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_main_part_of_the_tests_is_there_and_has_a_file_of_every_package():
    lines = (ROOT / ".ci" / "main_part.txt").read_text(encoding="utf-8").split()
    chosen = [line for line in lines if not line.startswith("--")]
    left_out = {line.removeprefix("--ignore=") for line in lines if line.startswith("--")}
    assert [path for path in (*chosen, *left_out) if not (ROOT / path).exists()] == []
    tests = {file for path in chosen for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("test_*.py"))}
    folders = {file.parent.relative_to(ROOT / "tests") for file in tests if file.relative_to(ROOT).as_posix() not in left_out}
    packages = {path.name for path in (ROOT / "spotsvm").iterdir() if (path / "__init__.py").exists()}
    assert {folder.parts[1] for folder in folders if folder.parts[:1] == ("spotsvm",)} == packages
    assert {folder.parts[0] for folder in folders if folder.parts} == {
        "conformance",
        "golden",
        "solvers",
        "spotsvm",
        "studies",
        "surrogates",
    }

"""The chapter "The method": its equations and the functions that they name name each other; constants are those of the code."""

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
CHAPTER = ROOT / "docs" / "method"
PAGES = {path.stem: path.read_text() for path in sorted(CHAPTER.glob("*.md"))}
EQUATION = re.compile(r"^```\{math\}\n(?::label: (\S+)\n)?.*?^```\n\n(?:Computed by ([^\n]*)\n)?", flags=re.S | re.M)
#: a link to a function, `~path.name` or `Class.name <path.Class.name>`
LINK = re.compile(r"\{py:obj\}`(?:~|[^`<]*<)([\w.]+)>?`")
#: label -> the functions that compute it
EQUATIONS = {match[1]: LINK.findall(match[2] or "") for page in PAGES.values() for match in EQUATION.finditer(page)}
#: (what, printed values, places) of each row of the tables of constants
CONSTANTS = [
    (what, values, places)
    for page in PAGES.values()
    for what, values, places in re.findall(r"^\| (.*?) \| ([-\d., e]+) \| (`.*?`) \|$", page, flags=re.M)
]
SOURCES = [path for folder in ("surrogates", "solvers", "spotsvm") for path in (ROOT / folder).rglob("*.py")]


def found(path: str) -> Any:
    """Return what a dotted path leads to."""
    names = path.split(".")
    for k in range(len(names), 0, -1):
        try:
            thing: Any = importlib.import_module(".".join(names[:k]))
        except ModuleNotFoundError:
            continue
        for name in names[k:]:
            thing = getattr(thing, name)
        return thing
    raise ModuleNotFoundError(path)


def constant(place: str, before: str) -> Any:
    """Return what is at a place of the code: a name, or the default of an argument; `_NAME` and `(name)` continue `before`."""
    whole = (
        place if "." in place else before.partition("(")[0] + place if place[0] == "(" else f"{before.rpartition('.')[0]}.{place}"
    )
    path, _, argument = whole.rstrip(")").partition("(")
    return inspect.signature(found(path)).parameters[argument].default if argument else found(path)


def test_every_equation_has_a_label_and_names_functions():
    assert len(EQUATIONS) > 50
    assert sum(page.count("```{math}") for page in PAGES.values()) == len(EQUATIONS)
    assert [label for label, names in EQUATIONS.items() if not label or not names] == []


def test_the_functions_of_an_equation_name_it():
    computed = [(label, name) for label, names in EQUATIONS.items() for name in names]
    assert [(label, name) for label, name in computed if f":eq:`{label}`" not in inspect.getdoc(found(name))] == []


def test_docstrings_name_equations_that_exist():
    named = {(path.name, label) for path in SOURCES for label in re.findall(r":eq:`([^`]+)`", path.read_text())}
    assert len({label for _, label in named}) == len(EQUATIONS)
    assert sorted((name, label) for name, label in named if label not in EQUATIONS) == []


def test_pages_refer_to_equations_and_functions_that_exist():
    for page in PAGES.values():
        assert set(re.findall(r"\{eq\}`([^`]+)`", page)) <= set(EQUATIONS)
        for name in LINK.findall(page):
            assert found(name) is not None


def test_every_reference_is_cited_and_every_citation_listed():
    cited = {name for page in PAGES.values() for name in re.findall(r"\{ref\}`[^`]*<([\w-]+)>`", page)}
    listed = set(re.findall(r"^\(([\w-]+)\)=$", PAGES["references"], flags=re.M))
    papers = {"carrizosa-2014", "williams-2005", "kawulok-2017"}  # they have sections of their own
    assert cited <= listed
    assert listed - cited <= papers


def test_printed_constants_are_those_of_the_code():
    for what, values, places in CONSTANTS:
        printed = [float(value) for value in values.split(", ")]
        before, known = "", []
        for name in re.findall(r"`(.*?)`", places):
            known.append(constant(name, before))
            before = name if "." in name else before
        assert np.concatenate([np.ravel(one) for one in known]).astype(float).tolist() == pytest.approx(printed, rel=1e-3), what


def test_there_are_constants_on_every_page_with_equations():
    assert len(CONSTANTS) > 60
    assert [name for name, page in PAGES.items() if "```{math}" in page and "## Constants" not in page] == []


def test_the_citation_is_that_of_the_file():
    given = dict(re.findall(r"^([\w-]+): (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.M))
    entry = dict(re.findall(r"^  (\w+) += \{+(.*?)\}+,?$", PAGES["references"], flags=re.M))
    assert entry["title"] == given["title"]
    assert entry["version"] == given["version"]
    assert entry["date"] == given["date-released"]
    assert entry["license"] == given["license"]


def test_dois_are_those_of_the_citation_file():
    dois = set(re.findall(r"10\.\d{4,}/[^\s]+[^\s.]", PAGES["references"]))
    assert dois == set(re.findall(r"^    doi: (.*)$", (ROOT / "CITATION.cff").read_text(), flags=re.M))

"""Each measured number in the prose of README.md, the first page and the guide comes from an output or from docs/figures.toml."""

import importlib
import re
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TABLES = tomllib.loads((ROOT / "docs" / "figures.toml").read_text())
FIGURES = {
    f"{table}.{name}": text
    for table, values in TABLES.items()
    for name, text in values.items()
    if name not in ("command", "version")
}
PAGES = {
    path.name: path.read_text()
    for path in (ROOT / "README.md", ROOT / "docs" / "getting_started.md", *sorted((ROOT / "docs" / "guide").glob("*.md")))
}
STUDIES = {entry.name for entry in entry_points(group="spotsvm.studies")}
#: numbers of the prose that nothing measured, by reason
EXCEPTIONS = {
    "the level of an interval": [r"95 %(?= (of )?(confidence )?(intervals?|prediction intervals?))"],
    "a version": [r"Python 3\.\d+"],
    "a constant of the library": [
        r"below 5 % for three steps in a row",  # the default of ImprovementUnlikely
    ],
    "a property of the data or of a test, known without a measurement": [
        r"0\.9 is the best accuracy possible",
    ],
}


def prose(page: str) -> str:
    """Return a page without code, tables, substitutions and the targets of links."""
    text = re.sub(r"^```.*?^```$", "", page, flags=re.S | re.M)
    text = "\n".join(line for line in text.splitlines() if not line.startswith(("|", "    ")))
    text = re.sub(r"\{\{.*?\}\}|`[^`]*`|\$[^$]*\$", " ", text)
    return " ".join(re.sub(r"\]\([^)]*\)", "]", text).split())


def numbers(text: str) -> list[tuple[float, float, bool]]:
    """Return each number of a text, half a unit of its last digit, and whether it is a decimal or a percentage."""
    # in lists such as "1, 2 and 3 %" each is a percentage
    text = re.sub(r"(?:[\d.]+, )*[\d.]+(?: and | to | or )[\d.]+ ?%", lambda m: re.sub(r"(?<=\d)(?=,? (?!%))", " %", m[0]), text)
    found = []
    for whole, decimals, percent in re.findall(r"(?<![\w.^])(\d[\d,]*)(\.\d+)?(?:e-\d+)?(?!\w)( ?%)?", text):
        scale = 0.01 if percent else 1.0
        half = 0.5 * 10.0 ** -max(len(decimals) - 1, 0) * scale
        found.append((float(whole.replace(",", "") + decimals) * scale, half, bool(decimals or percent)))
    return found


def unknown_numbers(page: str, shown: str) -> list[float]:
    """Return the decimals and percentages in the prose of a page that round no number of the text `shown`."""
    told = prose(page)
    for pattern in (pattern for patterns in EXCEPTIONS.values() for pattern in patterns):
        told = re.sub(pattern, "", told)
    values = [value for value, _, _ in numbers(shown)]
    return [
        round(number, 6)
        for number, half, measured in numbers(told)
        if measured and not any(abs(number - value) <= half * (1 + 1e-6) for value in values)
    ]


@pytest.mark.parametrize("name", PAGES)
def test_each_number_of_the_prose_comes_from_somewhere(name):
    """From code or output on the page, or by a substitution; README.md, which has none, says what is in the file of figures."""
    page = PAGES[name]
    blocks = re.findall(r"^```(?:python|text|sh)\b(?! illustration)[^\n]*\n(.*?)^```$", page, flags=re.S | re.M)
    figures = list(FIGURES.values()) if name == "README.md" else []
    assert unknown_numbers(page, "\n".join([*blocks, *figures])) == []


def test_the_table_of_readme_is_in_the_benchmarks():
    """Or, as for the seconds, in the file of figures."""
    cells = [cell.strip() for row in re.findall(r"^\| (.*) \|$", PAGES["README.md"], flags=re.M) for cell in row.split("|")]
    measured = [cell for cell in cells if re.search(r"\d\.\d", cell)]
    assert len(measured) == 12
    known = (ROOT / "docs" / "benchmarks.md").read_text()
    assert [cell for cell in measured if cell not in known and cell not in FIGURES.values()] == []


def test_the_numbers_of_a_text_are_found():
    text = "13.6, 13.3 and 13.4 %, 7 to 17 % of 1,000.5 in 20 rows"
    assert [value for value, _, measured in numbers(text) if measured] == pytest.approx([0.136, 0.133, 0.134, 0.07, 0.17, 1000.5])
    page = "It is 5.8 % `0.7` {{ a.b }} [0.93](x) with 95 % intervals.\n\n| 0.3 |\n\n```text\n0.0583\n```\n"
    assert unknown_numbers(page, "5.83% 0.9274") == unknown_numbers(page, "0.0583 0.9274") == []
    assert unknown_numbers(page, "0.0593 93") == [0.058, 0.93]


def test_each_figure_is_used_and_each_substitution_is_there():
    used = {name for page in PAGES.values() for name in re.findall(r"\{\{ ([\w.]+) \}\}", page)}
    in_readme = {name for name, text in FIGURES.items() if text in " ".join(PAGES["README.md"].split())}
    assert used | in_readme == {*FIGURES}


@pytest.mark.parametrize("table", TABLES)
def test_each_table_of_figures_names_command_and_version(table):
    command, version = TABLES[table]["command"], TABLES[table]["version"]
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text()
    assert {*re.findall(r"spotsvm study (\w+)", command)} <= STUDIES
    assert command


def test_no_exception_is_left_over():
    told = " ".join(map(prose, PAGES.values()))
    assert [pattern for patterns in EXCEPTIONS.values() for pattern in patterns if not re.search(pattern, told)] == []


def test_each_table_of_the_benchmarks_names_command_and_version():
    """A study, or a call of a name that can be imported."""
    page = (ROOT / "docs" / "benchmarks.md").read_text()
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page, flags=re.S | re.M))
    tables = {heading: text for heading, text in sections.items() if re.search(r"^\|", text, flags=re.M)}
    assert len(tables) > 5
    for heading, text in tables.items():
        before = text[: re.search(r"^\|", text, flags=re.M).start()]
        assert re.search(r"(?i)version \d+\.\d+\.\d+", before), heading
        if study := re.search(r"^spotsvm study (\w+)", before, flags=re.M):
            assert study[1] in STUDIES, heading
        else:
            call, module = re.search(r"`(\w+)\(.*?\)` of\s`([\w.]+)`", before).groups()
            assert hasattr(importlib.import_module(module), call), heading

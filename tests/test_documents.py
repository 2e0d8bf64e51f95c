"""What README.md and the guide show works as it stands, and what ARCHITECTURE.md names is there."""

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import matplotlib.pyplot as plt
import pytest

import spotsvm

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
MAP = (ROOT / "ARCHITECTURE.md").read_text()
PAGES = {path.stem: path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
GUIDE = {path.stem: path.read_text() for path in sorted((ROOT / "docs" / "guide").glob("*.md"))}
PAGES_OF_GUIDE = {*GUIDE}
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", flags=re.S | re.M)
#: the blocks of code of each page, each with the output that the page shows below it, or ""
EXAMPLES = {name: blocks for name, page in PAGES.items() if (blocks := BLOCK.findall(page))}
OPTIONAL = ("optuna", "distributed")
#: the order of a chapter
CHAPTER = [
    "The problem",
    "The usual way",
    "With spotsvm",
    "The picture",
    "How to read it",
    "When not to use it",
]
#: pages that are no chapter of one task, and why
NO_CHAPTERS = {
    "coming_from": "tables from other libraries' calls to ours",
    "command_line": "the reference of a command",
    "machines": "several estimators",
    "own_search": "the contract of a class",
    "reports": "what a report has",
}
#: pages that are still to be put in this order
LATER = {
    "command_line", "coming_from", "early_stopping", "estimators", "functions", "long_runs", "luck", "machines", "objectives",
    "own_kernel", "own_model", "own_search", "reports", "several_kernels", "spectra", "svm", "time_series", "workers",
}  # fmt: skip
GUIDE = {name: page for name, page in GUIDE.items() if name not in LATER}
#: the words of a paragraph, at most
WORDS = 90


@pytest.mark.parametrize("name", EXAMPLES)
def test_python_examples(name, tmp_path, monkeypatch, capfd):
    """The blocks of a page go on with each other; warnings are errors; what is shown below a block is what it prints."""
    from spotsvm.solvers.search.registry import _SEARCHES

    for module in OPTIONAL:
        if any(f"import {module}" in code for code, _ in EXAMPLES[name]) and importlib.util.find_spec(module) is None:
            pytest.skip(f'an example needs {module}: pip install "spotsvm[test]"')
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    with patch.dict(_SEARCHES):  # a page may register a search
        for k, (code, shown) in enumerate(EXAMPLES[name], 1):
            exec(compile(code, f"{name}.md, block {k}", "exec"), names)
            printed, said = capfd.readouterr()
            assert said == ""
            if name in GUIDE or shown:
                assert printed == shown, f"block {k}"
    plt.close("all")


@pytest.mark.parametrize("name", sorted({*GUIDE} - {*NO_CHAPTERS}))
def test_a_chapter_has_one_order(name):
    headings = re.findall(r"^## (.*)$", GUIDE[name], flags=re.M)
    assert headings[: len(CHAPTER)] == CHAPTER


@pytest.mark.parametrize("name", GUIDE)
def test_paragraphs_are_short(name):
    prose = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", GUIDE[name], flags=re.S | re.M)
    paragraphs = [text for text in re.split(r"\n(?=\s*\n|- |\d+\. )", prose) if not re.match(r"\s*[|#]", text)]
    assert [text for text in paragraphs if len(text.split()) > WORDS] == []


@pytest.mark.parametrize("name", GUIDE)
def test_code_fits_a_page(name):
    lines = [line for block in BLOCK.findall(GUIDE[name]) for text in block for line in text.splitlines()]
    assert [line for line in lines if len(line) > 79] == []


@pytest.mark.parametrize("name", GUIDE)
def test_pictures_of_a_chapter_are_drawn_on_it(name):
    """By `docs/pictures.py`, which runs the page."""
    shown = re.findall(r"!\[([^\]]*)\]\(pictures/([\w-]+\.svg)\)", GUIDE[name], flags=re.S)
    code = "".join(code for code, _ in BLOCK.findall(GUIDE[name]))
    for alt, picture in shown:
        assert f'"{picture}"' in code
        assert (ROOT / "docs" / "guide" / "pictures" / picture).is_file()
        assert len(alt.split()) > 4


def test_every_picture_is_shown():
    there = {path.name for path in (ROOT / "docs" / "guide" / "pictures").iterdir()}
    assert there == {name for page in GUIDE.values() for name in re.findall(r"\(pictures/([\w-]+\.svg)\)", page)}


def test_examples_of_the_gallery_that_pages_link_are_there():
    linked = [name for page in PAGES.values() for name in re.findall(r"\(\.\./gallery/(\w+/plot_\w+)", page)]
    assert [name for name in linked if not (ROOT / "docs" / "examples" / f"{name}.py").exists()] == []


def test_readme_is_short_and_shows_what_comes_out():
    assert len(README.splitlines()) <= 130
    assert [shown != "" for _, shown in EXAMPLES["README"]] == [True, True]


def test_the_pages_that_readme_names_are_there():
    named = re.findall(r"\]\((\w[^)]*)\)", README)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_of_the_guide_is_in_its_contents():
    contents = (ROOT / "docs" / "guide.md").read_text()
    assert sorted(re.findall(r"^guide/(\w+)$", contents, flags=re.M)) == sorted({*PAGES_OF_GUIDE})


@pytest.mark.parametrize("home", ["", "searches", "kernels", "acquisition", "errors", "solvers.dual", "tables"])
def test_the_reference_has_every_public_name(home):
    home = f"spotsvm.{home}".removesuffix(".")
    parts = re.split(r"^\.\. currentmodule:: (.*)$", (ROOT / "docs" / "reference.rst").read_text(), flags=re.M)
    shown = [
        name
        for module, text in zip(parts[1::2], parts[2::2], strict=True)
        if module == home
        for name in re.findall(r"^   (\w+)$", text, flags=re.M)
    ]
    above = [] if home == "spotsvm" else spotsvm.__all__
    assert sorted(shown) == sorted({*importlib.import_module(home).__all__} - {*above})


def test_every_block_is_of_a_known_kind():
    """A block of another name, or with blanks before it, would not be run."""
    fences = [line for page in PAGES.values() for line in page.splitlines() if "```" in line]
    assert {fence.strip() for fence in fences} <= {"```", "```python", "```text", "```sh"} | {f for f in fences if "{" in f}
    assert [fence for fence in fences if fence.startswith(" ")] == []
    assert sum(fence == "```python" for fence in fences) == sum(len(blocks) for blocks in EXAMPLES.values()) > 15


def test_the_two_commands_are_one_line_each():
    commands = re.findall(r"^    (python3 -m venv .*)$", README, flags=re.M)
    assert [command.rsplit("/", 1)[1].split()[0] for command in commands] == ["spotsvm", "pytest"]


def test_every_search_is_in_the_table():
    from spotsvm.searches import SEARCHES

    assert [name for name in SEARCHES if f'`"{name}"`' not in PAGES["own_search"]] == []


def test_the_demo_table_is_what_the_demo_prints(tmp_path):
    script = Path(sys.executable).with_name("spotsvm")
    shown = subprocess.run([script, "demo"], capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    found, told = (
        {
            line.split("  ")[0]: [float(number) for number in re.findall(r"\d\.\d{4}\b", line.rpartition("  ")[0])]
            for line in text.splitlines()
            if re.match(r"\w.*  .* \+- ", line)
        }
        for text in (shown, PAGES["command_line"])
    )
    assert list(told) == list(found)
    assert len(told) == 5
    for name, scores in found.items():
        assert told[name] == pytest.approx(scores, abs=0.01)


def test_the_folders_and_files_that_the_map_names_exist():
    named = set(re.findall(r"`((?:surrogates|solvers|spotsvm|studies|tests)/[\w/.]*)`", MAP))
    assert len(named) > 30
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_every_package_of_spotsvm_is_in_the_picture():
    picture = MAP.split("```")[1]
    folders = {path.name for path in (ROOT / "spotsvm").iterdir() if (path / "__init__.py").is_file()}
    assert sorted(name for name in folders if f"{name}/" not in picture) == []


def test_the_map_is_short_and_contributing_leads_to_it():
    assert len(MAP.splitlines()) <= 120
    assert "(ARCHITECTURE.md)" in (ROOT / "CONTRIBUTING.md").read_text()

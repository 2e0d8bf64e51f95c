"""What README.md and the guide show works as it stands, and what ARCHITECTURE.md names is there."""

import ast
import builtins
import importlib
import importlib.util
import re
from pathlib import Path
from unittest.mock import patch

import matplotlib.pyplot as plt
import pytest
from click.testing import CliRunner
from installed_command import main
from same_output import same_output

import spotsvm

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
MAP = (ROOT / "ARCHITECTURE.md").read_text()
#: the pages by their paths in docs/
PAGES = {"README": README} | {
    path.relative_to(ROOT / "docs").with_suffix("").as_posix(): path.read_text() for path in sorted((ROOT / "docs").rglob("*.md"))
}
GUIDE = {name.removeprefix("guide/"): page for name, page in PAGES.items() if name.startswith("guide/")}
#: the kinds of blocks that run, of one that shows no output of the page's own code, and of an output without learned numbers
RUN, ILLUSTRATION, EXACT = ("python", "sh"), "text illustration", "text exact"


def blocks_of(page):
    """Return the blocks that run, each with the output shown before the next one or "" and its kind, and the loose texts."""
    runs, loose = [], []
    for kind, text in re.findall(r"^```(\S[^\n]*)\n(.*?)^```$", page, flags=re.S | re.M):
        if kind in RUN:
            runs.append([kind, text, "", ""])
        elif kind in ("text", EXACT) and runs and not runs[-1][2]:
            runs[-1][2:] = text, kind
        elif kind in ("text", EXACT):
            loose.append(text)
    return runs, loose


#: the blocks of Python of each page with what they print and its kind, and the commands whose output is on the page
EXAMPLES = {
    name: blocks
    for name, page in PAGES.items()
    if (blocks := [tuple(block[1:]) for block in blocks_of(page)[0] if block[0] == "python"])
}
COMMANDS = [
    (name, commands, shown)
    for name, page in PAGES.items()
    for kind, commands, shown, _ in blocks_of(page)[0]
    if kind == "sh" and shown
]


def is_shown(shown, kind, printed):
    """Tell whether a page shows what was printed: exact arithmetic to the letter, anything else with a tolerance."""
    return printed == shown if kind == EXACT else same_output(shown, printed)


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
    "bad_score": "looked up by what is seen",
    "coming_from": "tables from other libraries' calls to ours",
    "command_line": "the reference of a command",
    "machines": "several estimators",
    "own_search": "the contract of a class",
    "questions": "looked up by message",
    "reading_reports": "a report from its top to its end",
    "reliance": "promises about all of the library",
}
#: the words of a paragraph, at most
WORDS = 90


@pytest.mark.parametrize("name", EXAMPLES)
def test_python_examples(name, tmp_path, monkeypatch, capfd):
    """The blocks of a page go on with each other; warnings are errors; what is shown below a block is what it prints."""
    for module in OPTIONAL:
        if any(f"import {module}" in code for code, _, _ in EXAMPLES[name]) and importlib.util.find_spec(module) is None:
            pytest.skip(f'an example needs {module}: pip install "spotsvm[test]"')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SPOTSVM_DATA", raising=False)  # a page shows what it prints without this folder
    names = {"__name__": "__main__"}
    with patch.dict("spotsvm.solvers.search.registry._SEARCHES"):  # a page may register a search
        for k, (code, shown, kind) in enumerate(EXAMPLES[name], 1):
            exec(compile(code, f"{name}.md, block {k}", "exec"), names)
            printed, said = capfd.readouterr()
            assert said == ""
            if name.removeprefix("guide/") in GUIDE or shown:
                assert is_shown(shown, kind, printed), f"block {k} prints\n{printed}"
    plt.close("all")


@pytest.mark.data
def test_rain_and_flow_on_real_rows(tmp_path, monkeypatch, capfd):
    """The last block of text of the page is what its blocks print on the rows of the Wye."""
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for code, _, _ in EXAMPLES["guide/rain_and_flow"]:
        exec(compile(code, "rain_and_flow.md", "exec"), names)
    printed, _ = capfd.readouterr()
    assert names["wye"].is_file()
    (shown,) = re.findall(rf"^```{ILLUSTRATION}\n(.*?)^```$", GUIDE["rain_and_flow"], flags=re.S | re.M)
    assert same_output(f"...\n{shown}", printed), printed
    plt.close("all")


@pytest.mark.parametrize(("page", "commands", "output"), COMMANDS, ids=[page for page, _, _ in COMMANDS])
def test_a_command_prints_what_the_page_shows(page, commands, output, tmp_path, monkeypatch):
    """The last command, if it is one of spotsvm; the page shows a part of what it prints."""
    monkeypatch.chdir(tmp_path)
    command = commands.splitlines()[-1].removeprefix(".venv/bin/")
    assert command.startswith("spotsvm ")
    run = CliRunner().invoke(main, command.split()[1:])
    assert run.exit_code == 0, run.stderr
    assert same_output(f"...\n{output}...\n", run.stdout), run.stdout


def unbound(code):
    """Return the names that a block of code uses and neither makes nor imports."""
    nodes = list(ast.walk(ast.parse(code)))
    bound = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    bound |= {(node.asname or node.name).partition(".")[0] for node in nodes if isinstance(node, ast.alias)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - bound - set(dir(builtins))


@pytest.mark.parametrize("name", ["README", "getting_started"])
def test_each_block_of_the_first_pages_can_be_pasted_alone(name):
    assert unbound("from a import b as c\nd = [e for e in f(c, b)]") == {"b", "f"}
    assert [unbound(code) for code, _, _ in EXAMPLES[name]] == [set()] * len(EXAMPLES[name])


def test_each_block_of_text_is_an_output():
    """Of the last block before it that runs; a block that shows anything else begins with ```text illustration."""
    assert {name: loose for name, page in PAGES.items() if (loose := blocks_of(page)[1])} == {}
    assert len(COMMANDS) > 0


def test_outputs_are_found():
    kinds = ("python", ILLUSTRATION, "text", "text", "sh", "{math}", EXACT, "python")
    page = "".join(f"```{kind}\n{kind}\n```\n\nprints\n\n" for kind in kinds)
    assert blocks_of(page) == (
        [["python", "python\n", "text\n", "text"], ["sh", "sh\n", "text exact\n", EXACT], ["python", "python\n", "", ""]],
        ["text\n"],
    )
    assert is_shown("0.93\n", "text", "0.94\n")
    assert not is_shown("0.93\n", EXACT, "0.94\n")


@pytest.mark.parametrize("name", GUIDE)
def test_a_page_of_the_guide_has_one_order_short_paragraphs_and_code_that_fits(name):
    if name not in NO_CHAPTERS:
        assert re.findall(r"^## (.*)$", GUIDE[name], flags=re.M)[: len(CHAPTER)] == CHAPTER
    prose = re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", GUIDE[name], flags=re.S | re.M)
    paragraphs = [text for text in re.split(r"\n(?=\s*\n|- |\d+\. )", prose) if not re.match(r"\s*[|#]", text)]
    assert [text for text in paragraphs if len(text.split()) > WORDS] == []

    lines = [line for block in EXAMPLES.get(f"guide/{name}", []) for text in block[:2] for line in text.splitlines()]
    assert [line for line in lines if len(line) > 79] == []


@pytest.mark.parametrize("name", GUIDE)
def test_pictures_of_a_chapter_are_drawn_on_it(name):
    """By `docs/pictures.py`, which runs the page."""
    shown = re.findall(r"!\[([^\]]*)\]\(pictures/([\w-]+\.svg)\)", GUIDE[name], flags=re.S)
    code = "".join(code for code, _, _ in EXAMPLES.get(f"guide/{name}", []))
    for alt, picture in shown:
        assert f'"{picture}"' in code
        assert (ROOT / "docs" / "guide" / "pictures" / picture).is_file()
        beside = "subplots(1, 2" in code or "1, 2, figsize" in code
        assert beside != (ROOT / "docs" / "guide" / "pictures" / picture.replace(".svg", "_narrow.svg")).is_file()
        assert len(alt.split()) > 4


def test_every_picture_is_shown():
    there = {path.name.replace("_narrow", "") for path in (ROOT / "docs" / "guide" / "pictures").iterdir()}
    assert there == {name for page in GUIDE.values() for name in re.findall(r"\(pictures/([\w-]+\.svg)\)", page)}


def test_examples_of_the_gallery_that_pages_link_are_there():
    linked = [name for page in PAGES.values() for name in re.findall(r"\(\.\./gallery/(\w+/plot_\w+)", page)]
    assert [name for name in linked if not (ROOT / "docs" / "examples" / f"{name}.py").exists()] == []


def test_readme_is_short_and_shows_what_comes_out():
    assert len(README.splitlines()) <= 150
    assert [shown != "" for _, shown, _ in EXAMPLES["README"]] == [True, True, True]
    assert max(len(line) for code, _, _ in EXAMPLES["README"] for line in code.splitlines()) <= 79


def test_the_pages_that_readme_names_are_there():
    named = re.findall(r"\]\((\w[^)]*)\)", README)
    assert len(named) > 8
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_page_of_the_guide_is_in_its_contents():
    contents = (ROOT / "docs" / "guide.md").read_text()
    assert sorted(re.findall(r"^guide/(\w+)$", contents, flags=re.M)) == sorted(GUIDE)


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
    kinds = {"```", "````", "```python", "```text", "```sh", f"```{ILLUSTRATION}", f"```{EXACT}"}
    assert {fence.strip() for fence in fences} <= kinds | {f for f in fences if "{" in f}
    assert [fence for fence in fences if fence.startswith(" ")] == []
    for name, page in PAGES.items():
        opened = ""
        for fence in re.findall(r"^`{3,}.*$", page, flags=re.M):
            assert opened or fence.strip("`"), f"{name}: a block without a kind"
            opened = "" if fence == opened else opened or re.match("`+", fence)[0]
        assert opened == "", name
    assert sum(fence == "```python" for fence in fences) == sum(len(blocks) for blocks in EXAMPLES.values()) > 15


def test_the_two_commands_are_one_line_each():
    commands = re.findall(r"^    (python3 -m venv .*)$", README, flags=re.M)
    assert [command.rsplit("/", 1)[1].split()[0] for command in commands] == ["spotsvm", "pytest"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "inventories").glob("*.inv")), ids=lambda path: path.stem)
def test_the_names_of_other_projects_are_theirs(path):
    """Each name of an inventory is there in the installed version, and its page is named after it."""
    importlib.import_module("sklearn.experimental.enable_halving_search_cv")  # without which its name is hidden
    lines = path.read_text().splitlines()
    assert lines[0] == "# Sphinx inventory version 1"
    for name, kind, page in (line.split() for line in lines[3:]):
        home, _, last = name.rpartition(".")
        if importlib.util.find_spec(name.partition(".")[0]) is None:
            continue
        assert kind == "mod" or hasattr(importlib.import_module(home), last), name
        assert name in page or kind == "mod" or last.lower() in page


def test_every_search_is_in_the_table():
    from spotsvm.searches import SEARCHES

    assert [name for name in SEARCHES if f'`"{name}"`' not in PAGES["guide/own_search"]] == []


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

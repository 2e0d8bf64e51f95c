"""What README.md and the guide show works as it stands, and what ARCHITECTURE.md names is there."""

import importlib
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spotsvm

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
MAP = (ROOT / "ARCHITECTURE.md").read_text()
PAGES = {path.stem: path.read_text() for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}
#: the blocks of code of each page, by the page's name and their number on it
EXAMPLES = {
    f"{name} {k}": code
    for name, page in PAGES.items()
    for k, code in enumerate(re.findall(r"^```python\n(.*?)^```", page, flags=re.S | re.M), 1)
}
#: those whose output is on the page, too
SHOWN = {
    f"{name} {k}": (code, output)
    for name, page in PAGES.items()
    for k, (code, output) in enumerate(re.findall(r"^```python\n([^`]*?)^```\n\n```text\n(.*?)^```", page, flags=re.S | re.M), 1)
}
OPTIONAL = ("optuna", "distributed")


@pytest.mark.parametrize("code", EXAMPLES.values(), ids=EXAMPLES)
def test_python_example(code, tmp_path, monkeypatch, capfd):
    """In this process, where all is imported, unless the example leaves something behind; warnings are errors."""
    for name in OPTIONAL:
        if f"import {name}" in code and importlib.util.find_spec(name) is None:
            pytest.skip(f'an example needs {name}: pip install "spotsvm[test]"')
    monkeypatch.chdir(tmp_path)
    if "register_search" in code:
        subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)
    else:
        exec(compile(code, "example", "exec"), {"__name__": "__main__"})
    printed, said = capfd.readouterr()
    assert said == ""
    assert len(printed) > 20
    shown = [output for example, output in SHOWN.values() if example == code]
    assert all(printed == output for output in shown)


def test_readme_is_short_and_shows_what_comes_out():
    assert len(README.splitlines()) <= 130
    assert [name for name in SHOWN if name.startswith("README")] == ["README 1", "README 2"]


def test_the_pages_that_readme_names_are_there():
    named = re.findall(r"\]\((\w[^)]*)\)", README)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert {path.name for path in (ROOT / "docs" / "guide").iterdir()} <= {Path(name).name for name in named}


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
    assert sum(fence == "```python" for fence in fences) == len(EXAMPLES) > 15


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

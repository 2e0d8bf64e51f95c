"""The map of the structure: what it names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "ARCHITECTURE.md").read_text()


def test_the_folders_and_files_that_it_names_exist():
    named = set(re.findall(r"`((?:surrogates|solvers|spotsvm|studies|tests)/[\w/.]*)`", MAP))
    assert len(named) > 30
    assert sorted(path for path in named if not (ROOT / path).exists()) == []


def test_every_package_of_spotsvm_is_in_the_picture():
    picture = MAP.split("```")[1]
    folders = {path.name for path in (ROOT / "spotsvm").iterdir() if (path / "__init__.py").is_file()}
    assert sorted(name for name in folders if f"{name}/" not in picture) == []


def test_it_is_short_and_contributing_leads_to_it():
    assert len(MAP.splitlines()) <= 120
    assert "(ARCHITECTURE.md)" in (ROOT / "CONTRIBUTING.md").read_text()

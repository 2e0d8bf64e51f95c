"""The wheel: it holds `spotsvm` alone, and hides nothing of the user's; the source distribution: it can be tested."""

import re
import tarfile
import zipfile
from shutil import copytree, ignore_patterns

import pytest
from installations import FOLDERS, ROOT, build, copy_sources, environment, run


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    return build(copy_sources(folder / "project"), "wheel", folder)


def test_the_wheel_holds_spotsvm_alone_and_all_of_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"spotsvm"}
    ours = {path.relative_to(ROOT) for f in ("surrogates", "solvers", "studies") for path in (ROOT / f).rglob("*.py")}
    ours |= {path.relative_to(ROOT / "spotsvm") for path in (ROOT / "spotsvm").rglob("*.py")}
    assert {f"spotsvm/{path.as_posix()}" for path in ours} == {name for name in names if name.endswith(".py")}
    assert sum(name.endswith("py.typed") for name in names) == 4
    assert any(name.endswith(".j2") for name in names)
    assert any(name.endswith(".csv") for name in names)


def test_an_index_page_shows_the_readme_without_links_that_lead_nowhere(wheel):
    with zipfile.ZipFile(wheel) as file:
        metadata = file.read(next(name for name in file.namelist() if name.endswith("/METADATA"))).decode()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "Description-Content-Type: text/markdown" in metadata
    assert len(re.findall(r"\]\((?!https?:)", readme)) > 5
    assert re.findall(r"\]\((?!https?:)", metadata) == []
    assert metadata.partition("\n\n")[2].splitlines()[0] == "# spotsvm"
    assert len(metadata.partition("\n\n")[2].splitlines()) == len(readme.splitlines())


def test_it_works_beside_packages_of_the_same_names(wheel, tmp_path):
    python = environment(tmp_path / "env", wheel)
    site = next((tmp_path / "env").rglob("site-packages"))
    (site / "surrogates.py").write_text("NAME = 'a package of another project'\n")
    for name in ("solvers", "studies"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    (tmp_path / "mine" / "solvers" / "__init__.py").write_text("NAME = 'the solvers of the user'\n")
    (tmp_path / "mine" / "studies" / "first.py").write_text("NAME = 'a study without __init__'\n")
    code = f"""
import sys
import solvers, surrogates, studies.first
import spotsvm
from spotsvm.solvers.search import SEARCHES
from spotsvm.studies.common.experiment import Experiment
from spotsvm import Kriging
assert spotsvm.__file__.startswith({str(site)!r}), spotsvm.__file__
assert sys.modules[Kriging.__module__].__file__.startswith({str(site)!r})
print(solvers.NAME, surrogates.NAME, studies.first.NAME, sep=", ")
"""
    said = run(python, "-c", code, cwd=tmp_path / "mine")
    assert said == "the solvers of the user, a package of another project, a study without __init__\n"


def test_the_source_distribution_holds_what_the_checks_need(tmp_path):
    project = tmp_path / "project"
    left = ignore_patterns(
        ".git", ".venv", "__pycache__", "*.egg-info", "_build", "gallery", "reference", "build", "dist", "installed", ".*_cache"
    )
    copytree(ROOT, project, ignore=left, symlinks=True)
    with tarfile.open(build(project, "sdist", tmp_path)) as file:
        held = {name.split("/", 1)[1] for name in file.getnames() if "/" in name}
    folders = ("tests", "docs", *FOLDERS)
    needed = {path.relative_to(project).as_posix() for name in folders for path in (project / name).rglob("*") if path.is_file()}
    needed |= {f"{name}.md" for name in ("ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "README", "VISION")}
    assert (
        needed | {"CITATION.cff", "LICENSE", "conftest.py", "pyproject.toml", "setup.py", ".ci/run", ".pre-commit-config.yaml"}
        <= held
    )
    assert not {name for name in held if name.endswith((".pyc", ".nbi", ".nbc"))}

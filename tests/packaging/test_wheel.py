"""The wheel: it holds `spotsvm` alone, and hides nothing of the user's; the source distribution: it can be tested."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from shutil import copytree, ignore_patterns

import numpy
import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")


def pip(*arguments):
    subprocess.run([sys.executable, "-m", "pip", *arguments], check=True, capture_output=True)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    project = tmp_path_factory.mktemp("project")
    for name in SOURCES:
        (project / name).write_bytes((ROOT / name).read_bytes())
    for folder in ("public", "surrogates", "solvers", "spotsvm", "studies"):
        copytree(ROOT / folder, project / folder, ignore=ignore_patterns("__pycache__"))
    pip("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(project), str(project))
    return next(project.glob("*.whl"))


def test_the_wheel_holds_spotsvm_alone_and_all_of_it(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"spotsvm"}
    ours = {path.relative_to(ROOT) for f in ("surrogates", "solvers", "studies") for path in (ROOT / f).rglob("*.py")}
    ours |= {path.relative_to(ROOT / f) for f in ("public", "spotsvm") for path in (ROOT / f).rglob("*.py")}
    assert {f"spotsvm/{path.as_posix()}" for path in ours} == {name for name in names if name.endswith(".py")}
    assert sum(name.endswith("py.typed") for name in names) == 4
    assert any(name.endswith(".j2") for name in names)
    assert any(name.endswith(".csv") for name in names)


def test_it_works_beside_packages_of_the_same_names(wheel, tmp_path):
    env = tmp_path / "env"
    venv.create(env, with_pip=False, symlinks=True)
    python = env / "bin" / "python" if (env / "bin").is_dir() else env / "Scripts" / "python.exe"
    site = next(env.rglob("site-packages"))
    pip("install", "--quiet", "--no-deps", "--target", str(site), str(wheel))
    (site / "surrogates.py").write_text("NAME = 'a package of another project'\n")
    for name in ("solvers", "studies"):
        (tmp_path / "mine" / name).mkdir(parents=True)
    (tmp_path / "mine" / "solvers" / "__init__.py").write_text("NAME = 'the solvers of the user'\n")
    (tmp_path / "mine" / "studies" / "first.py").write_text("NAME = 'a study without __init__'\n")
    # what spotsvm needs is taken from where the tests run; spotsvm itself must not be
    code = f"""
import sys
import solvers, surrogates, studies.first
sys.path.append({str(Path(numpy.__file__).parents[1])!r})
import spotsvm
from spotsvm.solvers.search import SEARCHES
from spotsvm.studies.common.experiment import Experiment
from spotsvm import Kriging
assert spotsvm.__file__.startswith({str(site)!r}), spotsvm.__file__
assert sys.modules[Kriging.__module__].__file__.startswith({str(site)!r})
print(solvers.NAME, surrogates.NAME, studies.first.NAME, sep=", ")
"""
    settings = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run([python, "-c", code], cwd=tmp_path / "mine", env=settings, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "the solvers of the user, a package of another project, a study without __init__\n"


def test_the_source_distribution_holds_what_the_checks_need(tmp_path):
    project = tmp_path / "project"
    left = ignore_patterns(
        ".git", ".venv", "__pycache__", "*.egg-info", "_build", "gallery", "reference", "build", "dist", "installed", ".*_cache"
    )
    copytree(ROOT, project, ignore=left, symlinks=True)
    build = f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=project, check=True, capture_output=True)
    with tarfile.open(next(tmp_path.glob("spotsvm-*.tar.gz"))) as file:
        held = {name.split("/", 1)[1] for name in file.getnames() if "/" in name}
    folders = ("tests", "docs", "public", "surrogates", "solvers", "spotsvm", "studies")
    needed = {path.relative_to(project).as_posix() for name in folders for path in (project / name).rglob("*") if path.is_file()}
    needed |= {"CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "ARCHITECTURE.md", "LICENSE", "README.md", "conftest.py"}
    assert needed | {"pyproject.toml", "setup.py", ".ci/run"} <= held
    assert not {name for name in held if name.endswith((".pyc", ".nbi", ".nbc"))}

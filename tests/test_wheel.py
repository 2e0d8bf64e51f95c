"""The wheel: it holds `spotsvm` alone, and hides nothing of the user's."""

import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

ROOT = Path(__file__).parent.parent
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
sys.path.append({sysconfig.get_path("purelib")!r})
import spotsvm
from spotsvm.solvers.search import SEARCHES
from spotsvm.studies.common.experiment import Experiment
from spotsvm import Kriging
assert spotsvm.__file__.startswith({str(site)!r}), spotsvm.__file__
assert sys.modules[Kriging.__module__].__file__.startswith({str(site)!r})
print(solvers.NAME, surrogates.NAME, studies.first.NAME, sep=", ")
"""
    done = subprocess.run([python, "-c", code], cwd=tmp_path / "mine", capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == "the solvers of the user, a package of another project, a study without __init__\n"

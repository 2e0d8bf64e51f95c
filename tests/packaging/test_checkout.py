"""A checkout can be imported from, however the library is installed: all of it, and nothing else that lies there."""

from shutil import copy, copytree

import pytest
from installations import ROOT, build, copy_sources, environment, run

import spotsvm

QUICK = "tests/surrogates/test_responses.py"
#: imports all public names, and prints the version, and the files that do not come from the working directory
IMPORTS = """
import importlib, importlib.util, pickle, pkgutil, sys
from pathlib import Path
import numpy as np
import spotsvm
for name in ("acquisition", "errors", "kernels", "searches", "tables", "solvers", "studies.tasks.data", "surrogates"):
    importlib.import_module(f"spotsvm.{name}")
for name in spotsvm.__all__:
    getattr(spotsvm, name)
assert pickle.loads(pickle.dumps(spotsvm.Kriging)) is spotsvm.Kriging
for name in ("tests", "docs", "spotsvm", "setup", "conftest"):
    assert importlib.util.find_spec(f"spotsvm.{name}") is None, name
assert not {"tests", "setup", "spotsvm"} & {module.name for module in pkgutil.iter_modules(spotsvm.__path__)}
from spotsvm.surrogates.kriging._correlation_kernels import exponentials
exponentials(np.zeros(2), np.zeros(2))
assert list(Path("surrogates/kriging/__pycache__").glob("*exponentials*.nbi"))
files = [module.__file__ for name, module in sys.modules.items() if name.split(".")[0] == "spotsvm"]
print(spotsvm.__version__, *(file for file in files if Path.cwd() not in Path(file).parents))
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy as a fresh clone has it, of a version that is installed nowhere."""
    root = copy_sources(tmp_path_factory.mktemp("clone") / "spotsvm")
    pyproject = (root / "pyproject.toml").read_text(encoding="utf-8")
    (root / "pyproject.toml").write_text(pyproject.replace(f'version = "{spotsvm.__version__}"', 'version = "9.8"'))
    (root / QUICK).parent.mkdir(parents=True)
    for name in (QUICK, "tests/conftest.py"):
        copy(ROOT / name, root / name)
    return root


@pytest.fixture(scope="module", params=["nothing", "wheel", "editable", "another editable"])
def python(request, checkout, tmp_path_factory):
    """The Python of an environment with an installation of the checkout, of another one, or with nothing."""
    folder, kind = tmp_path_factory.mktemp("environment"), request.param
    sources = checkout
    if kind != "nothing":
        # a build leaves folders in the sources, which a fresh clone does not have after pip, as that builds elsewhere
        sources = copytree(checkout, folder / "sources") if kind != "editable" else checkout
    built = None if kind == "nothing" else build(sources, kind.split()[-1], folder)
    return environment(folder / "env", built)


def test_all_that_is_public_is_imported_from_the_checkout_and_pytest_runs_in_its_root(python, checkout, request):
    assert run(python, "-c", IMPORTS, cwd=checkout).split() == ["9.8"]
    if request.node.callspec.params["python"] in ("wheel", "editable"):
        assert " passed in " in run(python, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", QUICK, cwd=checkout)


def test_a_folder_of_another_project_is_no_checkout(tmp_path):
    """As the folder `site-packages` is, into which somebody has installed packages called solvers and so on."""
    site = copy_sources(tmp_path / "site")
    (site / "pyproject.toml").write_text('[project]\nname = "theirs"\nversion = "1.0"\n')
    code = "import importlib.util, spotsvm; print(spotsvm.__version__, importlib.util.find_spec('spotsvm.solvers'))"
    (site / "spotsvm-7.6.dist-info").mkdir()
    (site / "spotsvm-7.6.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: spotsvm\nVersion: 7.6\n")
    assert run(environment(tmp_path / "env"), "-c", code, cwd=site) == "7.6 None\n"

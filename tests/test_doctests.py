"""The examples in docstrings, of each module by the name under which users import it."""

import doctest
import importlib
import importlib.util
from pathlib import Path

import pytest

NEED_DASK = {"spotsvm.study.workers.dask_workers"}
NEED_OPTUNA = "spotsvm.study.optuna"
ROOT = Path(__file__).parent.parent
FLOORS = {name: f"spotsvm.{name}" for name in ("surrogates", "solvers", "studies")}
FOLDERS = {"spotsvm": "spotsvm", **FLOORS}
MODULES = {
    ".".join((name, *path.relative_to(ROOT / folder).with_suffix("").parts)).removesuffix(".__init__"): path
    for folder, name in FOLDERS.items()
    for path in sorted((ROOT / folder).rglob("*.py"))
}
WITH_EXAMPLES = sorted(name for name, path in MODULES.items() if ">>>" in path.read_text(encoding="utf-8"))


def missing(name):
    """Return what a module needs and is not installed."""
    if name in NEED_DASK and importlib.util.find_spec("distributed") is None:
        return 'Dask is not installed: pip install "spotsvm[dask]"'
    if name.startswith(NEED_OPTUNA) and importlib.util.find_spec("optuna") is None:
        return 'Optuna is not installed: pip install "spotsvm[optuna]"'
    return ""


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name):
    if why := missing(name):
        pytest.skip(why)
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_other_module_can_be_imported():
    assert all(importlib.import_module(name) for name in MODULES if name not in WITH_EXAMPLES and not missing(name))


def test_all_packages_are_seen():
    assert {name.split(".")[1] for name in MODULES if name != "spotsvm"} >= {
        "surrogates",
        "solvers",
        "study",
        "search_cv",
        "studies",
    }
    assert len(MODULES) > 200

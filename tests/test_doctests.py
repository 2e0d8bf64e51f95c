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
FOLDERS = {"public": "spotsvm", "spotsvm": "spotsvm", **FLOORS}
MODULES = sorted(
    ".".join((name, *path.relative_to(ROOT / folder).with_suffix("").parts)).removesuffix(".__init__")
    for folder, name in FOLDERS.items()
    for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    if name in NEED_DASK and importlib.util.find_spec("distributed") is None:
        pytest.skip('Dask is not installed: pip install "spotsvm[dask]"')
    if name.startswith(NEED_OPTUNA) and importlib.util.find_spec("optuna") is None:
        pytest.skip('Optuna is not installed: pip install "spotsvm[optuna]"')
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_all_packages_are_seen():
    assert {name.split(".")[1] for name in MODULES if name != "spotsvm"} >= {
        "surrogates",
        "solvers",
        "study",
        "search_cv",
        "studies",
    }
    assert len(MODULES) > 200

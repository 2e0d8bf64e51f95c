"""The examples in docstrings, of each module by the name under which users import it."""

import doctest
import importlib
import importlib.util
import pkgutil

import pytest

import spotsvm

NEED_DASK = {"spotsvm.study.workers.dask_workers"}
MODULES = ["spotsvm", *(module.name for module in pkgutil.walk_packages(spotsvm.__path__, "spotsvm."))]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    if name in NEED_DASK and importlib.util.find_spec("distributed") is None:
        pytest.skip('Dask is not installed: pip install "spotsvm[dask]"')
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_all_packages_are_seen():
    assert {name.split(".")[1] for name in MODULES[1:]} >= {"surrogates", "solvers", "study", "search_cv", "studies"}
    assert len(MODULES) > 200

"""Scikit-learn's own tests of its searches, with SpotSearchCV in the place of RandomizedSearchCV.

Those that concern neither are left out, and those that need other libraries of arrays. `conftest.py` marks what differs by
design.
"""

import importlib
import inspect
from unittest import mock

import pytest
import sklearn.model_selection

from spotsvm import SpotSearchCV

with mock.patch.object(sklearn.model_selection, "RandomizedSearchCV", SpotSearchCV):
    THEIRS = importlib.import_module("sklearn.model_selection.tests.test_search")

pytestmark = pytest.mark.filterwarnings("ignore")


def _is_about_ours(name, test):
    if not name.startswith("test_") or name.startswith("test_array_api"):
        return False
    marks = [mark.args for mark in getattr(test, "pytestmark", []) if mark.name == "parametrize"]
    return "RandomizedSearchCV" in inspect.getsource(test) or "SpotSearchCV" in repr(marks)


globals().update({name: test for name, test in vars(THEIRS).items() if _is_about_ours(name, test)})


def test_the_search_is_ours():
    assert THEIRS.RandomizedSearchCV is SpotSearchCV
    assert sum(name.startswith("test_") for name in globals()) > 20

import importlib
import sys

import pytest


def test_it_says_what_is_missing(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("spotsvm.study.optuna")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "optuna", None)
    said = r'^spotsvm.study.optuna needs Optuna, which is not installed: pip install "spotsvm\[optuna\]"$'
    with pytest.raises(ImportError, match=said):
        importlib.import_module("spotsvm.study.optuna")

import logging

import pytest

from spotsvm.surrogates.compiled import announce_compilation, compiled


def double(x):
    return 2.0 * x


def test_without_a_folder_for_the_cache_it_works_all_the_same(monkeypatch):
    monkeypatch.setattr("numba.core.caching.CompileResultCacheImpl._locator_classes", [])
    assert compiled(double)(1.5) == 3.0


def test_options_are_those_of_numba():
    divide = compiled(error_model="python")(lambda x: 1.0 / x)
    with pytest.raises(ZeroDivisionError):
        divide(0.0)
    assert compiled(lambda x: 1.0 / x)(0.0) == float("inf")


def test_compilation_is_announced_once(caplog, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    function = compiled(double)
    with caplog.at_level(logging.INFO, "spotsvm"):
        announce_compilation(function, "a test")
        announce_compilation(function, "a test")
        assert [record.getMessage().split(",")[0] for record in caplog.records] == ["compiling a test"]
        function(1.0)
        announce_compilation(compiled(double), "what is there already")
    assert len(caplog.records) == 1

"""The end of a run says what was skipped, where, and what to do about it."""

from pathlib import Path
from types import SimpleNamespace

import pytest

NEEDS_DATA = "needs data sets that do not come with scikit-learn: set SPOTSVM_DATA to the folder with their MANIFEST.csv"


@pytest.fixture
def conftest(request):
    return request.config.pluginmanager.get_plugin(str(Path(__file__).with_name("conftest.py")))


def test_tests_without_their_data_are_skipped_with_the_remedy(conftest, tmp_path, monkeypatch):
    marked, other = (SimpleNamespace(get_closest_marker=lambda name, own=own: name == own) for own in ("data", "faults"))
    for folder in (None, tmp_path):
        monkeypatch.setenv("SPOTSVM_DATA", str(folder)) if folder else monkeypatch.delenv("SPOTSVM_DATA", raising=False)
        conftest.pytest_runtest_setup(other)
        with pytest.raises(pytest.skip.Exception, match=f"^{NEEDS_DATA}$"):
            conftest.pytest_runtest_setup(marked)
    (tmp_path / "MANIFEST.csv").touch()
    conftest.pytest_runtest_setup(marked)


def test_skipped_tests_are_listed_by_reason(conftest):
    skipped = [("tests/test_b.py::test_it[1]", NEEDS_DATA), ("tests/test_b.py::test_it[2]", NEEDS_DATA)]
    skipped += [("tests/test_c.py::test_it", NEEDS_DATA), ("tests/test_a.py::test_it", "no Dask")]
    reports = [SimpleNamespace(nodeid=test, longrepr=("file", 1, f"Skipped: {reason}")) for test, reason in skipped]
    lines = []
    reporter = SimpleNamespace(getreports={"skipped": reports}.get, section=lines.append, write_line=lines.append)
    conftest.pytest_terminal_summary(reporter)
    assert lines == [
        "4 skipped",
        f"3: {NEEDS_DATA}",
        "    tests/test_b.py (2)",
        "    tests/test_c.py",
        "1: no Dask",
        "    tests/test_a.py",
    ]

import pytest


@pytest.fixture
def path(tmp_path):
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs" / "study.db"

"""What tests of paths share."""

import pytest


@pytest.fixture
def no_folder(tmp_path, monkeypatch):
    """A working directory that has been removed."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    return gone

"""The records of a folder."""

import os
import sqlite3
from contextlib import closing

import pytest

from spotsvm.errors import StorageError
from spotsvm.study.record.opening import record_files
from spotsvm.study.record.record import Record


def test_all_records_in_a_folder_by_name(tmp_path):
    assert record_files(tmp_path) == []
    assert record_files(tmp_path / "gone") == [tmp_path / "gone"]
    made = [tmp_path / "b.db", tmp_path / "a" / "x.sqlite", tmp_path / "a" / "deep" / "y"]
    for path in made:
        Record(path).close()
    with closing(sqlite3.connect(tmp_path / "a" / "of_another_program")) as other:
        other.execute("CREATE TABLE t (x)")
    made.append(tmp_path / "a" / "of_another_program")
    (tmp_path / "notes.db").write_text("SQLite format 3 is what this is not")
    (tmp_path / "empty.db").touch()
    with closing(Record(tmp_path / "b.db")):  # an open record has files beside it
        assert record_files(tmp_path) == sorted(made)
    assert record_files(tmp_path / "a") == sorted(made[1:])
    assert record_files(tmp_path / "notes.db") == [tmp_path / "notes.db"]


def test_links_are_not_followed(tmp_path):
    Record(tmp_path / "away" / "a.db").close()
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "folder").symlink_to(tmp_path / "away", target_is_directory=True)
    (inside / "a.db").symlink_to(tmp_path / "away" / "a.db")
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    assert record_files(inside) == []


@pytest.mark.skipif(
    os.name == "nt" or os.getuid() == 0, reason="root may read and write everything: run this test as another user"
)
def test_a_folder_that_cannot_be_read(tmp_path):
    (tmp_path / "locked").mkdir(mode=0)
    with pytest.raises(StorageError, match="locked: cannot read the folder: Permission denied"):
        record_files(tmp_path)

import os
import sqlite3
from contextlib import closing

import pytest

from spotsvm.commands.status import record_files
from spotsvm.common.errors import StorageError
from spotsvm.study.record.record import Record


def test_all_records_in_a_folder_by_name(tmp_path):
    made = [tmp_path / "b.db", tmp_path / "a" / "x.sqlite", tmp_path / "a" / "deep" / "y"]
    for path in made:
        Record(path).close()
    (tmp_path / "notes.db").write_text("SQLite format 3 is what this is not")
    (tmp_path / "empty.db").touch()
    assert record_files(tmp_path) == sorted(made)
    assert record_files(tmp_path / "a") == sorted(made[1:])


def test_what_lies_beside_a_record_is_none(tmp_path):
    with closing(Record(tmp_path / "a.db")):
        assert len(list(tmp_path.iterdir())) > 1
        assert record_files(tmp_path) == [tmp_path / "a.db"]


def test_links_are_not_followed(tmp_path):
    Record(tmp_path / "away" / "a.db").close()
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "folder").symlink_to(tmp_path / "away", target_is_directory=True)
    (inside / "a.db").symlink_to(tmp_path / "away" / "a.db")
    (inside / "loop").symlink_to(inside, target_is_directory=True)
    assert record_files(inside) == []


def test_a_file_is_returned_whatever_it_holds(tmp_path):
    (tmp_path / "a.txt").write_text("no record")
    assert record_files(tmp_path / "a.txt") == [tmp_path / "a.txt"]


def test_a_database_of_another_program_is_given_too(tmp_path):
    with closing(sqlite3.connect(tmp_path / "a.db")) as other:
        other.execute("CREATE TABLE t (x)")
    assert record_files(tmp_path) == [tmp_path / "a.db"]


def test_nothing_there(tmp_path):
    assert record_files(tmp_path) == []
    assert record_files(tmp_path / "gone") == [tmp_path / "gone"]


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="all may read")
def test_a_folder_that_cannot_be_read(tmp_path):
    (tmp_path / "locked").mkdir(mode=0)
    with pytest.raises(StorageError, match="locked: cannot read the folder: Permission denied"):
        record_files(tmp_path)

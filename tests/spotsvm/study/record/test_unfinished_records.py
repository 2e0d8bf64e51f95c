"""A record that is just being created, and one of the two files of a record in use, are told from other files."""

import os
import shutil
import sqlite3
from contextlib import closing

import pytest
from click.testing import CliRunner
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.commands.main import main
from spotsvm.common.errors import StorageError
from spotsvm.study.record.lock import WriterLock
from spotsvm.study.record.opening import connect_to_write, prepare_to_write
from spotsvm.study.record.record import Record
from spotsvm.study.recorded import RecordedStudy
from spotsvm.study.status import read_status


def study(path):
    return Study({"x": uniform(0, 1)}, "random", 0, path=path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.db"


def a_header(path):
    with closing(connect_to_write(path)) as connection:
        prepare_to_write(connection)


def tables_only(path):
    Record(path).close()


@pytest.mark.parametrize("so_far", [lambda path: path.touch(), a_header, tables_only], ids=["a file", "a header", "tables"])
def test_a_record_that_another_process_is_just_creating(so_far, path):
    so_far(path)
    lock = WriterLock(path)
    try:
        with pytest.raises(
            StorageError, match=rf"study.db is just being created by process {os.getpid()} .*; try again in a moment"
        ):
            RecordedStudy(path)
        if so_far is not tables_only:
            with pytest.raises(StorageError, match="is just being created by"):
                read_status(path)
            line = CliRunner().invoke(main, ["export", str(path)]).stderr
            assert line.startswith("spotsvm: error: ")
            assert "is just being created by process" in line
    finally:
        lock.release()


def test_at_any_moment_of_its_creation_a_reader_is_told_or_reads(path, monkeypatch):
    """A reader between any two statements of the process that creates it."""
    said = []

    class Watched:
        def __init__(self, connection):
            self._connection = connection

        def __getattr__(self, name):
            return getattr(self._connection, name)

        def execute(self, *arguments):
            found = self._connection.execute(*arguments)
            if "journal_mode" in arguments[0]:
                found.fetchall()  # it locks the file until it is read, and readers wait for it
            if not self._connection.in_transaction:
                try:
                    RecordedStudy(path)
                except StorageError as error:
                    said.append(str(error))
            return found

    monkeypatch.setattr("spotsvm.study.record.record.connect_to_write", lambda path: Watched(connect_to_write(path)))
    with study(path):
        assert len(said) >= 5
        assert [line for line in said if "is just being created by process" not in line] == []
        monkeypatch.undo()
        assert RecordedStudy(path).trials == ()


@pytest.fixture
def lone(path, tmp_path):
    """A copy of the file of a record in use, without its write-ahead log."""
    copy = tmp_path / "copy.db"
    with study(path) as running:
        running.run(lambda p: p["x"], 5)
        shutil.copyfile(path, copy)
        whole = tmp_path / "whole.db"
        shutil.copyfile(path, whole)
        shutil.copyfile(f"{path}-wal", f"{whole}-wal")
    assert len(RecordedStudy(whole).trials) == 5
    return copy


def test_a_copy_without_its_log_says_what_it_is_and_what_to_do(lone):
    before = lone.read_bytes()
    for read in (RecordedStudy, read_status):
        with pytest.raises(
            StorageError, match=r"copy\.db holds nothing without copy\.db-wal, .* Copy both files, or copy it again"
        ):
            read(lone)
    line = CliRunner().invoke(main, ["report", str(lone), "--out", str(lone.with_suffix(".html"))]).stderr
    assert "it is a copy of one of the two files of a record in use" in line
    assert lone.read_bytes() == before


def test_a_study_that_begins_anew_on_such_a_copy_says_so(lone):
    with (
        pytest.warns(UserWarning, match=r"holds nothing without copy\.db-wal.* The study starts from the beginning"),
        study(lone) as s,
    ):
        assert s.run(lambda p: p["x"], 3).n_finished == 3
    assert study(lone).n_finished == 3


def test_an_empty_database_of_another_program_is_none(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE other (x)")
        connection.execute("DROP TABLE other")
        connection.commit()
    with pytest.raises(StorageError, match="is not a record of spotsvm; name another file"):
        RecordedStudy(path)

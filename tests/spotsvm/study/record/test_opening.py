"""Records where nothing can be written, that are not files, are removed while they are open, or are incomplete."""

import gc
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing

import pytest
from click.testing import CliRunner
from completed_trials import Watched
from installed_command import main

from spotsvm import load_study
from spotsvm.errors import StorageError
from spotsvm.study.record.opening import WriterLock, connect_to_read, connect_to_write, copy_of, prepare_to_write
from spotsvm.study.record.record import Record, read_ledger
from spotsvm.study.status import read_status
from tests.spotsvm.study.record.records import objective, study


def export(path, *options):
    return CliRunner().invoke(main, ["export", str(path), *options])


@pytest.fixture
def read_only(tmp_path, path):
    """Return a function that mounts the record's folder read-only elsewhere, and returns the record's path there."""
    places = []

    def make():
        place = tmp_path / "read_only"
        place.mkdir()
        steps = [["mount", "--bind", path.parent, place], ["mount", "-o", "remount,bind,ro", place]]
        if any(subprocess.run(step, capture_output=True, check=False).returncode for step in steps):
            pytest.skip("mounting a folder read-only takes root's rights: run this test as root, outside of a container")
        places.append(place)
        return place / path.name

    yield make
    for place in places:
        subprocess.run(["umount", place], check=False)


def killed(path):
    """Leave a record as a process leaves it that was killed: its last trials in the write-ahead log alone."""
    script = f"""
import os, signal
from scipy.stats import uniform
from spotsvm import Study
study = Study({{"C": uniform(0, 1), "kernel": ["rbf", "poly", "linear"]}}, "random", 0, path={str(path)!r})
study.run(lambda p: p["C"], 7)
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert path.with_name("study.db-wal").stat().st_size > 0


@pytest.mark.faults
def test_a_finished_record_is_read_where_nothing_can_be_written(path, read_only, tmp_path):
    with study(path) as s:
        s.run(objective, 5)
    there = read_only()
    assert load_study(there).frame().equals(s.frame())
    for command in (["export", there], ["report", there, "--out", tmp_path / "report.html"]):
        result = CliRunner().invoke(main, list(map(str, command)))
        assert result.exit_code == 0, result.output
    with pytest.raises(StorageError, match=r"study.db: cannot open the record: study.db-lock: Read-only file system"):
        study(there)
    assert [file.name for file in path.parent.iterdir()] == ["study.db"]


@pytest.mark.faults
def test_the_record_of_a_killed_process_is_read_as_it_is_also_where_nothing_can_be_written(path, read_only):
    killed(path)
    assert load_study(path).n_finished == 7
    assert path.with_name("study.db-wal").stat().st_size > 0
    for name in ("study.db-shm", "study.db-lock"):
        path.with_name(name).unlink()
    assert len(read_ledger(copy_of(path, path.parents[1])).trials) == 7
    there = read_only()
    assert load_study(there).n_finished == 7
    assert export(there).output.count("\n") == 8
    with study(path) as s:
        assert s.n_finished == 7


def test_a_copy_is_of_one_moment(path, tmp_path, monkeypatch):
    """The file changes while it is copied: it is copied again; if it always does, that is said."""
    with study(path) as s:
        s.run(objective, 3)
    copy, times = shutil.copyfile, []

    def changing(source, target):
        times.append(source)
        os.utime(path, ns=(len(times), len(times)))
        copy(source, target)

    monkeypatch.setattr("spotsvm.study.record.opening.shutil.copyfile", changing)
    with pytest.raises(StorageError, match="changes faster than it can be copied"):
        copy_of(path, tmp_path)
    assert len(times) == 10

    def settling(source, target):
        (changing if len(times) < 12 else copy)(source, target)

    monkeypatch.setattr("spotsvm.study.record.opening.shutil.copyfile", settling)
    assert len(read_ledger(copy_of(path, tmp_path)).trials) == 3
    assert len(times) == 12


@pytest.mark.parametrize(
    ("make", "kind"),
    [(os.mkdir, "a directory"), (os.mkfifo, "a pipe"), (lambda p: p.symlink_to("/dev/zero"), "a device")],
)
def test_what_is_no_file_is_said_at_once(make, kind, path):
    make(path)
    began = time.monotonic()
    for act in (study, load_study):
        with pytest.raises(StorageError, match=f"study.db: cannot open the record: it is {kind}"):
            act(path)
    assert "no such record" not in export(path).output
    assert time.monotonic() - began < 60


GARBAGE = [b"x", b"x" * 100, b"\0" * 5000, bytes(range(256)) * 40]


@pytest.mark.parametrize("content", GARBAGE, ids=len)
def test_a_file_of_garbage_is_not_overwritten(content, path):
    path.write_bytes(content)
    for act in (study, load_study):
        with pytest.raises(StorageError, match="not a record of spotsvm"):
            act(path)
    assert path.read_bytes() == content


def test_the_log_does_not_grow_while_a_reader_is_open_and_is_emptied_after_another_program(path):
    log = path.with_name("study.db-wal")
    with study(path) as s:
        trial = s.ask()
        with closing(Record(path, read_only=True)) as reader:
            for k in range(400):
                s._books.lose(trial, chr(65 + k % 26) * 30_000)
                if k % 50 == 0:
                    reader.ledger()
            assert log.stat().st_size < 6 << 20
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT * FROM events").fetchall()
            for k in range(420):
                s._books.lose(trial, chr(65 + k % 26) * 30_000)
            assert log.stat().st_size > 8 << 20
            other.execute("COMMIT")
        for k in range(3):
            s._books.lose(trial, str(k))
        assert log.stat().st_size <= 4 << 20
    assert [file.name for file in path.parent.iterdir()] == ["study.db"]


def test_a_record_whose_folder_says_no_is_read_by_a_copy(path, monkeypatch):
    """As where a folder may not be written to, which root may everywhere."""
    with study(path) as s:
        s.run(objective, 3)
        connect = sqlite3.connect

        def refuse(address, **options):
            if address.endswith("mode=ro"):
                error = sqlite3.OperationalError("unable to open database file")
                error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
                raise error
            return connect(address, **options)

        monkeypatch.setattr("spotsvm.study.record.opening.sqlite3.connect", refuse)
        connection, afterwards = connect_to_read(path)
        assert connection.execute("SELECT count(*) FROM events WHERE kind = 'told'").fetchone() == (3,)
        connection.close()
        afterwards()


def write_header(path):
    with closing(connect_to_write(path)) as connection:
        prepare_to_write(connection)


def create(path):
    Record(path).close()


@pytest.mark.parametrize("so_far", [write_header, create], ids=["a header", "tables"])
def test_a_record_that_another_process_is_just_creating(so_far, path):
    so_far(path)
    lock = WriterLock(path)
    try:
        said = rf"study.db is just being created by process {os.getpid()} .*; try again in a moment"
        with pytest.raises(StorageError, match=said):
            load_study(path)
        if so_far is not create:
            with pytest.raises(StorageError, match="is just being created by"):
                read_status(path)
            line = export(path).stderr
            assert line.startswith("spotsvm: error: ")
            assert "is just being created by process" in line
    finally:
        lock.release()


def test_at_any_moment_of_its_creation_a_reader_is_told_or_reads(path, monkeypatch):
    """A reader between any two statements of the process that creates it."""
    said = []

    def connect(path):
        connection = connect_to_write(path)

        def read(statement, cursor):
            if "journal_mode" in statement:
                cursor.fetchall()  # it locks the file until it is read, and readers wait for it
            if not connection.in_transaction:
                try:
                    load_study(path)
                except StorageError as error:
                    said.append(str(error))

        return Watched(connection, after=read)

    monkeypatch.setattr("spotsvm.study.record.record.connect_to_write", connect)
    with study(path):
        assert len(said) >= 5
        assert [line for line in said if "is just being created by process" not in line] == []
        monkeypatch.undo()
        assert load_study(path).trials == ()


@pytest.fixture
def lone(path, tmp_path):
    """A copy of the file of a record in use, without its write-ahead log."""
    copy = tmp_path / "copy.db"
    with study(path) as running:
        running.run(objective, 5)
        shutil.copyfile(path, copy)
        whole = tmp_path / "whole.db"
        shutil.copyfile(path, whole)
        shutil.copyfile(f"{path}-wal", f"{whole}-wal")
    assert len(load_study(whole).trials) == 5
    return copy


def test_a_copy_without_its_log_says_what_it_is_and_what_to_do_also_where_a_study_begins_anew_on_it(lone):
    before = lone.read_bytes()
    for read in (load_study, read_status):
        with pytest.raises(
            StorageError, match=r"copy\.db holds nothing without copy\.db-wal, .* Copy both files, or copy it again"
        ):
            read(lone)
    line = CliRunner().invoke(main, ["report", str(lone), "--out", str(lone.with_suffix(".html"))]).stderr
    assert "it is a copy of one of the two files of a record in use" in line
    assert lone.read_bytes() == before
    with (
        pytest.warns(UserWarning, match=r"holds nothing without copy\.db-wal.* The study starts from the beginning"),
        study(lone) as s,
    ):
        assert s.run(objective, 3).n_finished == 3
    assert study(lone).n_finished == 3


def test_a_study_need_not_be_closed(path):
    """Python 3.13 warns of a connection that is not, unless it closes with the last reference to it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            study(path=path).run(objective, n_trials=3)
            gc.collect()
    assert said == []
    assert len(load_study(path).trials) == 3

"""Records that lie where nothing can be written, or are no files, or are taken away while they are open."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace

import pytest
from click.testing import CliRunner
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.commands.main import main
from spotsvm.common.errors import StorageError
from spotsvm.study.record.opening import connect_to_read, copy_of
from spotsvm.study.record.record import Record
from spotsvm.study.recorded import RecordedStudy

SPACE = {"x": uniform(0, 1), "kernel": ["rbf", "poly"]}


def objective(p):
    return p["x"]


def study(path):
    return Study(SPACE, "random", 0, path=path)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs" / "study.db"


@pytest.fixture
def read_only(tmp_path, path):
    """Gives a function that makes the record's folder one in which nothing can be written, and gives the record's path there."""
    places = []

    def make():
        place = tmp_path / "read_only"
        place.mkdir()
        steps = [["mount", "--bind", path.parent, place], ["mount", "-o", "remount,bind,ro", place]]
        if any(subprocess.run(step, capture_output=True, check=False).returncode for step in steps):
            pytest.skip("mounting a folder read-only takes root's rights")
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
study = Study({{"x": uniform(0, 1), "kernel": ["rbf", "poly"]}}, "random", 0, path={str(path)!r})
study.run(lambda p: p["x"], 7)
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False)
    assert path.with_name("study.db-wal").stat().st_size > 0


@pytest.mark.faults
def test_a_finished_record_is_read_where_nothing_can_be_written(path, read_only, tmp_path):
    with study(path) as s:
        s.run(objective, 5)
    there = read_only()
    assert RecordedStudy(there).frame().equals(s.frame())
    for command in (["export", there], ["report", there, "--out", tmp_path / "report.html"]):
        result = CliRunner().invoke(main, list(map(str, command)))
        assert result.exit_code == 0, result.output
    with pytest.raises(StorageError, match=r"study.db: cannot open the record: study.db-lock: Read-only file system"):
        study(there)
    assert [file.name for file in path.parent.iterdir()] == ["study.db"]


@pytest.mark.faults
def test_what_a_killed_process_left_is_read_where_nothing_can_be_written(path, read_only):
    killed(path)
    for name in ("study.db-shm", "study.db-lock"):
        path.with_name(name).unlink()
    there = read_only()
    read = RecordedStudy(there)
    assert read.n_finished == 7
    assert CliRunner().invoke(main, ["export", str(there)]).output.count("\n") == 8


@pytest.mark.faults
def test_a_running_study_is_read_where_nothing_can_be_written(path, read_only):
    with study(path) as s:
        s.run(objective, 4)
        there = read_only()
        assert RecordedStudy(there).frame().equals(s.frame())
        s.run(objective, 6)
        assert RecordedStudy(there).frame().equals(s.frame())


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
    monkeypatch.setattr(
        "spotsvm.study.record.opening.shutil.copyfile", lambda s, t: changing(s, t) if len(times) < 12 else copy(s, t)
    )
    with closing(Record(copy_of(path, tmp_path), read_only=True)) as record:
        assert len(record.trials()) == 3
    assert len(times) == 12


def test_reading_what_a_killed_process_left_takes_nothing_away(path):
    killed(path)
    assert RecordedStudy(path).n_finished == 7
    assert path.with_name("study.db-wal").stat().st_size > 0
    with study(path) as s:
        assert s.n_finished == 7


@pytest.mark.parametrize(
    ("make", "kind"),
    [(os.mkdir, "a directory"), (os.mkfifo, "a pipe"), (lambda p: p.symlink_to("/dev/zero"), "a device")],
)
def test_what_is_no_file_is_said_at_once(make, kind, path):
    make(path)
    began = time.monotonic()
    for act in (study, RecordedStudy):
        with pytest.raises(StorageError, match=f"study.db: cannot open the record: it is {kind}"):
            act(path)
    assert "no such record" not in CliRunner().invoke(main, ["export", str(path)]).output
    assert time.monotonic() - began < 5


GARBAGE = [b"x" * size for size in (1, 2, 15, 16, 99, 100, 511, 512, 4096)] + [b"\0" * 5000, bytes(range(256)) * 40]


@pytest.mark.parametrize("content", GARBAGE, ids=len)
def test_a_file_of_garbage_is_not_overwritten(content, path):
    path.write_bytes(content)
    for act in (study, RecordedStudy):
        with pytest.raises(StorageError, match="not a record of spotsvm"):
            act(path)
    assert path.read_bytes() == content


def test_an_empty_file_is_no_record_to_read(path):
    path.touch()
    with pytest.raises(StorageError, match="is an empty file, not a record"):
        RecordedStudy(path)


@pytest.mark.faults
@pytest.mark.parametrize("replaced", [False, True])
def test_a_record_that_is_taken_away_while_it_is_open(replaced, path):
    with study(path) as s:
        s.run(objective, 3)
        trial = s.ask()
        path.rename(path.with_name("moved.db"))
        if replaced:
            path.write_bytes(b"something else")
        what = "was replaced by another file" if replaced else "is not there any more"
        for act in (s.ask, lambda: s.tell(trial, 0.5), lambda: s.add_finding("a", {})):
            with pytest.raises(StorageError, match=f"study.db: the record {what}; the trials are still in memory"):
                act()
        s.to_csv(path.with_name("trials.csv"))
        path.with_name("moved.db").replace(path)
        assert s.tell(trial, 0.5).state == "ok"
    with study(path) as again:
        assert again.trials == s.trials


def test_the_log_does_not_grow_while_a_reader_is_open(path):
    log = path.with_name("study.db-wal")
    with study(path) as s, closing(Record(path, read_only=True)) as reader:
        record = s._record
        trial = s.ask()
        for k in range(400):
            record.write_lost(replace(trial, lost=(chr(65 + k % 26) * 30_000,)))
            if k % 50 == 0:
                reader.trials()
        assert log.stat().st_size < 6 << 20
    with closing(Record(path)):
        pass
    assert [file.name for file in path.parent.iterdir()] == ["study.db"]


def test_a_log_that_another_program_keeps_growing_is_emptied_afterwards(path):
    log = path.with_name("study.db-wal")
    with study(path) as s:
        trial = s.ask()
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT * FROM trials").fetchall()
            for k in range(420):
                s._record.write_lost(replace(trial, lost=(chr(65 + k % 26) * 30_000,)))
            assert log.stat().st_size > 8 << 20
            other.execute("COMMIT")
        for k in range(3):
            s._record.write_lost(replace(trial, lost=(str(k),)))
        assert log.stat().st_size <= 4 << 20


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
        assert connection.execute("SELECT count(*) FROM trials").fetchone() == (3,)
        connection.close()
        afterwards()

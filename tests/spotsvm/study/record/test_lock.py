import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from spotsvm.errors import StorageError
from spotsvm.study.record.opening import Writer, lock_path, writer_of
from tests.spotsvm.study.record.records import objective, study

HOLD = """
import sys, time
from pathlib import Path
from spotsvm.study.record.opening import WriterLock
held = WriterLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


@contextmanager
def holder(path):
    """Start a process that holds the record's lock."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.faults
def test_a_second_process_is_refused_until_the_first_is_killed(path):
    with holder(path) as other:
        with pytest.raises(StorageError) as caught:
            study(path)
        line = str(caught.value)
        assert line.startswith(f"{path} is being written to by process {other.pid} on {os.uname().nodename} (")
        assert " since 20" in line
        assert line.endswith(": wait for it or end it, or use another file")
        assert "\n" not in line
        writer = writer_of(path)
        assert (writer.pid, writer.host) == (other.pid, os.uname().nodename)
        assert "-c" in writer.command
        with pytest.raises(StorageError, match=f"process {other.pid}"):
            study(path)  # asking has not taken it away
    with study(path) as s:  # at once, with nothing removed by hand
        assert writer_of(path).pid == os.getpid()
        s.run(objective, 2)
    assert writer_of(path) is None
    assert [file.name for file in path.parent.iterdir()] == ["study.db"]


def test_the_same_process_is_refused_too_by_whatever_path(path):
    (path.parent / "inner").mkdir()
    (path.parent / "inner" / "link.db").symlink_to(path)
    (path.parent / "folder").symlink_to(path.parent)
    with study(path) as s:
        s.run(objective, 2)
        for same in (path, path.parent / "inner" / "link.db", path.parent / "folder" / "study.db"):
            with pytest.raises(StorageError, match="has been open for writing in this process since .*; close the other study"):
                study(same)
            assert writer_of(same).pid == os.getpid()
        s.run(objective, 4)
    with study(path.parent / "inner" / "link.db") as s:
        assert s.n_finished == 4
        assert lock_path(path).exists()


def test_a_file_with_two_names_is_not_written_to(path):
    study(path).close()
    twin = path.with_name("twin.db")
    twin.hardlink_to(path)
    with pytest.raises(StorageError, match="it has 2 names"):
        study(path)
    twin.unlink()
    study(path).close()


def test_a_study_that_nobody_has_any_more_lets_go_of_its_record(path):
    s = study(path)
    s.itself = s  # only the garbage collector ends this
    del s
    with study(path) as again:
        assert again.trials == ()


def test_the_lock_is_taken_anew_if_a_copy_of_the_folder_released_it(path, tmp_path):
    """Closing any descriptor of a file ends a process's locks on it."""
    with study(path) as s:
        shutil.copytree(path.parent, tmp_path / "copy")
        s.run(objective, 2)
        done = subprocess.run([sys.executable, "-c", HOLD, str(path)], capture_output=True, text=True, check=False, timeout=30)
        assert f"is being written to by process {os.getpid()}" in done.stderr


def test_a_lock_whose_file_was_removed_is_taken_anew_unless_another_process_was_faster(path):
    with study(path) as s:
        lock_path(path).unlink()
        s.run(objective, 2)
        assert writer_of(path).pid == os.getpid()
        lock_path(path).unlink()
        with holder(path) as other, pytest.raises(StorageError, match=f"is being written to by process {other.pid}"):
            s.ask()
        assert s.ask().number == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.faults
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_worker_neither_writes_nor_keeps_the_lock_of_a_dead_parent(path):
    script = f"""
import os, signal, time
from scipy.stats import uniform
from spotsvm import Study
study = Study({{"C": uniform(0, 1), "kernel": ["rbf", "poly", "linear"]}}, "random", 0, path={str(path)!r})
study.run(lambda p: p["C"], 3)
ready, told = os.pipe()
if os.fork() == 0:
    try:
        study.ask()
    except ValueError as error:
        print(os.getpid(), error, flush=True)
    del study
    os.write(told, b"x")
    time.sleep(600)
os.read(ready, 1)
os.kill(os.getpid(), signal.SIGKILL)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as parent:
        child, _, said = parent.stdout.readline().partition(" ")
        assert said == f"{path} was opened by process {parent.pid}: a process forked from it cannot write to it\n"
        assert parent.wait(30) == -signal.SIGKILL
        try:
            os.kill(int(child), 0)  # the worker lives on
            with study(path) as s:
                assert s.run(objective, 6).n_finished == 6
        finally:
            os.kill(int(child), signal.SIGKILL)


def test_a_finding_of_a_closed_study_waits_for_no_other_writer(path):
    with study(path) as s:
        s.run(objective, 2)
    s.add_finding("weather", {"sun": True})
    with study(path) as two:
        with pytest.raises(StorageError, match="has been open for writing in this process"):
            s.add_finding("weather", {"sun": False})
        assert two.findings == {"weather": {"sun": True}}
    assert s.findings == {"weather": {"sun": True}}


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"[" * 4000, b'{"pid": "x"}', json.dumps({"pid": 1, "host": "a\nb", "command": 5}).encode()]
)
def test_what_a_lock_file_says_is_only_text(content, path, caplog):
    lock_path(path).write_bytes(content)
    assert writer_of(path) is None
    with study(path):
        assert writer_of(path).pid == os.getpid()
    assert ("was not closed by process 1 on a b" in caplog.text) == (b"a\\nb" in content)


def test_a_fork_that_closes_what_it_inherited_leaves_the_record_to_its_parent(path):
    with study(path) as s:
        s.run(objective, 2)
        child = os.fork()
        if not child:
            s.close()
            try:
                s.ledger._store._connection.execute("SELECT 1")  # it is open still, as SQLite wants it
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert writer_of(path).pid == os.getpid()
        s.run(objective, 4)
    with study(path) as again:
        assert again.n_finished == 4


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo, lambda p: p.symlink_to("elsewhere")], ids=["folder", "pipe", "link"])
def test_a_lock_file_that_is_none_is_refused_without_a_wait(make, path, monkeypatch):
    make(lock_path(path))
    monkeypatch.setattr("time.sleep", lambda seconds: pytest.fail("it waits"))
    assert writer_of(path) is None
    with pytest.raises(StorageError, match=r"study.db: cannot open the record: study.db-lock"):
        study(path)
    assert not path.exists()


def test_where_a_drive_has_no_locks_that_is_said(path, monkeypatch):
    def refuse(fd):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("spotsvm.study.record.opening.lock", refuse)
    with pytest.raises(StorageError, match="cannot lock the record: No locks available"):
        study(path)


def test_an_unknown_writer_as_text():
    assert str(Writer(None)) == "a process"

"""The file of a lock."""

import json
import os

import pytest

from spotsvm.errors import StorageError
from spotsvm.study.record.opening import Writer, lock_path, writer_of
from tests.spotsvm.study.record.records import holder, objective, study


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


def test_a_lock_whose_file_was_removed_is_taken_anew_unless_another_process_was_faster(path):
    with study(path) as s:
        lock_path(path).unlink()
        s.run(objective, 2)
        assert writer_of(path).pid == os.getpid()
        lock_path(path).unlink()
        with holder(path) as other, pytest.raises(StorageError, match=f"is being written to by process {other.pid}"):
            s.ask()
        assert s.ask().number == 2


@pytest.mark.parametrize(
    "content", [b"", b"garbage", b"[" * 4000, b'{"pid": "x"}', json.dumps({"pid": 1, "host": "a\nb", "command": 5}).encode()]
)
def test_what_a_lock_file_says_is_only_text(content, path, caplog):
    lock_path(path).write_bytes(content)
    assert writer_of(path) is None
    assert str(Writer(None)) == "a process"
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

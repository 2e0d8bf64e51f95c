import os
import shutil
import signal
import subprocess
import sys

import pytest

from spotsvm.errors import StorageError
from tests.spotsvm.study.record.records import HOLD, objective, study


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


def test_where_a_drive_has_no_locks_that_is_said(path, monkeypatch):
    def refuse(fd):
        raise OSError(37, "No locks available")

    monkeypatch.setattr("spotsvm.study.record.opening.lock", refuse)
    with pytest.raises(StorageError, match="cannot lock the record: No locks available"):
        study(path)

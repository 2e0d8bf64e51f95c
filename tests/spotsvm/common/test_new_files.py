import errno
import os
import stat
import threading
from pathlib import Path

import pandas as pd
import pytest
from killed_at import killed_at_each_file_event

from spotsvm import ExpressionKernel
from spotsvm.common.csv_files import read_csv, write_csv
from spotsvm.common.new_files import new_file
from spotsvm.errors import StorageError
from spotsvm.reports.html.page import Page, Section
from spotsvm.studies.common.experiment import Experiment

FRAME = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]})
PAGE = Page("Title", [Section("Part", ["text"])])
KERNEL = (
    '{"format": "spotsvm kernel expression", "version": 1, "expression": {"block": "multiply", "arguments": [{"block": "c1"}, '
    '{"block": "gaussian", "value": 0.5}]}, "constants": {"c1": 2.0}}'
)


def text(path, content="new"):
    with new_file(path) as file:
        file.write_text(content)


def frame(path):
    write_csv(FRAME, path, "table")


def page(path):
    PAGE.write(path)


WRITERS = [text, frame, page]


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_is_replaced_and_what_it_points_to_stays(write, tmp_path):
    other, link = tmp_path / "other", tmp_path / "link.out"
    other.write_text("mine")
    link.symlink_to(other)
    dangling = tmp_path / "dangling.out"
    dangling.symlink_to(tmp_path / "nowhere")
    for path in (link, dangling):
        write(path)
        assert path.is_file()
        assert not path.is_symlink()
    assert other.read_text() == "mine"
    assert not (tmp_path / "nowhere").exists()
    os.link(other, tmp_path / "name.out")
    write(tmp_path / "name.out")
    assert other.read_text() == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["dangling.out", "link.out", "name.out", "other"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("write", WRITERS)
def test_a_kill_at_any_step_leaves_the_old_file_or_the_new_one(write, tmp_path):
    path = tmp_path / "file.out"
    write(path)
    new, seen = path.read_bytes(), []
    path.write_bytes(b"old")
    for _ in killed_at_each_file_event(lambda: write(path)):
        seen.append(path.read_bytes())
        assert seen[-1] in (b"old", new)
        path.write_bytes(b"old")
    assert len(seen) > 4
    assert seen[0] == b"old"
    assert seen[-1] == new


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    path = tmp_path / "table.csv"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", full)
    for write in (frame, page):
        with pytest.raises(StorageError, match=r"table.csv: cannot write the \w+: No space left on device"):
            write(path)
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["table.csv"]


def test_the_permissions_of_the_old_file_stay_and_a_new_one_has_the_usual_ones(tmp_path):
    usual = tmp_path / "usual"
    usual.write_text("")
    path = tmp_path / "table.csv"
    frame(path)
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    frame(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_write_protected_file_is_not_replaced(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    path.write_text("old")
    path.chmod(0o400)
    monkeypatch.setattr(os, "access", lambda file, how: False)  # root may write everywhere
    with pytest.raises(StorageError, match="Permission denied"):
        frame(path)
    assert path.read_text() == "old"


def test_folders_missing_folders_devices_and_pipes(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "folder.csv")
    for name, said in (("folder.csv", "Is a directory"), ("link.csv", "Is a directory"), ("no/table.csv", "No such file")):
        with pytest.raises(StorageError, match=said):
            frame(tmp_path / name)
    assert (tmp_path / "link.csv").is_symlink()
    frame(Path(os.devnull))
    assert not Path(os.devnull).is_file()
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    heard = []
    reader.start()
    frame(pipe)
    reader.join()
    assert heard == ["a,b\n1.5,x\n2.5,y\n"]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["folder.csv", "link.csv", "pipe.csv"]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".csv.bz2", ".csv.xz", ".csv.zip"])
def test_the_ending_still_says_how_a_table_is_compressed(ending, tmp_path):
    path = tmp_path / f"table{ending}"
    frame(path)
    pd.testing.assert_frame_equal(read_csv(path), FRAME)


class Tiny(Experiment):
    name = "tiny"

    def _measure(self):
        return pd.DataFrame({"k": [1, 2], "value": [0.5, 0.25]})

    def table(self):
        return self.frame()

    def conclusion(self):
        return "Small."


def test_the_files_of_a_study_and_of_a_kernel_follow_no_link(tmp_path):
    out, victim = tmp_path / "out", tmp_path / "victim"
    victim.write_text("mine")
    names = [file.name for file in Tiny(quick=True).write(out)]
    for name in names:
        (out / name).unlink()
        (out / name).symlink_to(victim)
    assert [file.name for file in Tiny(quick=True).write(out)] == names
    assert not any((out / name).is_symlink() for name in names)
    (tmp_path / "kernel.json").symlink_to(victim)
    kernel = ExpressionKernel.from_json(KERNEL)
    kernel.save(tmp_path / "kernel.json")
    assert ExpressionKernel.load(tmp_path / "kernel.json") == kernel
    assert victim.read_text() == "mine"

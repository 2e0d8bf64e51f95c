import errno
import json
import os
import re
import shutil
import signal
from contextlib import closing
from pathlib import Path

import pytest
from killed_at import killed_at_each_file_event

from spotsvm.errors import StorageError
from spotsvm.tuning.results_folder import MANIFEST, ResultsFolder, check_results

OLD = {"model.skops": "old model", "report.html": "old report", "old.csv": "1"}
NEW = {"model.skops": "new model", "report.html": "new report", "new.csv": "2"}
OWN = {"notes.txt": "mine", "kriging.db": "a record"}


def write(out, files):
    with closing(ResultsFolder(out)) as folder:
        for name, text in files.items():
            (folder.new / name).write_text(text)
        folder.publish()


def contents(out):
    """The files of a folder, without the manifest and what a killed run may leave."""
    left = {MANIFEST, f"{MANIFEST}-lock"}
    return {
        file.name: file.read_text() for file in out.iterdir() if file.name not in left and not file.name.startswith(".spotsvm-")
    }


def refusal(out):
    try:
        check_results(out, "model.skops")
    except StorageError as error:
        return str(error)
    return ""


@pytest.fixture
def out(tmp_path):
    out = tmp_path / "new" / "out"
    write(out, OLD)
    for name, text in OWN.items():
        (out / name).write_text(text)
    return out


def test_results_are_replaced_together_and_everything_else_stays(out):
    check_results(out, "model.skops")
    assert contents(out) == OLD | OWN
    write(out, NEW)
    check_results(out, "model.skops")
    assert contents(out) == NEW | OWN
    assert sorted(file.name for file in out.iterdir()) == sorted([*NEW, *OWN, MANIFEST])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("manifest", [True, False], ids=["", "older results without a manifest"])
def test_a_kill_at_any_step_leaves_the_old_results_the_new_ones_or_a_folder_that_is_refused(manifest, out):
    if not manifest:
        (out / MANIFEST).unlink()
    kept = out.with_name("kept")
    shutil.copytree(out, kept)
    found = []
    for _ in killed_at_each_file_event(lambda: write(out, NEW)):
        said = refusal(out)
        if said:
            found.append("refused")
            assert re.search(r"does not hold the results of one run: \S+ is (missing|not as the run has written it)", said)
            assert "\n" not in said
        else:
            now = contents(out)
            assert now in (OLD | OWN, NEW | OWN, NEW | OWN | {"old.csv": "1"})
            found.append("old" if now == OLD | OWN else "new")
        assert OWN.items() <= contents(out).items()
        write(out, NEW)  # the remedy: the same run once more
        check_results(out, "model.skops")
        assert contents(out).items() >= (NEW | OWN).items()
        shutil.rmtree(out)
        shutil.copytree(kept, out)
    assert {"old", "refused", "new"} == set(found)
    assert found == sorted(found, key=["old", "refused", "new"].index)
    assert len(found) > 12


def test_ctrl_c_waits_until_the_files_are_in_place(out, monkeypatch):
    rename = Path.replace

    def pressed(file, place):
        signal.raise_signal(signal.SIGINT)
        monkeypatch.undo()
        return rename(file, place)

    monkeypatch.setattr(Path, "replace", pressed)
    with pytest.raises(KeyboardInterrupt):
        write(out, NEW)
    check_results(out, "model.skops")
    assert contents(out).items() >= (NEW | OWN).items()


def test_a_file_that_was_changed_or_removed_is_named(out):
    (out / "report.html").write_text("edited")
    with pytest.raises(StorageError, match=r"report\.html is not as the run has written it"):
        check_results(out, "model.skops")
    (out / "report.html").unlink()
    with pytest.raises(StorageError, match=r"report\.html is missing.* tune again, or name \S+model\.skops to use this file"):
        check_results(out, "model.skops")
    write(out, NEW)
    (out / "report.html").unlink()
    (out / "elsewhere").write_text(NEW["report.html"])
    (out / "report.html").symlink_to(out / "elsewhere")
    with pytest.raises(StorageError, match=r"report\.html is not as"):
        check_results(out, "model.skops")


DAMAGED = ["", "{", "[]", "null", '{"files": []}', '{"files": {"a": 3}}', '{"files": {"../a": "b"}}', "[" * 9999, "\udcff"]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_manifest_is_refused_and_replaced(text, out):
    (out / MANIFEST).write_text(text, errors="surrogateescape")
    with pytest.raises(StorageError, match=f"{MANIFEST} is not as the run has written it"):
        check_results(out, "model.skops")
    write(out, NEW)
    check_results(out, "model.skops")
    assert contents(out).items() >= (NEW | OWN).items()


def test_a_manifest_of_a_stranger_removes_and_follows_nothing(out, tmp_path):
    (tmp_path / "victim").write_text("mine")
    (out / "link").symlink_to(tmp_path / "victim")
    sums = {"link": "", "notes.txt": "", "..": "", "nowhere": ""}
    (out / MANIFEST).write_text(json.dumps({"files": sums}))
    (out / ".spotsvm-results").symlink_to(tmp_path)
    for name in NEW:
        (out / name).unlink(missing_ok=True)
        (out / name).symlink_to(tmp_path / "victim")
    write(out, NEW)
    assert contents(out).items() >= (NEW | OWN | {"link": "mine"}).items()
    assert not any((out / name).is_symlink() for name in NEW)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["new", "victim"]
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_name_that_is_taken_by_a_folder_changes_nothing(out):
    (out / "new.csv").mkdir()
    with pytest.raises(IsADirectoryError):
        write(out, NEW)
    check_results(out, "model.skops")
    assert (out / "model.skops").read_text() == OLD["model.skops"]
    assert not (out / ".spotsvm-results").exists()


def test_one_run_at_a_time_has_the_folder(out):
    with (
        closing(ResultsFolder(out)),
        pytest.raises(StorageError, match=r"--out \S+: cannot write to this folder: .*open for writing"),
    ):
        ResultsFolder(out)
    ResultsFolder(out).close()


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(StorageError, match="cannot write to this folder: (Not a directory|File exists)"):
            ResultsFolder(place)

    def full(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(StorageError, match="cannot write to this folder: Read-only file system"):
        ResultsFolder(tmp_path / "out")

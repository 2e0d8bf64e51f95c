import dataclasses
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from spotsvm.errors import StorageError
from spotsvm.recorded_study import RecordedStudy
from studies import file_faults
from studies.file_faults import N_TRIALS, cut_at, foreign_files, make_left_open, make_record, refuses


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    path = tmp_path_factory.mktemp("record") / "small.db"
    make_record(path)
    return path


@pytest.fixture(scope="module")
def left_open(tmp_path_factory):
    path = tmp_path_factory.mktemp("left") / "small.db"
    make_left_open(path)
    return path


def test_a_file_cut_off_is_refused_and_salvaged(record):
    size = record.stat().st_size
    counts = cut_at(record, False, [0, 100, size // 2, size - 1, size])
    assert counts["first_wrong"] == ""
    assert (counts["read"], counts["not_read"]) == (1, 4)
    assert (counts["resumed"], counts["not_resumed"]) == (2, 3)  # an empty file is a study that has not begun
    assert counts["trials_salvaged"] >= N_TRIALS


def test_a_log_cut_off_ends_where_it_was_cut(left_open):
    size = Path(f"{left_open}-wal").stat().st_size
    counts = cut_at(left_open, True, [size // 2, size])
    assert counts["first_wrong"] == ""
    assert (counts["read"], counts["resumed"], counts["salvaged"]) == (2, 2, 2)


def test_a_reader_that_gives_fewer_trials_without_a_word_is_wrong(record, monkeypatch):
    def fewer(path):
        try:
            return RecordedStudy(path).trials
        except StorageError:
            return RecordedStudy(record).trials[:3]

    monkeypatch.setitem(file_faults._USES, "read", fewer)
    counts = cut_at(record, False, [record.stat().st_size // 2])
    assert counts["wrong_read"] == 1
    assert "trials are not what they were" in counts["first_wrong"]


def test_a_reader_that_changes_a_trial_or_raises_another_error_is_wrong(record, left_open, monkeypatch):
    def changed(path):
        first, *others = RecordedStudy(path).trials
        return [dataclasses.replace(first, reason="another"), *others]

    def broken(path):
        raise KeyError("a traceback")

    monkeypatch.setitem(file_faults._USES, "read", changed)
    monkeypatch.setitem(file_faults._USES, "resumed", broken)
    for path, log in ((record, False), (left_open, True)):
        size = Path(f"{path}-wal" if log else path).stat().st_size
        counts = cut_at(path, log, [size])
        assert (counts["wrong_read"], counts["wrong_resumed"], counts["wrong_salvaged"]) == (1, 1, 0)


@pytest.mark.parametrize("name", foreign_files())
def test_files_of_other_programs_are_refused_and_left_as_they_are(name, tmp_path):
    path = tmp_path / "other.db"
    foreign_files()[name](path)
    assert refuses(path) == ""


def test_a_foreign_file_that_is_taken_or_changed_is_seen(tmp_path, monkeypatch, record):
    path = tmp_path / "other.db"
    foreign_files()["database of other tables"](path)

    def changes(path):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE more (x)")
        raise StorageError("no")

    monkeypatch.setattr(file_faults, "_resume", changes)
    assert refuses(path) == "resumed: the file was changed"
    monkeypatch.undo()
    assert refuses(record) != ""

import json
import math
import resource
import shutil
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study, load_study
from spotsvm.errors import ArgumentError, StorageError, StudyMismatchError
from spotsvm.study.record.record import Record, RecordGuard
from spotsvm.study.record.salvage import salvage
from spotsvm.trials.events import Noted
from tests.fuzz.hostile_records import SCHEMAS
from tests.spotsvm.study.record.records import CELLS, SPACE, change, describe, edit, objective, study


@pytest.fixture(scope="module")
def five(tmp_path_factory):
    with study(tmp_path_factory.mktemp("five") / "study.db") as s:
        s.run(objective, 5)
    return s.path


@pytest.fixture
def filled(five, path):
    """A record of five finished trials, closed."""
    return Path(shutil.copyfile(five, path))


def fails(path, said):
    """Check that opening raises an error of one line, which names the file."""
    with pytest.raises(StorageError, match=said) as caught:
        study(path).close()
    line = str(caught.value)
    assert str(path) in line
    assert "\n" not in line
    assert len(line) < len(str(path)) + 400


def test_it_is_sqlite_in_wal_mode_with_a_row_for_each_event_of_numbers_and_text_only(path):
    weights = {np.int64(0): 1.0, ("a", 1): 2.0}
    with Study({"C": uniform(0, 1), "weight": [weights, None, np.array([1, 2]), len]}, "kriging", 0, path=path) as s:
        s.run(lambda p: {"value": p["C"], "time": 3.0}, 9)
        s.fail(s.ask(), "no")
        s.ask()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        rows = connection.execute("SELECT * FROM events").fetchall()
    assert {type(cell) for row in rows for cell in row} <= {int, str, type(None)}
    assert [row[0] for row in rows] == list(range(len(rows)))
    assert [row[1] for row in rows] == ["described"] * 3 + ["asked", "told"] * 10 + ["asked"]
    told = [json.loads(row[3])["outcome"] for row in rows if row[1] == "told"]
    assert [one["state"] for one in told] == ["ok"] * 9 + ["failed"]
    assert told[0] == {"state": "ok", "value": s.trials[0].value, "extra": {"time": 3.0}, "seconds": s.trials[0].seconds}
    assert [json.loads(row[3])["trial"]["point"] for row in rows if row[1] == "asked"] == [list(t.point) for t in s.trials]


def test_folders_are_made_and_odd_names_are_names(tmp_path):
    for name in ("a/b/c.db", "what?mode=memory#%41 é.db", ":memory:", "no_suffix"):
        with study(tmp_path / name) as s:
            s.run(objective, 2)
        assert (tmp_path / name).stat().st_size > 0
        with study(str(tmp_path / name)) as s:
            assert len(s.trials) == 2


def test_an_empty_file_is_no_record_to_read_and_a_new_one_to_write(path):
    path.touch()
    with pytest.raises(StorageError, match="is an empty file, not a record"):
        load_study(path)
    with study(path) as s:
        assert s.run(objective, 3).n_finished == 3


def test_the_database_of_another_program_is_left_alone(path):
    change(path, "CREATE TABLE customers (name TEXT)")
    before = path.read_bytes()
    fails(path, "is not a record of spotsvm; name another file")
    assert path.read_bytes() == before
    change(path, "CREATE TABLE trials (number INTEGER); CREATE TABLE about (key TEXT, value TEXT)")
    fails(path, "is not a record of spotsvm")


def test_another_version_is_left_alone(filled):
    for version in (6, 8, True, "1"):
        describe(filled, schema_version=version)
        before = filled.read_bytes()
        fails(filled, "has schema version .*; this spotsvm reads version 7. Use the version of spotsvm that wrote it: its")
        assert filled.read_bytes() == before


@pytest.mark.parametrize(
    ("versions", "said"),
    [
        ({"spotsvm": "0.2.0"}, "Use spotsvm 0.2.0: its command `spotsvm export` writes the trials as a table, of which Study."),
        (None, "Use the version of spotsvm that wrote it: its command"),
    ],
)
def test_a_record_of_version_0_2_0_is_refused_with_what_can_read_it(path, versions, said):
    rows = {"format": "spotsvm study", "schema_version": 6, "space": [], "versions": versions}
    values = ", ".join(f"('{key}', '{json.dumps(value)}', 0)" for key, value in rows.items())
    change(
        path,
        f"""CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER) WITHOUT ROWID;
        CREATE TABLE trials (number INTEGER PRIMARY KEY, asked INTEGER UNIQUE, state TEXT NOT NULL);
        INSERT INTO about VALUES {values};""",
    )
    before = path.read_bytes()
    fails(path, f"has schema version 6; this spotsvm reads version 7. {said}")
    with pytest.raises(StorageError, match="has schema version 6"):
        load_study(path)
    with pytest.raises(StorageError, match="has schema version 6"):
        salvage(path)
    assert path.read_bytes() == before


def of_trial(kind, **cells):
    """Return an edit of the trial or the outcome of an event."""
    return lambda content: content["trial" if kind == "asked" else "outcome"].update(cells)


ASKED = {
    "a point of text": ({"point": "[0.5]"}, "its point is '\\[0.5\\]'"),
    "a short point": ({"point": [0.5]}, "trial 3 has no point of the unit cube"),
    "a point of nan": ({"point": [0.5, math.nan]}, "trial 3 has no point of the unit cube"),
    "a point of texts": ({"point": ["a", "b"]}, "its point is 'a'"),
    "params that are no mapping": ({"params": 5}, "its params is 5"),
    "another number": ({"number": 7}, "the order of its events is lost: trials are missing"),
    "a number below": ({"number": 2}, "the order of its events is lost: trial 2 was asked for before"),
    "a number that is true": ({"number": True}, "its number is True"),
    "what no version writes": ({"colour": "red"}, "it has 'colour', which this version of spotsvm does not write"),
    "a state": ({"state": "ok"}, "trial 3 was asked for before"),
}
TOLD = {
    "extra that is no mapping": ({"extra": "oops"}, "its extra is 'oops'"),
    "extra that is no number": ({"extra": {"a": None}}, "its extra is None"),
    "a value of text": ({"value": "much"}, "its value is 'much'"),
    "several values": ({"value": None, "values": [1.0, 2.0]}, "trial 3 .*has 2 values"),
    "values that are no list": ({"values": 5}, "its values is 5"),
    "values of a failure": ({"state": "failed"}, "trial 3 is 'failed', and has 1 values"),
    "an unknown state": ({"state": "fine"}, "its state is 'fine'"),
    "an infinite value": ({"value": math.inf}, "has a value that is not finite"),
    "a step alone": ({"steps": [[1.0]]}, "its steps has a list of 1, not 2 parts"),
    "stopped without a step": ({"state": "stopped", "value": None}, "trial 3 is 'stopped', and has no step"),
    "steps that fall": ({"steps": [[2.0, 0.5], [1.0, 0.5]]}, "trial 3 has steps that do not rise"),
}


@pytest.mark.parametrize(
    ("kind", "cells", "said"),
    [("asked", *one) for one in ASKED.values()] + [("told", *one) for one in TOLD.values()],
    ids=[*ASKED, *TOLD],
)
def test_content_that_makes_no_sense(filled, kind, cells, said):
    edit(filled, kind, of_trial(kind, **cells), number=3)
    fails(filled, f"is damaged: .*{said}")
    with pytest.raises(StorageError, match=said):
        load_study(filled)


@pytest.mark.parametrize(
    ("params", "said"),
    [({"C": 0.5}, "trial 3 has other parameters than the space"), ({"C": "0.5", "kernel": "rbf"}, "not a finite number")],
)
def test_parameters_that_cannot_be(filled, params, said):
    edit(filled, "asked", of_trial("asked", params=params), number=3)
    with pytest.raises(StorageError, match=said):
        load_study(filled)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE events SET content = '{' WHERE number = 3", "its event 9 \\(trial 3\\): it holds '{', which is not JSON"),
        ("UPDATE events SET content = '[1]' WHERE number = 3", "its content is a list of 1"),
        ("UPDATE events SET content = '{}' WHERE number = 3", "it lacks trial"),
        ("UPDATE events SET kind = 'begun' WHERE number = 3", "its kind is 'begun'"),
        ("UPDATE events SET arrays = x'00' WHERE number = 3", "its arrays have 1 bytes too many"),
        ("UPDATE events SET arrays = 'text' WHERE number = 3", "its arrays are 'text'"),
        ("DELETE FROM events WHERE position = 9", "its event 9 is missing"),
        ("DELETE FROM events WHERE position = 1", "its event 1 is missing"),
        ("UPDATE events SET position = 99 WHERE position = 9", "its event 9 is missing"),
        (
            "UPDATE events SET kind = 'told', content = (SELECT content FROM events WHERE position = 4) WHERE position = 9",
            "is not running",
        ),
        ("DELETE FROM events WHERE position = 0", "is not a record of spotsvm"),
        ("ALTER TABLE events DROP COLUMN arrays", "its table 'events' differs from the one that spotsvm creates"),
    ],
)
def test_damage_inside(filled, statement, said):
    change(filled, statement, signed=True)
    fails(filled, said)


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ({"space": [{"C": {"kind": "continuous"}}]}, "another space"),
        ({"space": 5}, "another space"),
        ({"seed": None}, "another seed"),
        ({"seed": "three"}, "another seed: it has 'three'"),
        ({"format": "study"}, "is not a record of spotsvm"),
        ({"format": None}, "is not a record of spotsvm"),
    ],
)
def test_a_description_that_makes_no_sense(filled, entries, said):
    describe(filled, **entries)
    fails(filled, said)


def test_paths_that_cannot_be_used(tmp_path):
    (tmp_path / "file").write_text("text")
    fails(tmp_path, "cannot open the record")
    fails(tmp_path / "file" / "study.db", "cannot open the record")
    fails(tmp_path / "file" / "deeper" / "study.db", "cannot open the record")
    with pytest.raises(StorageError, match=r"/proc/spotsvm/study.db: cannot open the record"):
        study("/proc/spotsvm/study.db")
    with pytest.raises(StorageError, match="there is no such record"):
        Record(tmp_path / "none.db", read_only=True)


@pytest.mark.parametrize("wrong", [3, b"study.db", "", "a\0b", ["study.db"]], ids=repr)
def test_what_is_no_path_is_named(wrong):
    for make in (study, load_study):
        with pytest.raises(ArgumentError, match="^path=.* is not the path of a file; use text"):
            make(wrong)


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with study("study.db") as s:
        s.run(objective, 2)
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        s.run(objective, 4)
    s.add_finding("place", {"same": True})
    assert list(Path().iterdir()) == []
    assert len(load_study(tmp_path / "study.db").trials) == 4
    assert load_study("../study.db").findings == {"place": {"same": True}}


def test_reading_only_writes_nothing(filled):
    before = filled.read_bytes()
    assert len(load_study(filled).trials) == 5
    with closing(Record(filled, read_only=True)) as record, pytest.raises(StorageError, match="cannot write the record"):
        record.append([Noted("a", {})])
    assert filled.read_bytes() == before


@contextmanager
def locked(path, connection):
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        connection.execute("PRAGMA busy_timeout = 20")
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def full(path, connection):
    """A limit to the size of files makes SQLite's commit fail, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.with_name("study.db-wal").stat().st_size + 10, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def taken_away(path, connection):
    path.rename(path.with_name("moved.db"))
    yield
    path.with_name("moved.db").replace(path)


@contextmanager
def replaced(path, connection):
    with taken_away(path, connection):
        path.write_bytes(b"something else")
        yield


@pytest.mark.faults
@pytest.mark.parametrize(
    ("obstacle", "said"),
    [
        (locked, "database is locked"),
        (full, "cannot write the record"),
        (taken_away, "study.db: the record is not there any more; the trials are still in memory"),
        (replaced, "study.db: the record was replaced by another file; the trials are still in memory"),
    ],
)
def test_what_is_in_the_way_of_writing_costs_nothing(obstacle, said, path):
    with study(path) as s:
        s.run(objective, 12)
        trial, before = s.ask(), s.trials
        with obstacle(path, s.ledger._store._connection):
            for act in (s.ask, lambda: s.tell(trial, 0.5), lambda: s.run(objective, 14), lambda: s.add_finding("a", {})):
                with pytest.raises(StorageError, match=said):
                    act()
                assert s.trials == before
            s.to_csv(path.with_name("trials.csv"))
        assert s.tell(trial, 0.5).state == "ok"
        assert s.run(objective, 15).findings == {}
    with study(path) as again:
        assert again.trials == s.trials


def test_a_record_that_was_written_to_behind_the_study_is_not_overwritten(path):
    """By a program that knows nothing of the lock."""
    with study(path) as one:
        one.run(objective, 4)
        trial = one.ask()
        change(path, f"INSERT INTO events SELECT position + 1, {CELLS[10:]}, checksum FROM events WHERE number = 4")
        for act in (lambda: one.tell(trial, 0.75), one.ask):
            with pytest.raises(StorageError, match="another process has written to the record meanwhile .* open the study again"):
                act()
        assert one.trials[4].state == "running"
        assert len(one.trials) == 5
    fails(path, "its event")


def test_a_closed_study_can_be_read_and_says_why_it_cannot_go_on(path):
    with study(path) as s:
        s.run(objective, 3)
        running = s.ask()
    for act in (s.ask, lambda: s.tell(running, 1.0)):
        with pytest.raises(StorageError, match="the record is closed; create the study again with the same arguments"):
            act()
    assert s.best_trial.value == min(t.value for t in s.trials if t.value is not None)
    assert len(s.frame()) == 4


def test_a_study_that_could_not_be_made_leaves_no_trace(path):
    for wrong in ("bayes", lambda domain, seed: None, 3):
        with pytest.raises(ValueError, match="search="):
            Study(SPACE, wrong, 0, path=path)
    with study(path) as s:
        assert s.run(objective, 2).n_finished == 2
    with pytest.raises(StudyMismatchError):
        Study(SPACE, "lhs", 0, path=path)


@pytest.mark.parametrize(
    "script", [one for one in SCHEMAS if one not in ("ANALYZE", "DROP TABLE events") and "user_version" not in one]
)
@pytest.mark.faults
def test_another_schema_is_refused_before_anything_of_it_runs(filled, script):
    change(filled, script)
    for opened in (load_study, study, Record):
        with pytest.raises(StorageError) as caught:
            opened(filled)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("script", ["ANALYZE", "VACUUM", "REINDEX", "PRAGMA user_version = 7"])
def test_what_changes_no_table_does_no_harm(filled, script):
    change(filled, script)
    assert len(load_study(filled).trials) == 5
    with study(filled) as s:
        assert s.run(objective, 6).n_finished == 6


@pytest.fixture
def connection(path):
    """A connection to a database in memory, to be guarded as that of a file of 1000 bytes."""
    path.write_bytes(b"0" * 1000)
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


def test_a_query_without_end_is_ended(connection, path, monkeypatch):
    monkeypatch.setattr("spotsvm.study.record.record.MOST_SECONDS", 0.05)
    guard = RecordGuard(connection, path)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(f"{endless} count(*) FROM c").fetchall()
    guard.begin()
    with pytest.raises(StorageError, match="more data than the file can hold|takes more than"):
        guard.rows(connection.execute(f"{endless} x FROM c"))


def test_rows_of_more_than_the_file_are_refused_and_nothing_is_attached_or_loaded(connection, path):
    guard = RecordGuard(connection, path)
    assert len(guard.rows(connection.execute("SELECT hex(zeroblob(100000))"))) == 1
    with pytest.raises(StorageError, match="more data than the file can hold"):
        guard.rows(connection.execute("SELECT hex(zeroblob(10000000))"))
    with pytest.raises(sqlite3.DataError, match="too big"):
        connection.execute("SELECT length(zeroblob(900000000))").fetchone()
    with pytest.raises(sqlite3.OperationalError, match="too many attached"):
        connection.execute("ATTACH ? AS other", (str(path.with_name("other.db")),))
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT load_extension('x')")
    assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_errors_that_are_no_text(filled):
    """Bytes that are no UTF-8 in the schema are so in SQLite's error too: it is raised when a reader tidies up behind itself."""
    record = Record(filled, read_only=True)
    filled.write_bytes(filled.read_bytes().replace(b"CREATE TABLE events", b"CREATE \x80\xff\x80\xff\x80 events"))
    record.close()
    with pytest.raises(StorageError):
        Record(filled)

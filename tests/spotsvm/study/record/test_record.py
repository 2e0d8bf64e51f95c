import json
import math
import resource
import sqlite3
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.errors import ArgumentError, StorageError, StudyMismatchError
from spotsvm.study.record.record import Record, RecordGuard
from spotsvm.study.recorded import RecordedStudy
from spotsvm.trials.outcome import Outcome
from spotsvm.trials.trial import Trial
from tests.fuzz.hostile_records import SCHEMAS
from tests.spotsvm.study.record.records import SPACE, change, objective, study


@pytest.fixture
def filled(path):
    """A record of five finished trials, closed."""
    with study(path) as s:
        s.run(objective, 5)
    return path


def fails(path, said):
    """Check that opening raises an error of one line, which names the file."""
    with pytest.raises(StorageError, match=said) as caught:
        study(path).close()
    line = str(caught.value)
    assert str(path) in line
    assert "\n" not in line
    assert len(line) < len(str(path)) + 400


def test_it_is_sqlite_in_wal_mode_with_text_and_numbers_only_and_points_as_eight_bytes_a_number(path):
    weights = {np.int64(0): 1.0, ("a", 1): 2.0}
    with Study({"C": uniform(0, 1), "weight": [weights, None, np.array([1, 2]), len]}, "kriging", 0, path=path) as s:
        s.run(lambda p: {"value": p["C"], "time": 3.0}, 9)
        s.fail(s.ask(), "no")
        s.ask()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        points = [point for (point,) in connection.execute("SELECT point FROM trials ORDER BY number")]
        connection.execute("ALTER TABLE trials DROP COLUMN point")
        cells = [v for table in ("about", "trials") for row in connection.execute(f"SELECT * FROM {table}") for v in row]
        states = [state for (state,) in connection.execute("SELECT state FROM trials ORDER BY number")]
        extra = connection.execute("SELECT extra FROM trials WHERE number = 0").fetchone()[0]
    assert {type(v) for v in cells} <= {int, float, str, type(None)}
    assert states == ["ok"] * 9 + ["failed", "running"]
    assert json.loads(extra) == {"time": 3.0}
    assert [struct.unpack("<2d", point) for point in points] == [t.point for t in s.trials]


def test_trials_come_back_as_they_were(path):
    known = {"origin": "design", "note": "a, b", "seed": 2**32 - 1, "ask_seconds": 1e-9}
    trials = [
        Trial(0, {"C": 0.1 + 0.2, "n": 3}, (1 / 3, 0.0), **known),
        Trial(1, {"C": 5e-324, "n": None}, (1.0, np.nextafter(1, 0)), seed=3, ask_seconds=0.1),
    ]
    told = replace(trials[1], state="ok", value=-1.7e308, values=None, extra={"a": np.inf, "ü": 0.1}, seconds=2.5)
    with closing(Record(path)) as record:
        for k, trial in enumerate(trials):
            record.write_asked(trial, k, {})
        record.write_told(told, 2)
        assert record.trials() == [trials[0], told]
    with closing(Record(path, read_only=True)) as record:
        assert record.trials() == [trials[0], told]
        assert record.events() == [(0, "asked", 0), (1, "asked", 1), (2, "told", 1)]


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
        RecordedStudy(path)
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
    for version in ("2", "6", "0", "true", '"1"', "null"):
        change(filled, "UPDATE about SET value = ? WHERE key = 'schema_version'", version, signed=True)
        before = filled.read_bytes()
        fails(filled, "has schema version .*; this spotsvm reads version 1. Use the version of spotsvm that wrote it")
        assert filled.read_bytes() == before


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE trials SET point = '[0.5]' WHERE number = 3", "its point is '\\[0.5\\]'"),
        ("UPDATE trials SET params = '{' WHERE number = 3", "which is not JSON"),
        ("UPDATE trials SET point = 'null' WHERE number = 3", "trial 3 cannot be read"),
        ("UPDATE trials SET point = '\"abc\"' WHERE number = 3", "trial 3 cannot be read"),
        ("UPDATE trials SET point = x'000000000000e03f' WHERE number = 3", "trial 3 has no point of the unit cube"),
        (
            "UPDATE trials SET point = x'000000000000e03f000000000000f87f' WHERE number = 3",
            "trial 3 has no point of the unit cube",
        ),
        ("UPDATE trials SET point = x'00ff' WHERE number = 3", "is damaged"),
        ("UPDATE trials SET params = '5' WHERE number = 3", "trial 3 cannot be read"),
        ("UPDATE trials SET extra = 'oops' WHERE number = 3", "which is not JSON"),
        ("UPDATE trials SET extra = '{\"a\": null}' WHERE number = 3", "trial 3 cannot be read"),
        ("UPDATE trials SET value = 'much' WHERE number = 3", "trial 3 cannot be read"),
        ("UPDATE trials SET objectives = '[1.0, 2.0]' WHERE number = 3", "trial 3 is 'ok', and has 2 values"),
        ("UPDATE trials SET objectives = '5' WHERE number = 3", "trial 3 cannot be read"),
        ("UPDATE trials SET state = 'failed' WHERE number = 3", "trial 3 is 'failed', and has 1 values"),
        ("DELETE FROM trials WHERE number = 3", "trials are missing"),
        ("UPDATE about SET value = '{' || value WHERE key = 'space'", "which is not JSON"),
        ('UPDATE about SET value = \'[{"C": {"kind": "continuous"}}]\' WHERE key = \'space\'', "another space"),
        ("UPDATE about SET value = '5' WHERE key = 'space'", "another space"),
        ("UPDATE about SET value = '' WHERE key = 'seed'", "which is not JSON"),
        ("DELETE FROM about WHERE key = 'seed'", "another seed"),
        ("UPDATE about SET value = 'study' WHERE key = 'format'", "which is not JSON"),
        ("DROP TABLE trials", "is not a record"),
        ("ALTER TABLE trials DROP COLUMN reason", "its table 'trials' differs from the one that spotsvm creates"),
    ],
)
def test_damage_inside(filled, statement, said):
    change(filled, statement, signed=True)
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
    for make in (study, RecordedStudy):
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
    assert len(RecordedStudy(tmp_path / "study.db").trials) == 4
    assert RecordedStudy("../study.db").findings == {"place": {"same": True}}


def test_threads_that_write_at_once_have_transactions_of_their_own(path):
    with closing(Record(path)) as record, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: record.describe({f"first {k}": k, f"second {k}": k}), range(100)))
        found = record.about()
    assert all(found[f"first {k}"] == found[f"second {k}"] == k for k in range(100))


def test_reading_only_writes_nothing(filled):
    before = filled.read_bytes()
    with closing(Record(filled, read_only=True)) as record:
        assert len(record.trials()) == 5
        with pytest.raises(StorageError, match="cannot write the record"):
            record.write_asked(Trial(5, {}, (0.5, 0.5)), 10, {})
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
        with obstacle(path, s._ledger.record._connection):
            for act in (s.ask, lambda: s.tell(trial, 0.5), lambda: s.run(objective, 14), lambda: s.add_finding("a", {})):
                with pytest.raises(StorageError, match=said):
                    act()
                assert s.trials == before
            s.to_csv(path.with_name("trials.csv"))
        assert s.tell(trial, 0.5).state == "ok"
        assert s.run(objective, 15).findings == {}
    with study(path) as again:
        assert again.trials == s.trials


def test_after_a_commit_that_fails_writing_goes_on(path):
    with closing(Record(path)) as record:
        record._connection.execute("PRAGMA foreign_keys = ON")
        record._connection.execute("CREATE TABLE later (number REFERENCES trials DEFERRABLE INITIALLY DEFERRED)")
        with pytest.raises(StorageError), record.transaction():
            record._connection.execute("INSERT INTO later VALUES (99)")
        record.write_asked(Trial(0, {}, (0.5,)), 0, {})
        assert len(record.trials()) == 1


def test_a_record_that_was_written_to_behind_the_study_is_not_overwritten(path):
    """By a program that knows nothing of the lock."""
    with study(path) as one:
        one.run(objective, 4)
        trial = one.ask()
        change(path, "UPDATE trials SET told = 9, state = 'ok', value = 0.25 WHERE number = 4", signed=True)
        with pytest.raises(StorageError, match="trial 4 is not running in the record; is another process"):
            one.tell(trial, 0.75)
        assert one.trials[4].state == "running"
        row = "INSERT INTO trials (number, asked, state, point, params, seed) VALUES (5, 10, 'running', x'', '{}', 0)"
        change(path, row, signed=True)
        with pytest.raises(StorageError, match="another process has written to the record meanwhile .* open the study again"):
            one.ask()
        assert len(one.trials) == 5
    with closing(Record(path, read_only=True)) as record:
        assert record.trials()[4].value == 0.25


def test_lost_workers_and_outcomes_that_wait(path):
    lost = Outcome("failed", None, {"time": math.nan}, "the worker died", 2.0)
    several = Outcome("ok", named={"error": 0.5, "gain": 1e-300})
    with closing(Record(path)) as record:
        for k in range(3):
            record.write_asked(Trial(k, {"C": 0.5}, (0.5,), fit_seconds=0.25, acquisition_seconds=0.5), k, {})
        record.write_lost(replace(record.trials()[1], lost=("killed", "out of memory")))
        record.write_outcome(1, lost)
        record.write_outcome(2, several)
        record.write_outcome(2, several)
    with closing(Record(path)) as record:
        assert record.trials()[1].lost == ("killed", "out of memory")
        assert (record.trials()[0].fit_seconds, record.trials()[0].acquisition_seconds) == (0.25, 0.5)
        waiting = record.outcomes()
        assert list(waiting) == [1, 2]
        assert (waiting[1].state, waiting[1].reason, waiting[1].seconds) == ("failed", "the worker died", 2.0)
        assert math.isnan(waiting[1].extra["time"])
        assert waiting[2] == several
        record.write_told(replace(record.trials()[1], state="failed", reason="the worker died"), 3)
        assert list(record.outcomes()) == [2]
        assert record.trials()[1].lost == ("killed", "out of memory")
        with pytest.raises(StorageError, match="trial 1 is not running in the record"):
            record.write_lost(record.trials()[1])


def test_what_is_read_in_a_moment_is_of_one_moment(path):
    with study(path) as s, closing(Record(path, read_only=True)) as reader:
        s.run(objective, 3)
        with reader.moment():
            before = reader.trials()
            s.run(objective, 5)
            assert len(reader.trials()) == len(before) == 3
            assert len(reader.events()) == 6
            assert reader.about()["budget"] == 3
        assert len(reader.trials()) == 5
        assert reader.about()["budget"] == 5


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


@pytest.mark.parametrize("script", [one for one in SCHEMAS if one != "ANALYZE" and "user_version" not in one])
@pytest.mark.faults
def test_another_schema_is_refused_before_anything_of_it_runs(filled, script):
    change(filled, script)
    for opened in (RecordedStudy, study, Record):
        with pytest.raises(StorageError) as caught:
            opened(filled)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("script", ["ANALYZE", "VACUUM", "REINDEX", "PRAGMA user_version = 7"])
def test_what_changes_no_table_does_no_harm(filled, script):
    change(filled, script)
    assert len(RecordedStudy(filled).trials) == 5
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
        connection.execute("SELECT length(hex(zeroblob(90000000)))").fetchone()
    with pytest.raises(sqlite3.OperationalError, match="too many attached"):
        connection.execute("ATTACH ? AS other", (str(path.with_name("other.db")),))
    with pytest.raises(sqlite3.OperationalError):
        connection.execute("SELECT load_extension('x')")
    assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_errors_that_are_no_text(filled):
    """Bytes that are no UTF-8 in the schema are so in SQLite's error too: it is raised when a reader tidies up behind itself."""
    record = Record(filled, read_only=True)
    filled.write_bytes(filled.read_bytes().replace(b"CREATE TABLE trials", b"CREATE \x80\xff\x80\xff\x80 trials"))
    record.close()
    with pytest.raises(StorageError):
        Record(filled)

"""Records of earlier schema versions: read as they are, and upgraded when they are opened for writing."""

import json
import math
import os
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from io import StringIO

import pandas as pd
import pytest
from click.testing import CliRunner
from completed_trials import Watched, facts

from spotsvm.commands.main import main
from spotsvm.commands.status import status_page
from spotsvm.common.errors import StorageError
from spotsvm.study.record.opening import connect_to_write
from spotsvm.study.record.record import Record
from spotsvm.study.record.rows import add_checksum
from spotsvm.study.record.salvage import salvage
from spotsvm.study.record.schema import stored_columns, upgrade
from spotsvm.study.status import read_status
from tests.spotsvm.study.record.records import study as study_of

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE trials (
    number INTEGER PRIMARY KEY,
    asked INTEGER NOT NULL UNIQUE,
    told INTEGER UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('running', 'ok', 'failed', 'timeout')),
    point TEXT NOT NULL,
    params TEXT NOT NULL,
    value REAL,
    extra TEXT NOT NULL DEFAULT '{}',
    reason TEXT NOT NULL DEFAULT '',
    origin TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    seed INTEGER NOT NULL,
    ask_seconds REAL,
    seconds REAL
);
"""


def objective(params):
    return {"value": params["C"], "time": 2.0} if params["kernel"] != "poly" else math.nan


def study(path=None):
    return study_of(path, "kriging")


LATER = ["fit_seconds", "acquisition_seconds", "lost", "asked_at", "told_at"]
CHECKSUMS = ["asked_checksum", "told_checksum"]
TOLD_4 = "number, told, state, value, extra, reason, seconds, objectives, lost, told_at"


def tables_of(version):
    if version == 1:
        return TABLES
    second = TABLES.replace("seconds REAL\n)", "seconds REAL,\n    objectives TEXT\n)")
    if version == 2:
        return second
    times = """objectives TEXT,
    fit_seconds REAL,
    acquisition_seconds REAL,
    lost TEXT NOT NULL DEFAULT '[]',
    asked_at REAL,
    told_at REAL
)"""
    third = second.replace("objectives TEXT\n)", times).replace("point TEXT", "point BLOB")
    third += "CREATE TABLE outcomes (number INTEGER PRIMARY KEY, outcome TEXT NOT NULL);"
    if version == 3:
        return third
    if version == 5:
        return tables_of(4).replace("told_checksum INTEGER\n)", "told_checksum INTEGER,\n    suggestion INTEGER\n)")
    signed = third.replace("told_at REAL\n)", "told_at REAL,\n    asked_checksum INTEGER,\n    told_checksum INTEGER\n)")
    return signed.replace("value TEXT NOT NULL)", "value TEXT NOT NULL, checksum INTEGER)").replace(
        "outcome TEXT NOT NULL)", "outcome TEXT NOT NULL, checksum INTEGER)"
    )


def columns(path, table="trials"):
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def shape(path):
    """Return the version, the columns of the trials and those of the outcomes."""
    with closing(sqlite3.connect(path)) as connection:
        version = connection.execute("SELECT value FROM about WHERE key = 'schema_version'").fetchone()[0]
    return version, columns(path), columns(path, "outcomes")


@pytest.fixture(params=[1, 2, 3, 4, 5])
def old(tmp_path, request):
    """A record as an earlier version wrote it: ten trials that have ended, and one that was running; first, points are JSON."""
    with study(tmp_path / "new.db") as s:
        s.run(objective, 10)
        s.ask()
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(tables_of(request.param))
        connection.execute("ATTACH ? AS new", (str(tmp_path / "new.db"),))
        names = ", ".join(row[1] for row in connection.execute("PRAGMA main.table_info(trials)"))
        connection.execute(f"INSERT INTO trials ({names}) SELECT {names} FROM new.trials")
        for t in s.trials if request.param < 3 else ():
            connection.execute("UPDATE trials SET point = ? WHERE number = ?", (json.dumps(t.point), t.number))
        keys = ", ".join(row[1] for row in connection.execute("PRAGMA main.table_info(about)"))
        connection.execute(f"INSERT INTO about SELECT {keys} FROM new.about")
        connection.execute("UPDATE about SET value = ? WHERE key = 'schema_version'", (str(request.param),))
        if request.param >= 4:
            add_checksum(connection)
            connection.execute("UPDATE about SET checksum = checksum(key, value)")
            connection.execute(f"UPDATE trials SET told_checksum = checksum({TOLD_4}{', suggestion' * (request.param > 4)})")
        connection.commit()
    return path


def test_reading_only_leaves_it_as_it_is(old, tmp_path):
    before, had = old.read_bytes(), columns(old)
    with closing(Record(old, read_only=True)) as record, closing(Record(tmp_path / "new.db", read_only=True)) as new:
        without_times = {} if "fit_seconds" in had else {"fit_seconds": None, "acquisition_seconds": None}
        known = [replace(t, **without_times) for t in new.trials()]
        assert record.trials() == known
        assert record.events() == new.events()
        assert record.outcomes() == {}
    assert salvage(old).trials == tuple(known)
    status = read_status(old)
    assert (status.n_ok, status.n_lost, status.n_running) == (sum(t.state == "ok" for t in known), 0, 1)
    if without_times:
        assert status.trials_per_minute is status.seconds_left is status.seconds_since is None
        assert "speed" not in status_page(status)
    result = CliRunner().invoke(main, ["export", str(old)])
    assert result.exit_code == 0
    written = pd.read_csv(StringIO(CliRunner().invoke(main, ["export", str(tmp_path / "new.db")]).stdout))
    written[list(without_times)] = float("nan")
    assert pd.read_csv(StringIO(result.stdout)).equals(written)
    assert old.read_bytes() == before
    assert columns(old) == had
    assert [file.name for file in old.parent.iterdir() if file.name.startswith("old.db")] == ["old.db"]


def test_opened_for_writing_it_is_upgraded_and_goes_on(old):
    with study(old) as s:
        s.run(objective, 16)
    assert shape(old) == ("6", list(stored_columns()), ["number", "outcome", "checksum"])
    assert columns(old)[-11:] == ["objectives", *LATER, *CHECKSUMS, "suggestion", "traceback", "attributes"]
    assert facts(s) == facts(study().run(objective, 16))
    assert salvage(old).trials == s.trials
    with study(old) as again:
        assert facts(again) == facts(s)
        assert {t.values for t in again.trials if t.state == "ok"} == {(t.value,) for t in again.trials if t.state == "ok"}
        assert {t.lost for t in again.trials} == {()}


def statements(old):
    """Return how many statements upgrade it, the beginning and the end of the transaction included."""
    with closing(Record(old, read_only=True)) as record:
        return len(list(upgrade(record._version))) + 2


def stop_at(patch, at, stop):
    """Let a connection fail, or its process die, at one statement of a transaction."""
    seen = []

    def count(statement):
        if statement == "BEGIN IMMEDIATE" or seen:
            seen.append(statement)
        if len(seen) == at + 1 and statement != "ROLLBACK":
            stop()

    patch.setattr("spotsvm.study.record.record.connect_to_write", lambda path: Watched(connect_to_write(path), count))


def full():
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.faults
def test_a_disk_that_is_full_at_any_statement_leaves_it_as_it_was(old, monkeypatch):
    before, count = shape(old), statements(old)
    assert count >= 6
    for at in range(count):
        with monkeypatch.context() as patch:
            stop_at(patch, at, full)
            with pytest.raises(StorageError, match="cannot (write|read) the record: database or disk is full$"):
                Record(old)
        assert shape(old) == before
    with study(old) as s:
        assert s.n_finished == 10


@pytest.mark.faults
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_killed_at_any_statement_it_is_what_it_was(old, monkeypatch):
    before = shape(old)
    for at in range(statements(old)):
        child = os.fork()
        if child == 0:
            stop_at(monkeypatch, at, kill)
            Record(old)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert shape(old) == before
    with study(old) as s:
        s.run(objective, 16)
    assert facts(s) == facts(study().run(objective, 16))


def test_the_way_from_any_version_ends_at_the_same_tables(tmp_path):
    ends = []
    for first in (1, 2, 3, 4, 5):
        connection = sqlite3.connect(":memory:")
        with closing(connection):
            connection.executescript(tables_of(first))
            add_checksum(connection)
            for statement, values in upgrade(first):
                connection.execute(statement, values)
            ends.append([tuple(row[1:6]) for row in connection.execute("PRAGMA table_info(trials)")])
    with closing(Record(tmp_path / "new.db")) as record:
        new = [tuple(row[1:6]) for row in record._connection.execute("PRAGMA table_info(trials)")]
    assert [[(name, *rest) for name, _, *rest in end] for end in ends] == [[(name, *rest) for name, _, *rest in new]] * 5
    assert stored_columns() == tuple(name for name, *_ in new)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read and write everything: run this test as another user")
def test_a_file_that_cannot_be_written_can_be_read(old):
    old.chmod(0o400)
    with closing(Record(old, read_only=True)) as record:
        assert len(record.trials()) == 11
    with pytest.raises(StorageError, match="cannot write the record"):
        study(old)

"""Records of schema version 1, which had one objective: read as they are, and upgraded when they are opened for writing."""

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from click.testing import CliRunner
from scipy.stats import uniform

from spotsvm import Study, StudyMismatchError
from spotsvm.command_line import main
from spotsvm.errors import StorageError
from spotsvm.record import Record

SPACE = {"C": uniform(0, 1), "kernel": ["rbf", "poly", "linear"]}
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
    return {"value": params["C"], "time": 2.0} if params["kernel"] != "poly" else None


def study(path, **options):
    return Study(SPACE, "kriging", 0, path=path, **options)


def facts(study):
    return [(t.number, t.params, t.point, t.state, t.value, t.values, t.extra, t.reason, t.origin, t.seed) for t in study.trials]


def columns(path):
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute("PRAGMA table_info(trials)")]


def version(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT value FROM about WHERE key = 'schema_version'").fetchone()[0]


@pytest.fixture
def old(tmp_path):
    """A record as version 1 wrote it: ten trials that have ended, and one that was running."""
    with study(tmp_path / "new.db") as s:
        s.run(objective, 10)
        s.ask()
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(TABLES)
        connection.execute("ATTACH ? AS new", (str(tmp_path / "new.db"),))
        names = ", ".join(row[1] for row in connection.execute("PRAGMA main.table_info(trials)"))
        connection.execute(f"INSERT INTO trials ({names}) SELECT {names} FROM new.trials")
        connection.execute("INSERT INTO about SELECT key, value FROM new.about")
        connection.execute("UPDATE about SET value = '1' WHERE key = 'schema_version'")
        connection.commit()
    return path


def test_a_new_record_is_of_version_2(tmp_path):
    study(tmp_path / "study.db").close()
    assert version(tmp_path / "study.db") == "2"
    assert columns(tmp_path / "study.db")[-1] == "objectives"


def test_reading_only_leaves_it_as_it_is(old, tmp_path):
    before = old.read_bytes()
    with closing(Record(old, read_only=True)) as record, closing(Record(tmp_path / "new.db", read_only=True)) as new:
        assert record.trials() == new.trials()
        assert record.events() == new.events()
    result = CliRunner().invoke(main, ["export", str(old)])
    assert result.exit_code == 0
    assert result.stdout == CliRunner().invoke(main, ["export", str(tmp_path / "new.db")]).stdout
    assert old.read_bytes() == before
    assert "objectives" not in columns(old)


def test_opened_for_writing_it_is_upgraded_and_goes_on(old):
    with study(old) as s:
        s.run(objective, 16)
    assert version(old) == "2"
    assert facts(s) == facts(Study(SPACE, "kriging", 0).run(objective, 16))
    with study(old) as again:
        assert facts(again) == facts(s)
        assert {t.values for t in again.trials if t.state == "ok"} == {(t.value,) for t in again.trials if t.state == "ok"}


def test_upgraded_or_not_another_study_is_refused(old):
    with pytest.raises(
        StudyMismatchError, match="another direction: it has 'minimize', this one {'0': 'minimize', '1': 'maximize'}"
    ):
        Study(SPACE, "random", 0, path=old, direction=("minimize", "maximize"))
    with study(old) as s:
        assert s.n_finished == 10


def test_two_processes_upgrade_it_once(old):
    with closing(sqlite3.connect(old, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        waiting = subprocess.Popen(
            [sys.executable, "-c", f"from spotsvm.record import Record; Record({str(old)!r}).close()"], stderr=subprocess.PIPE
        )
        Record(old).close()
        assert waiting.wait() == 0, waiting.stderr.read()
        waiting.stderr.close()
    assert columns(old).count("objectives") == 1


def test_it_is_upgraded_as_a_whole_or_not_at_all(old, monkeypatch):
    """What comes after the new column fails: the column is not there either."""

    def fail(self, about):
        raise StorageError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Record, "_write_about", fail)
        with pytest.raises(StorageError, match="the disk is full"):
            Record(old)
    assert (version(old), "objectives" in columns(old)) == ("1", False)
    with study(old) as s:
        assert s.n_finished == 10


SCRIPT = """
import os, signal, sys
from spotsvm.record import Record

def die(self, about):
    os.kill(os.getpid(), signal.SIGKILL)

Record._write_about = die
Record(sys.argv[1])
"""


def test_killed_in_the_middle_it_is_what_it_was(old):
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(old)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (version(old), "objectives" in columns(old)) == ("1", False)
    with study(old) as s:
        assert s.n_finished == 10


@pytest.mark.skipif(os.getuid() == 0, reason="root may write what is read-only")
def test_a_file_that_cannot_be_written_can_be_read(old):
    old.chmod(0o400)
    with closing(Record(old, read_only=True)) as record:
        assert len(record.trials()) == 11
    with pytest.raises(StorageError, match="cannot write the record"):
        study(old)

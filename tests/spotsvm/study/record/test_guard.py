"""What a record must not bring: tables, views and triggers of its own, rows without end, or more than its file can hold."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from scipy.stats import uniform

from spotsvm import Study
from spotsvm.common.errors import StorageError
from spotsvm.study.record.record import Record, RecordGuard
from spotsvm.study.recorded import RecordedStudy
from tests.fuzz.hostile_records import SCHEMAS

pytestmark = pytest.mark.faults
SPACE = {"C": uniform(0, 1), "kernel": ["rbf", "poly"]}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("record") / "study.db"
    with Study(SPACE, "random", 0, path=path) as study:
        study.run(lambda p: p["C"], 5)
    return path


@pytest.fixture
def path(whole, tmp_path):
    return Path(shutil.copy(whole, tmp_path / "study.db"))


def change(path, script):
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(script)


@pytest.mark.parametrize("script", [one for one in SCHEMAS if one != "ANALYZE" and "user_version" not in one])
def test_another_schema_is_refused_before_anything_of_it_runs(path, script):
    change(path, script)
    for opened in (lambda: RecordedStudy(path), lambda: Study(SPACE, "random", 0, path=path), lambda: Record(path)):
        with pytest.raises(StorageError) as caught:
            opened()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("script", ["ANALYZE", "VACUUM", "REINDEX", "PRAGMA user_version = 7"])
def test_what_changes_no_table_does_no_harm(path, script):
    change(path, script)
    assert len(RecordedStudy(path).trials) == 5
    with Study(SPACE, "random", 0, path=path) as study:
        assert study.run(lambda p: p["C"], 6).n_finished == 6


def test_a_query_without_end_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("spotsvm.study.record.record.MOST_SECONDS", 0.05)
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"
    with closing(sqlite3.connect(":memory:")) as connection:
        guard = RecordGuard(connection, tmp_path)
        with pytest.raises(sqlite3.OperationalError, match="interrupted"):
            connection.execute(f"{endless} count(*) FROM c").fetchall()
        guard.begin()
        with pytest.raises(StorageError, match="more data than the file can hold|takes more than"):
            guard.rows(connection.execute(f"{endless} x FROM c"))


def test_rows_of_more_than_the_file_are_refused(tmp_path):
    file = tmp_path / "small.db"
    file.write_bytes(b"0" * 1000)
    with closing(sqlite3.connect(":memory:")) as connection:
        guard = RecordGuard(connection, file)
        assert len(guard.rows(connection.execute("SELECT hex(zeroblob(100000))"))) == 1
        with pytest.raises(StorageError, match="more data than the file can hold"):
            guard.rows(connection.execute("SELECT hex(zeroblob(10000000))"))
        with pytest.raises(sqlite3.DataError, match="too big"):
            connection.execute("SELECT length(hex(zeroblob(90000000)))").fetchone()


def test_nothing_can_be_attached_or_loaded(tmp_path):
    with closing(sqlite3.connect(":memory:")) as connection:
        RecordGuard(connection, tmp_path)
        with pytest.raises(sqlite3.OperationalError, match="too many attached"):
            connection.execute("ATTACH ? AS other", (str(tmp_path / "other.db"),))
        with pytest.raises(sqlite3.OperationalError):
            connection.execute("SELECT load_extension('x')")
        assert connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_errors_that_are_no_text(path):
    """Bytes that are no UTF-8 in the schema are so in SQLite's error too: it is raised when a reader tidies up behind itself."""
    record = Record(path, read_only=True)
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE trials", b"CREATE \x80\xff\x80\xff\x80 trials"))
    record.close()
    with pytest.raises(StorageError):
        Record(path)

import json
import sqlite3

import numpy as np
import pytest
from scipy.stats import loguniform, randint, truncnorm, uniform
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from spotsvm import Study
from spotsvm.common.errors import NoCompletedTrialError, StorageError
from spotsvm.common.fingerprint import versions
from spotsvm.study.record.record import Record
from spotsvm.study.record.schema import sign
from spotsvm.study.recorded import RecordedStudy

SPACE = {"C": loguniform(1e-2, 1e2), "x": uniform(-1, 2), "n": randint(1, 9), "kind": ["a", "b", "c"]}


def objective(p):
    if p["kind"] == "c":
        raise ValueError("no c")
    return {"value": (np.log10(p["C"]) - 1) ** 2 + p["x"] ** 2 + p["n"] / 10, "further": p["x"]}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("records") / "run.db"
    study = Study(SPACE, "random", 3, path=path, context={"data": "abc"})
    study.run(objective, n_trials=25)
    study.add_finding("weather", {"sun": True})
    study.close()
    return path


def test_a_record_has_the_results_of_its_study(path):
    study, read = Study(SPACE, "random", 3, path=path, context={"data": "abc"}), RecordedStudy(path)
    assert read.frame().equals(study.frame())
    assert read.recommend() == study.recommend()
    assert read.best_trial == study.best_trial
    assert read.findings == study.findings == {"weather": {"sun": True}}
    assert (read.seed, read.noise, read.objectives, read.path) == (study.seed, study.noise, study.objectives, path)
    assert read.about["context: data"] == "abc"
    assert read.about["budget"] == study.about["budget"] == 25
    study.close()


def test_the_versions_at_the_beginning_are_kept_and_need_not_be_the_same_to_resume(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE about SET value = ? WHERE key = 'versions'", (json.dumps({"numpy": "0.9"}),))
        sign(connection)
    study = Study(SPACE, "random", 3, path=copy, context={"data": "abc"}).run(objective, n_trials=26)
    assert study.about["versions"] == RecordedStudy(copy).about["versions"] == {"numpy": "0.9"}
    assert RecordedStudy(path).about["versions"] == versions()
    study.close()


def test_a_record_of_before_is_resumed_and_says_nothing_of_versions(path, tmp_path):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as connection:
        connection.execute("DELETE FROM about WHERE key IN ('versions', 'code', 'budget')")
    study = Study(SPACE, "random", 3, path=copy, context={"data": "abc"})
    assert "versions" not in study.about
    assert study.n_finished == RecordedStudy(copy).n_finished == 25
    study.close()


def test_reading_neither_waits_for_a_writer_nor_keeps_it_waiting(tmp_path):
    path = tmp_path / "run.db"
    study = Study(SPACE, "random", 0, path=path)
    assert RecordedStudy(path).trials == ()
    trial = study.ask()
    read = RecordedStudy(path)
    assert [t.state for t in read.trials] == ["running"]
    with pytest.raises(NoCompletedTrialError):
        read.recommend()
    # in the midst of a transaction of the writer the reader has what was before, at once
    with study._record.transaction():
        study._record._connection.execute("UPDATE about SET value = '7' WHERE key = 'budget'")
        assert RecordedStudy(path).trials == read.trials
    reader = Record(path, read_only=True)
    rows = reader._connection.execute("SELECT * FROM trials")
    rows.fetchone()  # a read that has begun
    study.tell(trial, 1.0)
    study.ask()
    rows.close()
    reader.close()
    assert [t.state for t in RecordedStudy(path).trials] == ["ok", "running"]
    study.close()


def test_what_json_does_not_have_is_text(tmp_path):
    path = tmp_path / "run.db"
    space = {"scale": [StandardScaler(), MinMaxScaler(), None], "sizes": [(1,), (1, 2)], "x": truncnorm(-1, 1)}
    study = Study(space, "random", 0, path=path).run(lambda p: p["x"], n_trials=8)
    study.close()
    read = RecordedStudy(path)
    assert {t.params["scale"] for t in read.trials} <= {"StandardScaler()", "MinMaxScaler()", None}
    assert {t.params["sizes"] for t in read.trials} <= {"(1,)", "(1, 2)"}
    assert [t.params["x"] for t in read.trials] == [t.params["x"] for t in study.trials]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("space", None, "holds no study: it does not describe"),
        ("space", [{"x": {"kind": "continuous", "quantiles": [1]}}], "is damaged: x="),
        ("space", [{"x": {"kind": "integer", "low": 0, "high": 3}}], "trial 0 has no point of the unit cube"),
        ("seed", "three", "is damaged: its seed is 'three'"),
        ("noise", "loud", "is damaged: its noise is 'loud'"),
        ("direction", "sideways", "the record is damaged: direction='sideways'"),
    ],
)
def test_a_record_that_makes_no_sense_is_refused(path, tmp_path, key, value, message):
    copy = tmp_path / "copy.db"
    copy.write_bytes(path.read_bytes())
    with sqlite3.connect(copy) as connection:
        if value is None:
            connection.execute("DELETE FROM about WHERE key = ?", (key,))
        else:
            connection.execute("UPDATE about SET value = ? WHERE key = ?", (json.dumps(value), key))
            sign(connection)
    with pytest.raises(StorageError, match=message):
        RecordedStudy(copy)


def test_there_must_be_a_record(tmp_path):
    with pytest.raises(StorageError, match="there is no such record"):
        RecordedStudy(tmp_path / "none.db")
    assert not list(tmp_path.iterdir())

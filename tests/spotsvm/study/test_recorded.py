import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import loguniform, randint, truncnorm, uniform
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from spotsvm import Study, Trial, load_study
from spotsvm.common.fingerprint import versions
from spotsvm.errors import StorageError
from spotsvm.study.resume import MOST_CELLS, size_problem
from tests.spotsvm.study.record.records import describe

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


def resumed(path):
    return Study(SPACE, "random", 3, path=path, context={"data": "abc"})


@pytest.fixture
def copy(path, tmp_path):
    return Path(shutil.copy(path, tmp_path / "copy.db"))


def test_a_record_has_the_results_of_its_study(path):
    with resumed(path) as study:
        read = load_study(path)
        assert read.frame().equals(study.frame())
        assert read.recommend() == study.recommend()
        assert read.best_trial == study.best_trial
        assert read.findings == study.findings == {"weather": {"sun": True}}
        assert (read.seed, read.noise, read.objectives, read.path) == (study.seed, study.noise, study.objectives, path)
        assert read.about["context: data"] == "abc"
        assert read.about["budget"] == study.about["budget"] == 25


def test_the_versions_at_the_beginning_are_kept_and_need_not_be_the_same_to_resume(path, copy):
    describe(copy, versions={"numpy": "0.9"})
    with resumed(copy) as study:
        study.run(objective, n_trials=26)
    assert study.about["versions"] == load_study(copy).about["versions"] == {"numpy": "0.9"}
    assert load_study(path).about["versions"] == versions()


def test_a_record_of_before_is_resumed_and_says_nothing_of_versions(copy):
    describe(copy, versions=None, code=None, budget=None)
    with resumed(copy) as study:
        assert "versions" not in study.about
        assert study.n_finished == load_study(copy).n_finished == 25


def test_what_json_does_not_have_is_text(tmp_path):
    path = tmp_path / "run.db"
    space = {"scale": [StandardScaler(), MinMaxScaler(), None], "sizes": [(1,), (1, 2)], "x": truncnorm(-1, 1)}
    study = Study(space, "random", 0, path=path).run(lambda p: p["x"], n_trials=8)
    study.close()
    read = load_study(path)
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
def test_a_record_that_makes_no_sense_is_refused(copy, key, value, message):
    describe(copy, **{key: value})
    with pytest.raises(StorageError, match=message):
        load_study(copy)


WHOLE = Trial(0, {"x": 1, "y": "a"}, (0.25, 0.25), "ok", 0.5)


def test_a_table_that_would_fill_the_memory():
    many = [replace(WHOLE, number=k, extra={f"{k} {j}": 0.0 for j in range(50)}) for k in range(400)]
    assert size_problem(many[:10]) == ""
    assert 400 * (400 * 50 + 2) > MOST_CELLS
    assert "20002 different names" in size_problem(many)

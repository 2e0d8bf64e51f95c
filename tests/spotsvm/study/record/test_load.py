import os
import sqlite3
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, truncnorm, uniform
from sklearn.preprocessing import StandardScaler

from spotsvm import Study, list_studies, load_study
from spotsvm.errors import ArgumentError, StorageError, StudyMismatchError
from spotsvm.searches import RandomSearch
from spotsvm.study.status import read_status

SPACE = [
    {"C": loguniform(1e-2, 1e2), "x": truncnorm(-1, 1), "kind": ["a", None], "sizes": [(1,), (1, 2)]},
    {"C": loguniform(1e-2, 1e2), "n": randint(1, 9), "y": uniform(-1, 2), "flag": [True, False]},
]


def objective(p):
    return (np.log10(p["C"]) - 1) ** 2 + p.get("x", 0.0) ** 2 + p.get("n", 1) / 10


def files(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in folder.iterdir()}


def test_a_record_is_read_without_its_space_and_left_as_it_is(tmp_path):
    path = tmp_path / "run.db"
    with Study(SPACE, "kriging", 3, path=path) as study:
        study.run(objective, n_trials=8)
        read = load_study(path)  # while another one writes
        assert read.frame().drop(columns="param_sizes").equals(study.frame().drop(columns="param_sizes"))
    before = files(tmp_path)
    read = load_study(path)
    assert read.recommend().number == study.recommend().number
    assert "open for reading: 8 of 8 trials" in repr(read)
    assert files(tmp_path) == before
    for name in ("run", "ask", "tell", "fail", "add_finding"):
        assert not hasattr(read, name)
    with pytest.raises(AttributeError, match=r"has no ask; load_study\(path, read_only=False\)"):
        read.ask()


def test_a_record_that_is_opened_to_go_on_ends_as_the_undisturbed_study(tmp_path):
    options = {"direction": "maximize", "noise": False, "context": {"data": "abc"}}
    whole = Study(SPACE, "kriging", 3, path=tmp_path / "whole.db", **options).run(objective, n_trials=11)
    with Study(SPACE, "kriging", 3, path=tmp_path / "cut.db", **options) as cut:
        cut.run(objective, n_trials=8)
    with load_study(tmp_path / "cut.db", read_only=False) as study:
        study.run(objective, n_trials=11)
    assert [t.params for t in study.trials] == [t.params for t in whole.trials]
    assert study.objectives == whole.objectives
    assert (study.noise, study.about["context: data"]) == (False, "abc")


def test_profile_and_several_objectives_are_gone_on_with(tmp_path):
    def sweep_outcome(p):
        return {y: (p["x"] - y) ** 2 for y in (0.0, 0.5)}

    space = {"x": uniform(0, 1), "y": uniform(0, 1)}
    Study(space, "random", 0, path=tmp_path / "a.db", sweep="y").run(sweep_outcome, n_trials=3).close()
    with load_study(tmp_path / "a.db", read_only=False) as study:
        assert study.run(sweep_outcome, n_trials=5).n_finished == 5
    direction = {"cost": "minimize", "gain": "maximize"}
    Study(space, "random", 0, path=tmp_path / "b.db", direction=direction).close()
    with load_study(tmp_path / "b.db", read_only=False) as study:
        assert study.run(lambda p: {"values": [p["x"], p["y"]]}, n_trials=3).objectives.describe() == direction


@pytest.mark.parametrize(
    ("space", "search", "why"),
    [
        ({"scale": [StandardScaler(), None]}, "random", r"scale has values that are known by their texts only, such as"),
        ({"x": truncnorm(-1, 1, loc=np.float64(0.5))}, "random", ""),
        ({"x": [1, 2]}, lambda domain, seed: RandomSearch(domain, seed), "its search .* is not one of spotsvm"),
    ],
    ids=["estimators", "a law", "a search of one's own"],
)
def test_what_a_record_does_not_suffice_for(space, search, why, tmp_path):
    path = tmp_path / "run.db"
    Study(space, search, 0, path=path).run(lambda p: 1.0, n_trials=1).close()
    assert len(load_study(path).trials) == 1
    if not why:
        load_study(path, read_only=False).close()
        return
    with pytest.raises(StudyMismatchError, match=rf"alone cannot be resumed: {why}.*create the study with the same arguments"):
        load_study(path, read_only=False)


def test_there_must_be_a_record_to_load(tmp_path):
    for read in (load_study, partial(load_study, read_only=False), read_status):
        with pytest.raises(StorageError, match="there is no such record"):
            read(tmp_path / "none.db")
    assert not list(tmp_path.iterdir())


def test_the_studies_of_a_folder_are_listed(tmp_path):
    folder = tmp_path / "runs"
    (folder / "deep").mkdir(parents=True)
    fails = Study({"x": [1, 2, 3]}, "random", 0, path=folder / "a.db", direction="maximize")
    fails.run(lambda p: p["x"] if p["x"] != 2 else float("nan"), n_trials=3)
    fails.close()
    pair = Study({"x": [1, 2]}, "nsga2", 0, path=folder / "deep" / "b.db", direction=("minimize", "maximize"))
    pair.ask()
    pair.close()
    with sqlite3.connect(folder / "other.db") as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    (folder / "notes.txt").write_text("no record")
    before = files(folder / "deep")
    found = list_studies(folder)
    assert files(folder / "deep") == before
    assert [os.path.relpath(p, folder) for p in found["path"]] == ["a.db", str(Path("deep", "b.db")), "other.db"]
    assert found[["search", "ok", "failed", "timeout", "running", "best", "direction"]].iloc[0].tolist() == [
        "random", 2, 1, 0, 0, 3.0, "maximize",
    ]  # fmt: skip
    assert found["running"].tolist() == [0, 1, 0]
    assert found["direction"][1] == "0: minimize, 1: maximize"
    assert np.isnan(found["best"][1])
    assert found["error"].str.contains("not a record of spotsvm").tolist() == [False, False, True]
    assert (found["created"] <= found["modified"])[:2].all()
    assert found["modified"][0] > pd.Timestamp("2020-01-01", tz="UTC")
    assert list_studies(folder / "a.db").shape == (1, found.shape[1])
    assert list_studies(tmp_path / "runs" / "deep")["path"].tolist() == [str(folder / "deep" / "b.db")]
    (tmp_path / "empty").mkdir()
    assert list_studies(tmp_path / "empty").empty


def test_a_study_that_is_read_closes_as_any_other(tmp_path):
    Study({"x": [1, 2, 3]}, "random", 0, path=tmp_path / "s.db").run(lambda p: p["x"], n_trials=3).close()
    with load_study(tmp_path / "s.db") as study:
        assert study.best_value == 1
    study.close()
    assert study.best_value == 1


def test_bounds_are_gone_on_with_and_conditions_where_they_are_given(tmp_path):
    space, path = {"x": uniform(0, 1)}, tmp_path / "s.db"
    bounds = {"memory <= b": ("<=", 0.1), "gain": (">=", -2.5e-20)}

    def bounded(p):
        return {"value": -p["x"], "memory <= b": p["x"], "gain": p["x"]}

    whole = Study(space, seed=0, noise=False, constraints=bounds).run(bounded, n_trials=10)
    with Study(space, seed=0, noise=False, constraints=bounds, path=path) as study:
        study.run(bounded, n_trials=8)
    with load_study(path, read_only=False) as study:
        assert dict(study.constraints.bounds) == bounds
        study.run(bounded, n_trials=10)
    assert [t.params for t in study.trials] == [t.params for t in whole.trials]
    path = tmp_path / "t.db"
    with Study(space, "random", 0, constraints=[lambda p: p["x"] < 0.5, bounds], path=path) as study:
        study.run(bounded, n_trials=3)
    names = r"alone cannot be resumed: it has only the names of its constraints <lambda>; give constraints=, or leave out"
    with pytest.raises(StudyMismatchError, match=names):
        load_study(path, read_only=False)
    for again in ([lambda p: p["x"] < 0.5], [bounds, lambda p: p["x"] < 0.5]):  # with the bounds of the record, or given too
        with load_study(path, read_only=False, constraints=again) as study:
            assert dict(study.constraints.bounds) == bounds
            study.run(bounded, n_trials=study.n_finished + 10)
            assert all(t.params["x"] < 0.5 for t in study.trials)
    for wrong, said in (
        (lambda p: p["x"] < 0.01, "which violates constraints\\[0\\]"),
        (max, "constraints"),
        ([lambda p: True, {"other": ("<=", 1.0)}], "constraints"),
    ):
        with pytest.raises(StudyMismatchError, match=said):
            load_study(path, read_only=False, constraints=wrong)
    assert len(load_study(path).trials) == 23
    with pytest.raises(ArgumentError, match="constraints are only for a study that is resumed; pass read_only=False as well"):
        load_study(path, constraints=bounds)

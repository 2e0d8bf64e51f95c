import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study, load_study

SPACE = {"x": uniform(0, 1)}


def objective():
    """Return an objective that worker processes need no module of the tests for."""

    def with_attributes(params, trial):
        trial.attributes |= {"number": trial.number, "seed": trial.seed, "path": (1, np.float64(0.5)), "solver": "smo"}
        if trial.number == 3:
            raise ValueError("a third")
        return {"value": params["x"], "twice": 2 * params["x"], "text": f"x={params['x']:.1f}", "none": None}

    return with_attributes


def expected(trial):
    of_trial = {"number": trial.number, "seed": trial.seed, "path": [1, 0.5], "solver": "smo"}
    return of_trial if trial.number == 3 else {"text": f"x={trial.params['x']:.1f}", "none": None} | of_trial


OPTIONS = {"here": {}, "threads": {"executor": "threading", "n_jobs": 2}, "pool": {"n_jobs": 2}, "batch": {"batch_size": 3}}


def test_it_runs_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as client:
        study = Study(SPACE, "random", 0).run(objective(), 6, client)
    assert [t.attributes for t in study.trials] == [expected(t) for t in study.trials]


def test_seeds_are_those_of_the_trials_whoever_evaluates():
    seeds = []
    study = Study(SPACE, "random", 0).run(lambda params, trial: seeds.append(trial.seed) or 0.0, 5)
    assert seeds == [t.seed for t in study.trials]
    assert len(set(seeds)) == 5


def test_paths_may_have_attributes():
    def path(params, trial):
        trial.attributes["path"] = trial.number
        return {y: {"value": params["x"] + y, "name": f"y={y:g}"} for y in (0.25, 0.5)}

    study = Study(SPACE | {"y": uniform(0, 1)}, "random", 0, sweep="y").run(path, 3)
    assert len(study.trials) == 6
    for t in study.trials:
        assert t.attributes == {"path": t.sweep, "name": f"y={t.params['y']:g}"}


def test_the_table_has_a_column_of_each_attribute():
    frame = Study(SPACE, "random", 0).run(objective(), 4).frame()
    assert frame["attribute_solver"].tolist() == ["smo"] * 4
    assert frame["attribute_text"].isna().tolist() == [False, False, False, True]


def nested(levels):
    return [nested(levels - 1)] if levels else []


def test_what_is_told_by_hand_may_have_texts():
    study = Study(SPACE, "random", 0)
    told = study.tell(study.ask(), {"value": 1.0, "solver": "smo", "n": 3, "model": threading.Lock(), "deep": nested(80)})
    assert (told.value, told.extra, told.attributes["solver"]) == (1.0, {"n": 3.0}, "smo")
    assert told.attributes["model"].startswith("<unlocked _thread.lock")
    assert told.attributes["deep"] == repr(nested(80))
    with pytest.raises(TypeError, match="cannot be changed"):
        told.attributes["solver"] = "other"


def test_attributes_wait_for_their_turn_with_the_outcome(tmp_path):
    later = threading.Event()

    def slow_first(params, trial):
        trial.attributes["n"] = [trial.number]
        if trial.number == 0:
            later.wait(20)
        elif trial.number == 1:
            later.set()
        return params["x"]

    with ThreadPoolExecutor(2) as executor, Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        study.run(slow_first, 2, executor, batch_size=2)
    assert [t.attributes for t in load_study(tmp_path / "r.db").trials] == [{"n": [0]}, {"n": [1]}]

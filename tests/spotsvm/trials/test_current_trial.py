import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

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


OPTIONS = {"threads": {"executor": "threading", "n_jobs": 2}, "pool": {"n_jobs": 2}, "batch": {"batch_size": 3}}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_objective_may_take_the_trial_wherever_it_is_evaluated(options, tmp_path):
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as study:
        study.run(objective(), 6, **options)
    assert [t.state for t in study.trials] == ["ok", "ok", "ok", "failed", "ok", "ok"]
    assert [t.attributes for t in study.trials] == [expected(t) for t in study.trials]
    assert "a third" in study.trials[3].traceback
    assert study.trials[0].extra == {"twice": 2 * study.trials[0].value}
    with Study(SPACE, "random", 0, path=tmp_path / "r.db") as again:
        assert again.trials == study.trials
    assert load_study(tmp_path / "r.db").trials == study.trials


class Callable:
    def __call__(self, params, trial):
        return float(trial.number)


@pytest.mark.parametrize(
    ("given", "value"),
    [
        (Callable(), 0.0),
        (partial(lambda a, params, trial: a + trial.number, 1.0), 1.0),
        *(
            (f, 2.0)
            for f in (lambda p, *more: 2.0 + len(more), lambda p, a=2.0: a, lambda *p: 1.0 + len(p), lambda p, *, a=2.0: a)
        ),
    ],
)
def test_which_callables_take_the_trial(given, value):
    assert Study(SPACE, "random", 0).run(given, 1).trials[0].value == value


def test_it_runs_on_a_cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as client:
        study = Study(SPACE, "random", 0).run(objective(), 6, client)
    assert [t.attributes for t in study.trials] == [expected(t) for t in study.trials]


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

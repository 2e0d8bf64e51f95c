"""Objectives that take the current trial."""

from functools import partial

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study, load_study
from spotsvm.study.record.salvage import salvage
from spotsvm.trials.evaluation import takes_trial

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
    assert salvage(tmp_path / "r.db").trials == study.trials


def test_which_callables_take_the_trial():
    class Callable:
        def __call__(self, params, trial):
            return 0.0

    assert takes_trial(Callable())
    assert takes_trial(partial(lambda a, params, trial: 0.0, 1))
    for other in (lambda p: 0.0, lambda p, *more: 0.0, lambda p, a=1: 0.0, lambda p, *, a: 0.0, lambda *p: 0.0, max):
        assert not takes_trial(other)

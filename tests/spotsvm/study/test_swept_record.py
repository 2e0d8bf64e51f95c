"""Swept studies that go on after an interruption."""

import json

import numpy as np
import pandas as pd
import pytest
from completed_trials import BrokenOff, break_off_after, facts
from scipy.stats import loguniform, randint, uniform

from spotsvm import Study, load_study
from spotsvm.study.record.salvage import salvage
from spotsvm.study.status import read_status
from spotsvm.trials.judging import sweep_outcome

SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3), "degree": randint(1, 4)}
PATH = [2.0**k for k in range(-5, 16, 5)]


def score(params, C):
    return (np.log2(params["gamma"]) + 5) ** 2 + 0.1 * (np.log2(C) + np.log2(params["gamma"]) + 3) ** 2 + params["degree"]


def path(params):
    assert "C" not in params
    return {C: {"value": score(params, C), "double": 2 * C} for C in PATH}


def moody(params):
    """Fail for some gamma, and for large C at others."""
    if params["gamma"] > 1:
        raise ValueError("too large")
    return {C: None if C > 100 and params["degree"] == 2 else score(params, C) for C in PATH}


def study(path=None, search="kriging", **options):
    return Study(SPACE, search, 0, path=path, noise=False, sweep="C", **options)


@pytest.mark.parametrize("search", ["kriging", "cmaes"])
@pytest.mark.parametrize("objective", [path, moody])
def test_a_record_that_was_broken_off_goes_on_as_if_nothing_had_happened(tmp_path, search, objective):
    whole = study(search=search).run(objective, 20)
    with pytest.raises(BrokenOff), study(tmp_path / "s.db", search) as s:
        s.run(objective, 20, callback=break_off_after(13))
    with study(tmp_path / "s.db", search) as s:
        s.run(objective, 20)
    assert facts(s) == facts(whole)
    read = load_study(tmp_path / "s.db")
    assert facts(read) == facts(whole)
    pd.testing.assert_frame_equal(read.frame().filter(regex="param|value|sugg"), whole.frame().filter(regex="param|value|sugg"))
    status = read_status(tmp_path / "s.db")
    assert (status.n_finished, status.state, status.incumbent.value) == (20, "ended", whole.best_trial.value)
    assert salvage(tmp_path / "s.db").trials == s.trials


WEIGHTS = [None, "balanced", {0: 1, 1: 5}, {0: 5, 1: 1}]
LISTED = {"gamma": SPACE["gamma"], "w": WEIGHTS, "degree": SPACE["degree"]}


def listed_study(path=None, search="kriging"):
    return Study(LISTED, search, 0, path=path, noise=False, sweep="w")


def test_values_of_a_list_are_told_and_wait(tmp_path):
    with listed_study(tmp_path / "s.db", "random") as s:
        first, second = s.ask(), s.ask()
        assert "w" not in first.params
        told = s.tell(first, {None: 3.0, "balanced": 2.0})
        assert (told.params["w"], [t.params["w"] for t in s.trials if t.origin == "sweep"]) == ("balanced", [None])
        outcome = sweep_outcome([(WEIGHTS[3], 0.5), (WEIGHTS[2], None)], "w", None, WEIGHTS)
        s._books.hold(second, outcome)
        told = s.tell(s.ask(), {"heavy": 1.0})
        assert (told.state, told.reason[:55]) == ("failed", "the objective returned a sweep with w='heavy' is not on")
    with listed_study(tmp_path / "s.db", "random") as s:
        assert s._books.held(s.trials[1]) == outcome
        told = s._books.finish(s.trials[1], outcome)
        assert (told.params["w"], told.value) == ({0: 5, 1: 1}, 0.5)


def test_an_outcome_that_waits_for_its_turn_is_kept_with_its_path(tmp_path):
    with study(tmp_path / "s.db") as s:
        first, second = s.ask(), s.ask()
        outcome = sweep_outcome({2: 0.5, 4.0: {"value": 0.25, "time": 3}, 8.0: None}, "C")
        s._books.hold(second, outcome)
    with study(tmp_path / "s.db") as s:
        assert s._books.held(s.trials[1]) == outcome
        assert dict(s.ask().params) == dict(first.params)


def test_a_finite_space_ends_when_all_but_the_profiled_parameter_is_used_up(tmp_path):
    with Study({"a": [1, 2, 3], "C": uniform(0, 1)}, "random", 0, path=tmp_path / "s.db", sweep="C") as s:
        s.run(lambda p: {0.0: p["a"], 1.0: 2 * p["a"]}, 10)
    assert s.n_finished == 3
    status = read_status(tmp_path / "s.db")
    assert status.reason == "every configuration in its space has been evaluated"
    assert json.loads(json.dumps(status.to_dict()))["n_finished"] == 3


def test_attributes_on_a_path_that_a_record_cannot_hold_are_kept_as_text(tmp_path):
    deep = {"a": 1}
    for _ in range(60):
        deep = {"a": deep}
    returned = sweep_outcome({1.0: {"value": 0.5, "model": deep}, 2.0: {"value": 0.25, "model": deep, "solver": "smo"}}, "C")
    with study(tmp_path / "s.db", "random") as s:
        s.tell(s.ask(), returned)
        s._books.hold(s.ask(), returned)
    with study(tmp_path / "s.db", "random") as again:
        again.tell(2, again._books.held(again.trials[2]))
        best, other = {"model": repr(deep), "solver": "smo"}, {"model": repr(deep)}
        assert [t.attributes for t in again.trials] == [best, other, best, other]

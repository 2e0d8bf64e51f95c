import re

import numpy as np
import pytest
from scipy.stats import uniform

from spotsvm import Study, list_studies
from spotsvm.errors import ArgumentError, SearchExhaustedError, SpaceError, StudyMismatchError

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}


def objective(params):
    return (params["x"] - 0.8) ** 2 + (params["y"] - 0.7) ** 2


def below_the_diagonal(params):
    return params["x"] + params["y"] <= 1


@pytest.mark.parametrize("search", ["kriging", "cmaes"])  # one respects constraints; the other is told of failures
def test_no_search_evaluates_what_violates_a_constraint_and_each_resumes_to_the_bit(search, tmp_path):
    def study(path=None):
        return Study(SPACE, search, 0, constraints=[below_the_diagonal], noise=False, path=path)

    whole = study().run(objective, n_trials=10)
    assert all(below_the_diagonal(t.params) for t in whole.trials)
    with study(tmp_path / "s.db") as part:
        part.run(objective, n_trials=8)
    with study(tmp_path / "s.db") as part:
        part.run(objective, n_trials=10)
        assert [t.params for t in part.trials] == [t.params for t in whole.trials]
        assert part.about["constraints"] == ["below_the_diagonal"]


@pytest.mark.parametrize("search", ["nsga2", "parego"])
def test_several_objectives(search):
    study = Study(SPACE, search, 0, direction=("minimize", "minimize"), constraints=[below_the_diagonal])
    study.run(lambda p: {"values": [-p["x"], -p["y"]]}, n_trials=9)
    assert all(below_the_diagonal(t.params) for t in study.trials)


def test_a_start_that_violates_is_an_error_that_names_it():
    with pytest.raises(SpaceError, match=r"start\[1\].*violates constraints\[0\] \(below_the_diagonal\)"):
        Study(SPACE, constraints=below_the_diagonal, start=[{"x": 0.1, "y": 0.2}, {"x": 0.9, "y": 0.9}])


def test_a_finite_space_is_exhausted_by_what_is_allowed():
    study = Study({"a": [0, 1, 2], "b": [0, 1, 2]}, "random", 0, constraints=[lambda p: p["a"] <= p["b"]])
    study.run(lambda p: p["a"], n_trials=20)
    assert len(study.trials) == 6
    with pytest.raises(SearchExhaustedError, match="that satisfy the constraints"):
        study.ask()


def test_constraints_that_nothing_satisfies_are_an_error():
    with pytest.raises(SearchExhaustedError, match="none of 10000 random configurations satisfies the constraints"):
        Study(SPACE, "kriging", 0, constraints=[lambda p: p["x"] > 2]).ask()


def test_bad_constraints_are_refused():
    for wrong in ("x < 1", [1], 3):
        with pytest.raises(ArgumentError, match="not (valid constraints|a constraint); use a function"):
            Study(SPACE, constraints=wrong)
    with pytest.raises(ArgumentError, match=r"constraints\[0\] \(<lambda>\) raised KeyError\('z'\)"):
        Study(SPACE, "random", 0, constraints=lambda p: p["z"] > 0).ask()


def test_a_record_of_other_constraints_is_not_resumed(tmp_path):
    path = tmp_path / "s.db"
    with Study(SPACE, "random", 0, constraints=lambda p: p["x"] < 0.5, path=path) as study:
        study.run(objective, n_trials=5)
    with pytest.raises(StudyMismatchError, match="another constraints"):
        Study(SPACE, "random", 0, path=path)
    with pytest.raises(StudyMismatchError, match=r"has trial 0.*violates constraints\[0\]"):
        Study(SPACE, "random", 0, constraints=lambda p: p["x"] > 0.5, path=path)


def test_a_conditional_space_and_search_cv():
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC

    from spotsvm import SpotSearchCV

    X, y = load_iris(return_X_y=True)
    space = {"C": uniform(0.1, 10), "gamma": uniform(0.01, 1)}
    search = SpotSearchCV(
        SVC(), space, n_iter=8, search="random", random_state=0, constraints=[lambda p: p["C"] * p["gamma"] <= 1]
    )
    search.fit(X[::3], y[::3])
    assert np.all([p["C"] * p["gamma"] <= 1 for p in search.cv_results_["params"]])
    with pytest.raises(SpaceError, match="violates"):
        search.set_params(start={"C": 9.0, "gamma": 0.9}).fit(X[::3], y[::3])


def needing_memory(params):
    """The best that holds memory <= 1e9 is at x = 0.55, y = 0.45, on the border, with the value 0.245."""
    value = (params["x"] - 0.9) ** 2 + (params["y"] - 0.8) ** 2
    return {"value": value, "memory": 1e9 * np.exp(3 * (params["x"] + params["y"]) - 3)}


@pytest.mark.parametrize(("search", "near"), [("kriging", 0.002), ("cmaes", 0.05)])
def test_the_best_is_among_those_that_hold_a_bound(search, near, tmp_path):
    def study(path=None):
        return Study(SPACE, search, 0, constraints={"memory": ("<=", 1e9)}, noise=False, path=path)

    whole = study().run(needing_memory, n_trials=25)
    frame = whole.frame()
    assert ((frame["extra_memory"] <= 1e9) == (frame["extra_bounds_held"] == 1)).all()
    assert (frame["extra_bounds_held"] == 0).any()
    assert whole.best_trial.extra["memory"] <= 1e9
    assert whole.recommend().number == whole.best_trial.number
    assert 0.245 <= whole.best_trial.value < 0.245 + near
    with study(tmp_path / "s.db") as part:
        part.run(needing_memory, n_trials=14)
    with study(tmp_path / "s.db") as part:
        assert part.about["constraints"] == ["memory <= 1000000000.0"]
        part.run(needing_memory, n_trials=18)
        assert [t.params for t in part.trials] == [t.params for t in whole.trials[:18]]


def test_both_kinds_together_and_a_bound_from_below_under_noise():
    rng = np.random.default_rng(0)
    study = Study(SPACE, seed=0, constraints=[lambda p: p["x"] <= 0.7, {"gain": (">=", 0.5)}], noise=True)
    study.run(lambda p: {"value": -p["x"] + 0.05 * rng.normal(), "gain": p["y"]}, n_trials=25)
    assert all(t.params["x"] <= 0.7 for t in study.trials)
    found = study.recommend()
    assert found.params["y"] >= 0.5
    assert found.params["x"] > 0.6


def test_no_trial_that_holds_the_bounds():
    from spotsvm.errors import NoCompletedTrialError

    study = Study(SPACE, seed=0, constraints={"memory": ("<=", -1)}, noise=False).run(needing_memory, n_trials=10)
    for choose in (study.recommend, lambda: study.best_trial):
        with pytest.raises(NoCompletedTrialError, match="no trial holds the bounds"):
            choose()


@pytest.mark.parametrize("bound", [("<", 1), ("<=", "a"), ("<=", float("inf")), 3, "<=1"])
def test_bad_bounds_are_refused(bound):
    with pytest.raises(ArgumentError, match="use a name and a bound"):
        Study(SPACE, constraints={"memory": bound})


def test_a_study_without_a_trial_that_holds_the_bounds_is_shown(tmp_path, capsys, caplog):
    import logging

    import matplotlib as mpl
    from matplotlib import pyplot

    study = Study(SPACE, "lhs", 0, constraints={"memory": ("<=", 0)}, noise=False)
    caplog.set_level(logging.INFO, "spotsvm")
    study.run(needing_memory, n_trials=8, progress=True)
    assert "the run ends" in caplog.text
    assert "best value" not in capsys.readouterr().err
    assert study.status().incumbent is None
    page = study.report(tmp_path / "report.html").read_text()
    assert "There is no recommendation yet: no trial holds the bounds" in page
    assert "Recommended parameters" not in page
    assert "memory &lt;= 0.0" in page
    with mpl.rc_context({"backend": "agg"}):
        study.plot_convergence()
        study.plot_parallel()
        drawn = study.plot_slices().figure.legends[0]
        assert "best, out of bounds" in [text.get_text() for text in drawn.get_texts()]
        one = Study({"x": uniform(0, 1)}, "lhs", 0, constraints={"memory": ("<=", -1)})
        drawn = one.run(lambda p: {"value": p["x"], "memory": p["x"]}, n_trials=8).plot_slices().get_legend()
        assert "best, out of bounds" in [text.get_text() for text in drawn.get_texts()]
        pyplot.close("all")


def test_a_start_and_a_stop_rule_keep_to_the_bounds():
    from dataclasses import replace

    from spotsvm import ImprovementBelowUncertainty

    study = Study(SPACE, "random", 0, constraints={"memory": ("<=", 1e9)}, noise=False).run(needing_memory, n_trials=25)
    assert Study(SPACE, start=study).ask().params == study.best_trial.params
    failed = [
        t if t.extra["bounds_held"] else replace(t, state="failed", value=None, values=None, reason="too large")
        for t in study.trials
    ]
    assert 2 < sum(t.state == "ok" for t in failed) < 25
    looks = [
        ImprovementBelowUncertainty().look(trials, study.space, sign=1.0, noise=False, seed=0)
        for trials in (study.trials, failed)
    ]
    assert repr(looks[0]) == repr(looks[1])
    assert looks[0].expected_improvement > 0


@pytest.mark.parametrize("answer", [None, 0.5, 1, "yes", np.array([True])])
def test_a_condition_that_returns_no_truth_value_is_an_error(answer):
    said = re.escape(f"constraints[0] (<lambda>) returned {answer!r} for ") + ".*return True or False"
    with pytest.raises(ArgumentError, match=said):
        Study(SPACE, "random", 0, constraints=lambda p: answer).run(objective, n_trials=3)
    assert Study(SPACE, "random", 0, constraints=lambda p: np.bool_(True), noise=False).run(objective, n_trials=3).n_finished == 3


def test_a_bounded_number_that_no_trial_has_is_named():
    from spotsvm.errors import NoCompletedTrialError

    study = Study(SPACE, "random", 0, constraints={"memry": ("<=", 1e9)})
    with pytest.raises(ArgumentError, match="bound of 'memry', which the objective does not return; did you mean 'memory'"):
        study.run(needing_memory, n_trials=3)
    study.add_trial(study.trials[0].params, 0.5)
    for choose in (lambda: study.best_trial, study.recommend):
        with pytest.raises(NoCompletedTrialError, match="no trial has a number 'memry', which the study's constraints bound"):
            choose()
    with pytest.raises(ArgumentError, match="bound of 'value', which is optimised"):
        Study(SPACE, constraints={"value": (">=", 1)})


def test_what_shows_the_best_keeps_to_the_bounds(tmp_path):
    with Study(SPACE, "random", 0, constraints={"memory": ("<=", 1e9)}, path=tmp_path / "s.db", noise=False) as study:
        study.run(needing_memory, n_trials=12)
    best = study.best_trial
    assert min(t.value for t in study.trials) < best.value
    assert study.status().incumbent.number == best.number
    html = study._repr_html_()
    assert f"the best of {sum(t.extra['bounds_held'] for t in study.trials):g}," in html
    assert f"<tbody><tr><td>{best.number}</td>" in html
    assert list_studies(tmp_path)["best"].tolist() == [best.value]


def test_the_kriging_search_finds_the_best_at_the_border():
    study = Study(SPACE, seed=1, constraints=lambda p: p["x"] + p["y"] <= 1, noise=False).run(objective, n_trials=30)
    assert study.best_trial.value < 0.126

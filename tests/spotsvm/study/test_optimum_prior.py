"""Studies that are told where the optimum is believed to be."""

import numpy as np
import pytest
from scipy.stats import lognorm, norm, uniform
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, load_study
from spotsvm.errors import SolverError, SpaceError, StudyMismatchError

SPACE = {"x": uniform(0, 1), "y": uniform(0, 1)}
RIGHT, WRONG = {"x": norm(0.73, 0.05), "y": norm(0.18, 0.05)}, {"x": norm(0.1, 0.05), "y": norm(0.9, 0.05)}


def bowl(p):
    return (p["x"] - 0.73) ** 2 + (p["y"] - 0.18) ** 2


def params_of(study):
    return [dict(t.params) for t in study.trials]


@pytest.mark.parametrize("search", ["kriging", "koch2011"])
def test_the_first_trial_is_at_the_mode(search):
    study = Study(SPACE, search, 0, prior=RIGHT).run(bowl, 7)
    first = study.trials[0].params
    assert abs(first["x"] - 0.73) < 0.02
    assert abs(first["y"] - 0.18) < 0.02


def test_a_right_prior_gains_and_a_wrong_one_is_overcome():
    def best_after(n, prior):
        return np.median(
            [min(t.value for t in Study(SPACE, seed=s, noise=False, prior=prior).run(bowl, n).trials) for s in range(3)]
        )

    assert best_after(8, RIGHT) < 0.1 * best_after(8, None)
    assert best_after(25, WRONG) < 1e-3


def test_starting_points_come_before_the_mode():
    study = Study(SPACE, seed=0, prior=RIGHT, start={"x": 0.5, "y": 0.5}).run(bowl, 2)
    assert study.trials[0].params["x"] == 0.5
    assert abs(study.trials[1].params["x"] - 0.73) < 0.02


def test_every_dictionary_has_a_mode():
    space = [{"kernel": ["a"], "x": uniform(0, 1)}, {"kernel": ["b"], "x": uniform(0, 1)}]
    study = Study(space, seed=0, prior={"x": norm(0.7, 0.02)}).run(lambda p: (p["x"] - 0.7) ** 2, 2)
    assert {t.params["kernel"] for t in study.trials} == {"a", "b"}
    assert all(abs(t.params["x"] - 0.7) < 0.02 for t in study.trials)


def test_a_record_keeps_the_prior(tmp_path):
    whole = Study(SPACE, seed=0, prior=RIGHT).run(bowl, 9)
    with Study(SPACE, seed=0, prior=RIGHT, path=tmp_path / "s.db") as study:
        study.run(bowl, 8)
    with pytest.raises(StudyMismatchError, match="belongs to a study with another prior of the optimum; use the same prior"):
        Study(SPACE, seed=0, path=tmp_path / "s.db")
    with load_study(tmp_path / "s.db", read_only=False) as study:
        assert params_of(study.run(bowl, 9)) == params_of(whole)


def test_records_give_a_prior_and_starting_points(tmp_path):
    others = []
    for seed in range(3):
        with Study(SPACE, seed=seed, path=tmp_path / f"{seed}.db") as other:
            other.run(lambda p: bowl(p) + 0.02 * p["x"], 20)
            others.append(tmp_path / f"{seed}.db")
    whole = Study(SPACE, seed=5, noise=False, start=others).run(bowl, 9)
    assert [t.origin for t in whole.trials[:4]] == ["start", "start", "start", "design"]
    assert abs(whole.trials[3].params["x"] - 0.72) < 0.1
    with Study(SPACE, seed=5, noise=False, start=others, path=tmp_path / "s.db") as study:
        study.run(bowl, 8)
    with load_study(others[0], read_only=False) as other:  # which goes on meanwhile
        other.run(lambda p: 0.0, 25)
    with Study(SPACE, seed=5, noise=False, start=others, path=tmp_path / "s.db") as study:
        assert params_of(study.run(bowl, 9)) == params_of(whole)


def test_a_given_prior_comes_before_a_learned_one():
    other = Study(SPACE, seed=0).run(bowl, 10)
    study = Study(SPACE, seed=0, start=[other], prior=WRONG).run(bowl, 2)
    assert abs(study.trials[1].params["x"] - 0.1) < 0.02


def test_several_objectives():
    study = Study(SPACE, seed=0, direction=("minimize", "minimize"), prior=RIGHT)
    study.run(lambda p: (p["x"], 1 - p["x"] + p["y"]), 2)
    assert abs(study.trials[0].params["x"] - 0.73) < 0.02


@pytest.mark.parametrize("search", ["cmaes", "random", "vns", "lbfgsb"])
def test_other_searches_refuse_a_prior(search):
    with pytest.raises(SolverError, match=f"search={search} uses no prior; use 'kriging'"):
        Study(SPACE, search, prior=RIGHT)


def test_a_name_that_is_no_parameter_leaves_no_file(tmp_path):
    with pytest.raises(SpaceError, match="prior has 'z'"):
        Study(SPACE, prior={"z": norm(0, 1)}, path=tmp_path / "s.db")
    assert not (tmp_path / "s.db").exists()


def test_a_cross_validated_search_passes_its_prior_on():
    X, y = load_iris(return_X_y=True)
    space = {"C": (1e-3, 1e5, "log-uniform"), "gamma": (1e-5, 1e2, "log-uniform")}
    prior = {"gamma": lognorm(0.3, scale=0.05), "C": lognorm(1.0)}
    search = SpotSearchCV(SVC(), space, n_iter=1, cv=3, random_state=0, start=[], prior=prior).fit(X, y)
    assert search.study_.trials[0].params["gamma"] == pytest.approx(0.05, rel=0.4)

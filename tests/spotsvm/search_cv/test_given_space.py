"""Spaces as users of scikit-learn and scikit-optimize write them, from end to end."""

import pytest
from scipy.stats import expon, loguniform
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import RandomizedSearchCV
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import ArgumentError
from spotsvm.reports.repeat import code_snippet

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


X, Y = make_classification(n_samples=60, n_features=4, random_state=0)
SPACE = {"C": loguniform(1e-2, 1e2), "gamma": loguniform(1e-3, 1e1)}
FEW = PLAIN | {"n_iter": 4, "search": "random", "cv": 3, "random_state": 0}


def test_the_space_has_the_name_that_scikit_learn_gives_it():
    arguments = {"param_distributions": SPACE, "n_iter": 4, "cv": 3, "random_state": 0}
    assert RandomizedSearchCV(SVC(), **arguments).fit(X, Y).best_params_.keys() == SPACE.keys()
    named = SpotSearchCV(SVC(), **FEW | arguments)
    assert clone(named).get_params(deep=False)["param_distributions"].keys() == SPACE.keys()
    params = [search.fit(X, Y).cv_results_["params"] for search in (named, SpotSearchCV(SVC(), SPACE, **FEW))]
    assert params[0] == params[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"space": SPACE, "param_distributions": SPACE}, "space and param_distributions are two names of one argument, and both"),
        ({}, "space is missing; give a dictionary of parameters as space or param_distributions"),
    ],
)
def test_exactly_one_space_is_given(given, message):
    with pytest.raises(ArgumentError if len(given) != 1 else ValueError, match=message):
        SpotSearchCV(SVC(), **FEW, **given).fit(X, Y)


GUIDE = {"C": expon(scale=100), "gamma": expon(scale=0.1), "kernel": ["rbf"], "class_weight": ["balanced", None]}


def test_ranges_are_written_as_in_scikit_optimize():
    space = {"C": (1e-2, 1e2, "log-uniform"), "degree": (1, 3), "coef0": (0.0, 1.0, "uniform"), "kernel": ["poly"]}
    params = SpotSearchCV(SVC(), space, **FEW).fit(X, Y).cv_results_["params"]
    assert all(p["kernel"] == "poly" and 1e-2 <= p["C"] <= 1e2 and p["degree"] in (1, 2, 3) for p in params)


@pytest.mark.parametrize("n_iter", [1, 2, 3])
@pytest.mark.parametrize("search", ["kriging", "cmaes", "koch2011"])
def test_a_small_budget_is_the_first_of_the_design(n_iter, search):
    fitted = SpotSearchCV(SVC(), SPACE, n_iter=n_iter, search=search, cv=3, random_state=0).fit(X, Y)
    assert fitted.study_.n_finished == n_iter
    assert fitted.predict(X).shape == (60,)
    plain = SpotSearchCV(SVC(), SPACE, **FEW | {"n_iter": n_iter, "search": search}).fit(X, Y)
    assert len(plain.cv_results_["params"]) == n_iter


def test_the_space_of_scikit_learns_user_guide_is_searched():
    fitted = SpotSearchCV(SVC(), GUIDE, n_iter=8, cv=3, random_state=0).fit(X, Y)
    assert fitted.study_.swept.name == "C"
    assert fitted.study_.trials[0].origin == "start"
    assert fitted.study_.trials[0].params["kernel"] == "rbf"
    assert fitted.best_score_ > 0.8
    assert "expon(scale=100)" in code_snippet(fitted.study_)
    assert SpotSearchCV(SVC(), GUIDE, **FEW).fit(X, Y).cv_results_["param_C"].max() < expon(scale=100).ppf(0.9996)

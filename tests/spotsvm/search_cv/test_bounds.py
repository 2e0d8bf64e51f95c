"""Bounds of mean scores and times, and conditions beside paths, in a cross-validated search."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import ArgumentError, NoCompletedTrialError, SpaceError

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::4], Y[::4]
SVM = make_pipeline(StandardScaler(), SVC())
SPACE = {"svc__C": loguniform(2**-5, 2**10), "svc__gamma": loguniform(2**-12, 2**2)}
SCORES = {"scoring": ["accuracy", "recall"], "refit": "accuracy"}


class Known(ClassifierMixin, BaseEstimator):
    """Scores that are known functions of its parameters."""

    def __init__(self, x=0.5, y=0.5):
        self.x, self.y = x, y

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.repeat(self.classes_[0], len(X))


def accuracy(machine, X, y):
    """With recall >= 1 the best is at x = 0.55, y = 0.45, on the border, with the accuracy 0.755."""
    return 1 - (machine.x - 0.9) ** 2 - (machine.y - 0.8) ** 2


def recall(machine, X, y):
    return 2 - machine.x - machine.y


KNOWN = {"x": uniform(0, 1), "y": uniform(0, 1)}
BOTH = {"scoring": {"accuracy": accuracy, "recall": recall}, "refit": "accuracy", "cv": 3, "random_state": 0}


@pytest.mark.parametrize("name", ["recall", "mean_test_recall"])
def test_the_best_candidate_holds_the_bounds_and_is_found(name):
    search = SpotSearchCV(Known(), KNOWN, n_iter=20, constraints={name: (">=", 1.0)}, **BOTH).fit(X, Y)
    assert search.cv_results_["mean_test_recall"][search.best_index_] >= 1
    assert 0.755 - 0.002 < search.best_score_ <= 0.755
    held = search.cv_results_["bounds_held"]
    assert (held == (search.cv_results_["mean_test_recall"] >= 1)).all()
    assert search.best_score_ < search.cv_results_["mean_test_accuracy"].max()
    assert search.study_.recommend().params == search.best_params_


def test_no_candidate_holds_the_bounds():
    search = SpotSearchCV(Known(), KNOWN, n_iter=8, constraints={"recall": (">=", 2.5)}, **BOTH)
    with pytest.raises(
        NoCompletedTrialError, match="none of the 8 candidates holds the bounds of constraints, recall >= 2.5"
    ) as e:
        search.fit(X, Y)
    nearest = search.cv_results_["mean_test_recall"].max()
    assert f"; the nearest has recall={nearest:.6g}, with {{'x'" in str(e.value)
    assert not hasattr(search, "best_params_")
    assert len(search.study_.trials) == 8


def test_bounds_of_a_support_vector_machine_with_paths():
    bound = 0.99
    search = SpotSearchCV(SVM, SPACE, n_iter=8, random_state=0, cv=3, constraints={"recall": (">=", bound)}, **SCORES).fit(X, Y)
    found = search.cv_results_
    assert len(found["params"]) > 30  # paths
    held = found["mean_test_recall"] >= bound
    assert (found["bounds_held"] == held).all()
    assert held[search.best_index_]


def test_times_can_be_bounded():
    search = SpotSearchCV(SVM, SPACE, n_iter=5, random_state=0, cv=3, constraints={"mean_fit_time": ("<=", 100.0)})
    assert search.fit(X, Y).cv_results_["bounds_held"].all()
    search.set_params(constraints={"mean_score_time": ("<=", 0.0)})
    with pytest.raises(NoCompletedTrialError, match="the nearest has mean_score_time="):
        search.fit(X, Y)


def test_a_search_of_several_objectives():
    scoring = {"accuracy": accuracy, "recall": recall}
    search = SpotSearchCV(
        Known(), KNOWN, n_iter=15, search="parego", scoring=scoring, refit="accuracy", cv=3, random_state=0,
        constraints={"recall": (">=", 1.0)},
    ).fit(X, Y)  # fmt: skip
    assert search.cv_results_["mean_test_recall"][search.best_index_] >= 1
    assert min(t.values[1] for t in search.study_.pareto()) >= 1


def test_workers_take_them_too():
    given = {"n_iter": 8, "constraints": [lambda p: p["x"] <= 0.8, {"recall": (">=", 1.0)}], "batch_size": 2, **BOTH}
    here = SpotSearchCV(Known(), KNOWN, **given).fit(X, Y)
    there = SpotSearchCV(Known(), KNOWN, executor="threading", n_jobs=2, **given).fit(X, Y)
    assert here.best_params_ == there.best_params_


def test_what_cannot_be_bounded_is_an_error_that_says_what_can():
    with pytest.raises(ArgumentError, match="bound of 'recal', which.*; use a metric of scoring .accuracy, recall"):
        SpotSearchCV(SVM, SPACE, constraints={"recal": (">=", 1)}, **SCORES).fit(X, Y)
    with pytest.raises(ArgumentError, match="bound of 'recall'.*of scoring .score"):
        SpotSearchCV(SVM, SPACE, scoring="recall", constraints={"recall": (">=", 1)}).fit(X, Y)


def small_product(params):
    return params["svc__C"] * params["svc__gamma"] <= 1


def test_a_listed_parameter_has_only_the_allowed_values_on_its_paths():
    weights = [None, "balanced", {0: 5}]
    space = {"svc__gamma": SPACE["svc__gamma"], "svc__class_weight": weights}
    search = SpotSearchCV(
        SVM, space, n_iter=5, random_state=0, cv=3, sweep="svc__class_weight",
        constraints=lambda p: p["svc__class_weight"] != "balanced" or p["svc__gamma"] > 0.05,
    ).fit(X, Y)  # fmt: skip
    for params in search.cv_results_["params"]:
        assert params["svc__class_weight"] != "balanced" or params["svc__gamma"] > 0.05
    assert 10 <= len(search.cv_results_["params"]) < 15


def test_a_narrow_strip_of_C_is_scored_where_every_second_value_misses_it():
    search = SpotSearchCV(
        SVM, SPACE, n_iter=4, random_state=0, cv=3, start=[],
        constraints=lambda p: 2 ** -4 < p["svc__C"] < 2 ** -3,
    ).fit(X, Y)  # fmt: skip
    assert np.allclose([p["svc__C"] for p in search.cv_results_["params"]], 2**-3.5)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_the_simplest_candidate_holds_the_bounds():
    given = {"n_iter": 6, "random_state": 0, "cv": 3, "constraints": {"score": (">=", 0.9)}}
    search = SpotSearchCV(SVM, SPACE, refit="1se", scoring="recall", **given).fit(X, Y)
    assert search.cv_results_["mean_test_score"][search.best_index_] >= 0.9
    from spotsvm.search_cv.simplest import simplest

    results = {"params": [{"C": 0.1}, {"C": 1.0}, {"C": 10.0}], "mean_test_score": np.array([0.9, 0.9, 0.9])}
    results |= {f"split{k}_test_score": results["mean_test_score"] for k in range(3)}
    assert simplest(results, "score", 2) == 0
    assert simplest({**results, "bounds_held": np.array([False, True, True])}, "score", 2) == 1


def test_paths_have_only_what_a_condition_allows_and_the_same_scores(monkeypatch):
    from spotsvm.cross_validation.fold_scorer import FoldScorer

    seen = []
    score = FoldScorer.score
    monkeypatch.setattr(FoldScorer, "score", lambda self, some: seen.extend(some) or score(self, some))
    given = {"n_iter": 6, "random_state": 0, "cv": 3, "constraints": [small_product]}
    search = SpotSearchCV(SVM, SPACE, **given).fit(X, Y)
    assert len(search.cv_results_["params"]) > 30  # paths
    assert len(seen) > 30
    assert all(map(small_product, seen))
    some = search.cv_results_["params"][::7]
    for params, found in zip(some, search.cv_results_["mean_test_score"][::7], strict=True):
        fixed = {name: [value] for name, value in params.items()}
        alone = SpotSearchCV(SVM, fixed | {"svc__shrinking": [True, False]}, search="random", n_iter=1, engine="sklearn", cv=3)
        assert alone.fit(X, Y).best_score_ == pytest.approx(found, abs=1e-12)
    with pytest.raises(SpaceError, match="violates"):
        search.set_params(start={"svc__C": 9.0, "svc__gamma": 0.9}).fit(X, Y)

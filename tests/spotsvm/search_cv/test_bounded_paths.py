"""Paths and the simplest candidate hold the bounds."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import SpaceError

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[::4], Y[::4]
SVM = make_pipeline(StandardScaler(), SVC())
SPACE = {"svc__C": loguniform(2**-5, 2**10), "svc__gamma": loguniform(2**-12, 2**2)}


def recall(machine, X, y):
    return 2 - machine.x - machine.y


def test_the_simplest_candidate_holds_the_bounds():
    given = {"n_iter": 6, "random_state": 0, "cv": 3, "constraints": {"score": (">=", 0.9)}}
    search = SpotSearchCV(SVM, SPACE, refit="1se", scoring="recall", **given).fit(X, Y)
    assert search.cv_results_["mean_test_score"][search.best_index_] >= 0.9
    from spotsvm.search_cv.simplest import simplest

    results = {"params": [{"C": 0.1}, {"C": 1.0}, {"C": 10.0}], "mean_test_score": np.array([0.9, 0.9, 0.9])}
    results |= {f"split{k}_test_score": results["mean_test_score"] for k in range(3)}
    assert simplest(results, "score", 2) == 0
    assert simplest({**results, "bounds_held": np.array([False, True, True])}, "score", 2) == 1


def small_product(params):
    return params["svc__C"] * params["svc__gamma"] <= 1


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

"""Shared work behind SpotSearchCV: the same results as without."""

import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


SPACE = {"svc__C": loguniform(2**-5, 2**10), "svc__gamma": loguniform(2**-15, 2**0)}
PIPELINE = make_pipeline(StandardScaler(), SVC())


def search(**options):
    X, y = load_breast_cancer(return_X_y=True)
    return SpotSearchCV(PIPELINE, SPACE, **PLAIN | {"n_iter": 12, "cv": 4, "random_state": 0} | options).fit(X, y)


def test_the_results_are_those_of_sklearn(counted):
    shared, unshared = search(), search(engine="sklearn")
    assert len(counted) == 12
    assert shared.best_params_ == unshared.best_params_
    assert set(shared.cv_results_) == set(unshared.cv_results_)
    for name in ("mean_test_score", "std_test_score", "rank_test_score", "split3_test_score"):
        np.testing.assert_array_equal(shared.cv_results_[name], unshared.cv_results_[name])
    assert (shared.cv_results_["mean_fit_time"] > 0).all()

"""Shared work and racing behind SpotSearchCV: the same results, and a record of what ran."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import ArgumentError
from spotsvm.studies.common.plain_search import PLAIN

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


def test_a_race_records_its_folds_and_is_resumed_as_the_undisturbed_one(tmp_path):
    raced = search(racing=True)
    frame = raced.study_.frame()
    ran = frame["extra_folds_run"].to_numpy()
    assert ran.min() >= 1
    assert ran.max() == 4
    assert (ran < 4).any()
    scores = frame[[f"extra_split{k}_test_score" for k in range(4)]].to_numpy()
    np.testing.assert_array_equal(np.isfinite(scores).sum(axis=1), ran)
    np.testing.assert_allclose(frame["value"], np.nanmean(scores, axis=1))
    best = int(frame["value"].argmax())
    assert ran[best] == 4
    assert raced.best_score_ == frame["value"][best]
    whole = search(racing=True)
    search(racing=True, path=tmp_path / "race.db", n_iter=8)
    resumed = search(racing=True, path=tmp_path / "race.db")
    columns = ["value", "extra_folds_run"]
    np.testing.assert_array_equal(resumed.study_.frame()[columns], whole.study_.frame()[columns])


def test_a_race_goes_by_the_scorer_and_not_by_its_name():
    scoring = {"score_big": make_scorer(lambda a, b: 100 * np.mean(a == b))}
    with pytest.raises(ArgumentError, match="racing=True needs a score whose best value is known"):
        search(scoring=scoring, refit="score_big", racing=True)

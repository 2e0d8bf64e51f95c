"""A search on a sample of the rows, and the refit on all."""

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.model_selection import GroupKFold, KFold
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, expected_score
from spotsvm.errors import ArgumentError
from spotsvm.luck.draws import sample_rows

X, Y = make_moons(300, noise=0.25, random_state=0)
SPACE = {"C": [1.0, 10.0], "gamma": [0.5, 2.0]}


def search_of(estimator=None, **parameters):
    return SpotSearchCV(SVC() if estimator is None else estimator, SPACE, n_iter=2, cv=3, random_state=0, **parameters)


def test_it_is_the_search_on_the_sample_and_the_refit_on_all():
    rows = sample_rows(300, 60, 0, Y)
    assert abs(Y[rows].mean() - Y.mean()) < 0.01
    weights = 1.0 + np.arange(300) % 3
    search, on_sample = search_of(rows=60), search_of()
    search.fit(X, Y, sample_weight=weights)
    on_sample.fit(X[rows], Y[rows], sample_weight=weights[rows])
    assert search.cv_results_["mean_test_score"].tolist() == on_sample.cv_results_["mean_test_score"].tolist()
    on_all = SVC(**search.best_params_).fit(X, Y, sample_weight=weights)
    assert (search.best_estimator_.decision_function(X) == on_all.decision_function(X)).all()
    assert search.best_estimator_.shape_fit_ == (300, 2)
    assert search_of(rows=1000).fit(X, Y).best_score_ == search_of().fit(X, Y).best_score_


def test_an_average_is_fitted_on_all_rows_and_groups_are_whole():
    average = search_of(rows=60, refit="average").fit(X, Y).best_estimator_
    assert {member.shape_fit_ for member in average.estimators_} == {(300, 2)}
    groups = np.arange(300) // 10
    grouped = SpotSearchCV(SVR(), SPACE, n_iter=2, cv=GroupKFold(3), random_state=0, rows=60)
    assert grouped.fit(X, X[:, 0], groups=groups).best_estimator_.shape_fit_ == (300, 2)


def test_a_search_on_a_sample_goes_on(tmp_path):
    path = tmp_path / "search.db"
    first = search_of(rows=60, path=path).fit(X, Y)
    again = search_of(rows=60, path=path).fit(X, Y)
    assert again.best_params_ == first.best_params_


def test_arguments():
    with pytest.raises(ArgumentError, match="rows=1; use a whole number, 2 or more, or None for all"):
        search_of(rows=1).fit(X, Y)
    with pytest.raises(ArgumentError, match="rows=60 draws a sample, and cv has folds of all rows"):
        SpotSearchCV(SVC(), SPACE, rows=60, cv=list(KFold(3).split(X))).fit(X, Y)


def test_the_score_to_expect_is_that_of_the_sample():
    search, rows = search_of(rows=60).fit(X, Y), sample_rows(300, 60, 0, Y)
    found = expected_score(search, X, Y)
    assert found.n_rows == 60
    assert found == expected_score(search_of().fit(X[rows], Y[rows]), X[rows], Y[rows])
    average = search_of(rows=60, refit="average").fit(X, Y)
    assert expected_score(average, X, Y).value == pytest.approx(average.expected_score_.value)
    assert len(average.oof_decision_function_) == 60

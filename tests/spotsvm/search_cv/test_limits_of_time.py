"""The limits of time of a cross-validated search."""

import sys

import cloudpickle
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import ArgumentError
from spotsvm.search_cv.candidate_workers import CandidatesHere

# worker processes cannot import the tests
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = make_classification(60, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-10, 2**2)}


def search(**options):
    given = {"n_iter": 30, "search": "random", "cv": 3, "random_state": 0, "sweep": None, "refit": False} | options
    return SpotSearchCV(SVC(), SPACE, **given)


def test_enough_time_changes_nothing():
    numbers = search(timeout=1000.0).fit(X, Y), search().fit(X, Y)
    assert numbers[0].study_.findings.keys() == numbers[1].study_.findings.keys() == set()
    assert numbers[0].best_params_ == numbers[1].best_params_


def test_what_is_no_time_is_refused():
    with pytest.raises(ArgumentError, match="timeout=0 is not a time"):
        search(timeout=0).fit(X, Y)


class Counting(ClassifierMixin, BaseEstimator):
    """An estimator whose work cannot be shared; each of its fits takes a second of the clock."""

    now = 0.0

    def __init__(self, a=0.0):
        self.a = a

    def fit(self, X, y):
        Counting.now += 1.0
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.mark.parametrize("options", [{}, {"batch_size": 10}, {"search": "kriging", "batch_size": 4}])
def test_no_further_candidate_of_any_estimator_starts_after_the_time(options, monkeypatch):
    Counting.now = 1000.0
    monkeypatch.setattr("spotsvm.study.stop.monotonic", lambda: Counting.now)
    space = {"a": loguniform(0.1, 10.0)}
    given = {"n_iter": 20, "search": "random", "cv": 3, "random_state": 0, "refit": False, "timeout": 13.5} | options
    fitted = SpotSearchCV(Counting(), space, **given).fit(X, Y)
    assert Counting.now == 1015.0  # the fifth candidate began before the end
    assert (np.isfinite(fitted.cv_results_["mean_test_score"])).sum() == 5
    assert fitted.study_.findings["timeout"]["timed_out"]


class Clock:
    """A clock that each told trial, which then took a second, turns on."""

    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr("spotsvm.study.stop.monotonic", lambda: self.now)
        monkeypatch.setattr("spotsvm.study.bookkeeper.time.perf_counter", lambda: self.now)
        wait = CandidatesHere.wait

        def slow_wait(workers, timeout=None):
            self.now += 1.0
            return wait(workers, timeout)

        monkeypatch.setattr(CandidatesHere, "wait", slow_wait)


def test_the_search_ends_with_its_time(monkeypatch):
    Clock(monkeypatch)
    fitted = search(timeout=7.5).fit(X, Y)
    assert fitted.study_.n_finished == 8
    assert np.isfinite(fitted.best_score_)

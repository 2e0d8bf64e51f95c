"""A search ends with its time."""

import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.search_cv.run import CandidatesHere

X, Y = make_classification(60, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-10, 2**2)}


def search(**options):
    given = {"n_iter": 30, "search": "random", "cv": 3, "random_state": 0, "sweep": None, "refit": False} | options
    return SpotSearchCV(SVC(), SPACE, **given)


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

import logging
import os
import pickle
import re
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import joblib
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn import config_context, get_config
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.study.workers.protocol import Here

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}


# worker processes cannot import the tests
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = make_classification(60, 4, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
LEVELS = {"level": [0, 1, 2, 3]}


def search(**options):
    given = PLAIN | {"n_iter": 8, "search": "random", "cv": 3, "random_state": 0, "batch_size": 2}
    return SpotSearchCV(SVC(), SPACE, **given | options)


def numbers(fitted):
    return {
        name: column.tolist() if hasattr(column, "tolist") else column
        for name, column in fitted.cv_results_.items()
        if "time" not in name
    }


class Moody(ClassifierMixin, BaseEstimator):
    """Fails at level 1 in one fold and at level 2 in all; hangs at level 3, or dies."""

    def __init__(self, level=0, last="hangs"):
        self.level, self.last = level, last

    def fit(self, X, y):
        if self.level in (2, 4) or (self.level == 1 and X[0, 0] == XS[0, 0]):
            raise ValueError("this level is bad")
        if self.level == 3 and self.last == "hangs":
            time.sleep(30)
        if self.level == 3 and self.last == "dies":
            os.kill(os.getpid(), signal.SIGKILL)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.where(X[:, 0] > 0.5, self.classes_[-1], self.classes_[0])


XS = np.linspace(0, 1, 30).reshape(-1, 1)
HALVES = (XS[:, 0] > 0.5).astype(int)
FOLDS = [(np.arange(30) % 3 != k, np.arange(30) % 3 == k) for k in range(3)]
CV = [(np.flatnonzero(train), np.flatnonzero(test)) for train, test in FOLDS]


def moody(**options):
    given = {"n_iter": 4, "search": "random", "cv": CV, "random_state": 0, "batch_size": 4}
    return SpotSearchCV(Moody(last=options.pop("last", "hangs")), LEVELS, **given | options)


@pytest.mark.parametrize(
    ("options", "workers"),
    [
        ({}, {"trial_timeout": 60.0}),
        ({}, {"executor": "threading", "n_jobs": 2}),
        ({"engine": "sklearn"}, {"executor": ThreadPoolExecutor}),
        ({"scoring": {"acc": "accuracy", "f1": "f1"}, "refit": "acc"}, {"executor": "threading", "n_jobs": 2}),
        ({"scoring": lambda e, X, y: {"a": e.score(X, y), "f1": 0.5}, "refit": "a"}, {"executor": "threading", "n_jobs": 2}),
        (
            {"scoring": ["accuracy", "recall"], "refit": "accuracy", "search": "nsga2", "n_iter": 10},
            {"executor": "threading", "n_jobs": 2},
        ),
    ],
    ids=["timeout", "threads", "executor", "dict", "callable", "objectives"],
)
def test_workers_score_as_this_process_does(options, workers):
    made = {name: value(2) if value is ThreadPoolExecutor else value for name, value in workers.items()}
    here, there = (search(return_train_score=True, **options, **more).fit(X, Y) for more in ({}, made))
    assert numbers(there) == numbers(here)
    assert (there.best_score_, there.best_params_, there.multimetric_) == (here.best_score_, here.best_params_, here.multimetric_)
    assert there.multimetric_ == ("scoring" in options)
    assert [t.values for t in there.study_.trials] == [t.values for t in here.study_.trials]
    assert there.study_.about == here.study_.about
    assert repr(there.scorer_) == repr(here.scorer_)
    assert np.array_equal(there.predict(X), here.predict(X))
    scores = cross_val_score(SVC(**there.best_params_), X, Y, cv=3)
    assert there.best_score_ == pytest.approx(scores.mean(), abs=1e-12)


@pytest.mark.parametrize("last", ["hangs", "dies"])
def test_a_candidate_that_hangs_or_takes_its_worker_along_has_failed_with_the_reason(last):
    seconds = 4.0 if last == "hangs" else 60.0  # a loaded machine starts workers slowly
    with pytest.warns(FitFailedWarning) as caught:
        fitted = moody(last=last, trial_timeout=seconds, refit=False).fit(XS, HALVES)
    by_level = {t.params["level"]: t for t in fitted.study_.trials}
    assert by_level[3].state == ("timeout" if last == "hangs" else "failed")
    assert ("trial_timeout=4 s" if last == "hangs" else "SIGKILL") in by_level[3].reason
    assert {level for level, t in by_level.items() if t.state == "ok"} == {0}
    row = fitted.cv_results_["params"].index({"level": 3})
    assert np.isnan(fitted.cv_results_["mean_test_score"][row])
    assert np.isnan(fitted.cv_results_["split2_test_score"][row])
    assert fitted.best_params_ == {"level": 0} if hasattr(fitted, "best_params_") else fitted.best_index_ != row
    assert any("SIGKILL" in str(w.message) for w in caught) == (last == "dies")


@pytest.mark.parametrize("kind", ["error_score", "parameter"])
def test_what_is_no_candidate_s_failure_is_raised_and_not_told(kind, tmp_path):
    space = {"level": [2, 4]} if kind == "error_score" else {"levle": [0, 1]}
    options = {"error_score": "raise"} if kind == "error_score" else {}
    told = []
    for more in ({}, {"executor": "threading", "n_jobs": 1}):
        said = "this level is bad" if kind == "error_score" else "space has 'levle', .* did you mean 'level'"
        with pytest.raises(ValueError, match=said):
            moody(n_iter=1, callback=lambda s, t: told.append(t), **options, **more).set_params(space=space).fit(XS, HALVES)
    assert told == []


def test_an_executor_is_shared_by_clones_and_left_out_of_pickles():
    with ThreadPoolExecutor(2) as executor:
        unfitted = search(executor=executor, retries=1)
        assert clone(unfitted).executor is executor
        fitted = clone(unfitted).fit(X, Y)
        again = pickle.loads(pickle.dumps(fitted))
        assert (again.executor, again.retries) == (None, 1)
        assert np.array_equal(again.predict(X), fitted.predict(X))
    assert pickle.loads(pickle.dumps(search(executor="loky"))).executor == "loky"
    assert fitted.executor is executor


def test_scikit_learn_s_configuration_goes_along():
    seen = []

    class Sees(SVC):
        def fit(self, X, y):
            seen.append(get_config()["transform_output"])
            return super().fit(X, y)

    with config_context(transform_output="pandas"):
        SpotSearchCV(Sees(), SPACE, n_iter=2, search="random", cv=3, refit=False, executor="threading", n_jobs=2).fit(X, Y)
    assert seen == ["pandas"] * 6


@pytest.fixture(scope="module")
def client():
    distributed = pytest.importorskip("distributed", reason='Dask is not installed: pip install "spotsvm[dask]"')
    options = {"dashboard_address": "127.0.0.1:0", "silence_logs": logging.CRITICAL + 1}
    with distributed.Client(processes=False, n_workers=1, threads_per_worker=2, **options) as client:
        yield client


@pytest.mark.parametrize("backend", ["dask", "threading", "loky"])
def test_folds_on_a_backend_of_joblib_have_the_scores_that_they_have_here(client, backend):
    with joblib.parallel_config(backend):
        there = search(n_jobs=2, engine="sklearn").fit(X, Y)
    assert numbers(there) == numbers(search(engine="sklearn").fit(X, Y))


def test_candidates_on_a_cluster_have_the_scores_that_they_have_here(client):
    there, here = (search(executor=where, batch_size=4).fit(X, Y) for where in (client, None))
    np.testing.assert_allclose(there.cv_results_["mean_test_score"], here.cv_results_["mean_test_score"], rtol=0, atol=1e-12)
    assert there.best_params_ == here.best_params_
    assert search(executor="dask", batch_size=None, retries=1).fit(X, Y).best_score_ > 0.7


def test_ctrl_c_tells_what_was_scored_and_how_to_go_on(tmp_path, monkeypatch):
    def opened(objective, executor, **options):
        class Pressing(VirtualWorkers):
            def wait(self, timeout=None):
                if len(self.submitted) == 5:
                    signal.raise_signal(signal.SIGINT)
                return super().wait(timeout)

        return Pressing(objective, 2)

    with monkeypatch.context() as patch:
        patch.setattr("spotsvm.search_cv.run.open_workers", opened)
        for path in (None, tmp_path / "s.db"):
            with pytest.raises(KeyboardInterrupt) as caught:
                search(executor="threading", path=path, batch_size=None).fit(X, Y)
            done, how = str(caught.value).split(";" if path is None else " and ", 1)
            assert re.fullmatch("[0-9] of 8 candidates are scored", done)
            assert how == (
                " fit will start again: pass a path to SpotSearchCV to resume after an interruption"
                if path is None
                else f"recorded in {path}; the same call goes on from there"
            )
    fitted = search(path=path).fit(X, Y)
    assert [t.state for t in fitted.study_.trials] == ["ok"] * 8
    assert [t.params for t in fitted.study_.trials] == [t.params for t in search().fit(X, Y).study_.trials]


@pytest.mark.parametrize(("estimator", "space", "count"), [(SVC(), {"C": [1.0, 2.0]}, 1), (Ridge(), {"alpha": [1.0, 2.0]}, 0)])
def test_a_worker_compiles_what_candidates_share_before_the_time_of_one_begins(estimator, space, count, monkeypatch):
    compiled = []
    monkeypatch.setattr("spotsvm.search_cv.candidate_workers.compile_shared_work", lambda: compiled.append(1))

    def workers(objective, *arguments, **options):
        loaded = cloudpickle.loads(cloudpickle.dumps(objective))
        assert (len(compiled), options["trial_timeout"]) == (count, 60.0)
        return Here(loaded)

    monkeypatch.setattr("spotsvm.search_cv.run.open_workers", workers)
    SpotSearchCV(estimator, space, n_iter=2, cv=3, trial_timeout=60.0).fit(X, Y)
    assert len(compiled) == count

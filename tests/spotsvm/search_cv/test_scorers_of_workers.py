"""The scorers of workers."""

import pickle
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import cloudpickle
import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.cross_validation.fold_scorer import FoldScorer
from spotsvm.search_cv.run import CandidateObjective
from spotsvm.search_cv.scoring import CandidateScoring, CandidateSweeps
from spotsvm.studies.common.virtual_workers import VirtualWorkers
from spotsvm.study.workers.protocol import Here

#: a plain search: one candidate a suggestion, no default at the start
PLAIN = {"sweep": None, "start": []}
X, Y = make_classification(60, 4, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}


def search(**options):
    given = PLAIN | {"n_iter": 8, "search": "random", "cv": 3, "random_state": 0, "batch_size": 2}
    return SpotSearchCV(SVC(), SPACE, **given | options)


def test_each_thread_keeps_a_scorer_of_its_own_with_what_it_has_computed():
    made = []

    def make():
        made.append(threading.get_ident())
        return FoldScorer(SVC(), X, Y, CV60, {}, engine="auto")

    objective = CandidateObjective(make, CandidateSweeps(CandidateScoring("random", None, True)))
    with ThreadPoolExecutor(2) as executor:
        list(executor.map(objective, [{"C": c} for c in range(1, 30)]))
    assert len(made) == len(set(made)) <= 2
    plain = CandidateObjective(plain_scorer, CandidateSweeps(CandidateScoring("random", None, True)))
    assert objective({"C": 1.0}).value == pickle.loads(pickle.dumps(plain))({"C": 1.0}).value


CV60 = [(np.flatnonzero(np.arange(60) % 3 != k), np.flatnonzero(np.arange(60) % 3 == k)) for k in range(3)]


def plain_scorer():
    return FoldScorer(SVC(), X, Y, CV60, {})


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
    monkeypatch.setattr("spotsvm.search_cv.run.compile_shared_work", lambda: compiled.append(1))

    def workers(objective, *arguments, **options):
        loaded = cloudpickle.loads(cloudpickle.dumps(objective))
        assert (len(compiled), options["trial_timeout"]) == (count, 60.0)
        return Here(loaded)

    monkeypatch.setattr("spotsvm.search_cv.run.open_workers", workers)
    SpotSearchCV(estimator, space, n_iter=2, cv=3, trial_timeout=60.0).fit(X, Y)
    assert len(compiled) == count

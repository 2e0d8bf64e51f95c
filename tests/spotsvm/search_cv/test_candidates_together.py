"""More jobs than folds: candidates that do not depend on each other are scored together."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from spotsvm import SpotSearchCV, StopRun
from spotsvm.search_cv.candidate_workers import CandidatesHere

X, Y = make_classification(60, 4, flip_y=0.2, random_state=0)
SPACE = {"C": loguniform(1e-3, 1e3), "tol": loguniform(1e-6, 1e-2)}


@pytest.fixture
def sizes(monkeypatch):
    """The numbers of candidates that were scored together."""
    found, wait = [], CandidatesHere.wait

    def counted(workers, timeout=None):
        found.append(len(workers._waiting))
        return wait(workers, timeout)

    monkeypatch.setattr(CandidatesHere, "wait", counted)
    return found


def search(**options):
    given = {"n_iter": 9, "search": "random", "cv": 2, "random_state": 0, "refit": False, "start": []} | options
    return SpotSearchCV(LogisticRegression(), SPACE, **given)


def numbers(fitted):
    return [(dict(t.params), t.value, t.state) for t in fitted.study_.trials if t.state != "running"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("random", [3, 3, 3]), ("lhs", [3, 3, 3]), ("kriging", [3, 3, 1, 1, 1]), ("cmaes", [3, 3, 3]), ("vns", [1] * 9)],
)
def test_what_is_foreseen_is_scored_together_and_changes_nothing(name, expected, sizes, monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs=-1: 6 if n_jobs == 2 else 1)
    together = search(search=name, n_jobs=2).fit(X, Y)
    assert sizes == expected
    del sizes[:]
    alone = search(search=name).fit(X, Y)
    assert sizes == [1] * 9
    assert numbers(together) == numbers(alone)
    assert together.study_.about["batch_size"] == alone.study_.about["batch_size"] == 1
    assert np.array_equal(together.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_a_callback_that_ends_the_search_ends_it_where_it_would_have(sizes, monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs=-1: 8 if n_jobs == 2 else 1)

    def third(study, trial):
        if trial.number == 2:
            raise StopRun

    together, alone = (search(callback=third, n_jobs=n).fit(X, Y) for n in (2, None))
    assert sizes == [4, 1, 1, 1]
    assert numbers(together) == numbers(alone)
    assert len(together.cv_results_["params"]) == 3


def test_what_ends_a_search_between_candidates_lets_none_be_scored_together(sizes, monkeypatch):
    monkeypatch.setattr("joblib.effective_n_jobs", lambda n_jobs=-1: 8)
    for options in ({"stop": "uncertainty"}, {"error_score": "raise"}):
        search(n_jobs=2, **options).fit(X, Y)
    assert set(sizes) == {1}

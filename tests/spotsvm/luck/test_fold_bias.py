import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import loguniform
from sklearn.datasets import load_iris
from sklearn.model_selection import ShuffleSplit
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, Study, Trial, oversearching
from spotsvm.errors import ArgumentError, NoCompletedTrialError
from spotsvm.luck.fold_bias import (
    corrected_standard_error,
    fold_metrics,
    optimism_of_folds,
    optimism_of_trials,
    scores_by_fold,
    tuned_metric,
)
from spotsvm.luck.intervals import nadeau_bengio

SCORES = [[0.9, 0.7, 0.8], [0.8, 0.9, 0.8], [0.7, 0.8, 0.9]]


def test_by_hand_and_without_candidates_that_lack_scores():
    # the second candidate wins with 0.8333; each fold has one with 0.9
    found = optimism_of_folds(SCORES, metric="accuracy")
    assert found.frame()["optimism"].tolist() == pytest.approx([0.1, 0.0, 0.1])
    assert (found.tuned_score, found.optimism, found.expected_score.value) == pytest.approx((2.5 / 3, 0.2 / 3, 2.3 / 3))
    assert found.how == "folds"
    assert found.error == pytest.approx(np.sqrt((1 / 3 + 1 / 2) * np.var([0.1, 0.0, 0.1], ddof=1)))
    assert found.frame()["tuned"].tolist() == [0.9] * 3
    assert found.frame()["outer"].tolist() == [0.8, 0.9, 0.8]
    assert optimism_of_folds([[1.0, np.nan, 1.0], *SCORES]).optimism == optimism_of_folds(SCORES).optimism
    found = optimism_of_folds([[50.0, 60.0, 55.0], [52.0, 50.0, 55.0]])
    assert found.expected_score.interval == pytest.approx(nadeau_bengio([48.0, 60.0, 55.0], 0.5))


def test_as_the_paper_has_it_in_errors():
    errors = np.random.default_rng(0).random((20, 10))
    best = errors.mean(axis=1).argmin()
    bias = np.mean([errors[best, k] - errors[:, k].min() for k in range(10)])
    assert optimism_of_folds(-errors).optimism == pytest.approx(bias)


def test_folds_of_another_size_have_another_interval():
    search = SpotSearchCV(SVC(), {"C": loguniform(2**-5, 2**15)}, n_iter=4, search="random", random_state=0)
    X, y = load_iris(return_X_y=True)
    search.set_params(cv=ShuffleSplit(6, test_size=0.5, random_state=0)).fit(X, y)
    own = [row["outer"] - row["optimism"] for row in oversearching(search, X, y, method="folds").rows]
    low, high = oversearching(search, X, y, method="folds").expected_score.interval
    assert low == pytest.approx(nadeau_bengio(own, 1.0)[0])
    # with neither data nor splits the folds are taken for those of cross-validation
    assert oversearching(search, method="folds").expected_score.interval[0] == pytest.approx(nadeau_bengio(own, 1 / 5)[0])
    search.set_params(cv=list(search.cv.split(X)))
    assert oversearching(search, method="folds").expected_score.interval == (low, high)


@given(arrays(float, (6, 4), elements=st.floats(-10, 10)))
def test_it_is_never_negative_and_none_of_one_candidate(scores):
    assert (optimism_of_folds(scores).frame()["optimism"] >= 0).all()
    assert optimism_of_folds(scores[:1]).optimism == 0


def test_a_study_and_its_search_tell_the_same(tmp_path):
    X, y = load_iris(return_X_y=True)
    space = {"C": loguniform(2**-5, 2**15), "gamma": loguniform(2**-15, 2**3)}
    search = SpotSearchCV(SVC(), space, n_iter=8, search="random", cv=4, random_state=0, path=tmp_path / "a.db").fit(X, y)
    found = oversearching(search, method="folds")
    assert found.tuned_score == pytest.approx(search.best_score_)
    assert found.metric == "accuracy"
    trials = optimism_of_trials(search.study_.trials, chosen=search.study_.recommend().number)
    assert (trials.optimism, trials.interval, trials.rows) == (found.optimism, found.interval, found.rows)
    assert trials.rows[0]["params"] == search.best_params_


def told(*values):
    """Return the trials of a study in which these were told."""
    study = Study({"x": [1, 2]}, "random", 0)
    for value in values:
        study.tell(study.ask(), value)
    return study.trials


def test_of_several_metrics_one_is_named():
    trials = told({"value": 0.6, "split0_test_a": 0.5, "split1_test_a": 0.7, "split0_test_b": 0.1, "split1_test_b": 0.2})
    assert optimism_of_trials(trials).tuned_score == pytest.approx(0.6)
    assert optimism_of_trials(trials, "b").tuned_score == pytest.approx(0.15)
    with pytest.raises(ArgumentError, match="metric='c' is not among the trials' scores; use one of a, b"):
        optimism_of_trials(trials, "c")


@pytest.mark.parametrize(
    ("kind", "said", "call"),
    [
        (NoCompletedTrialError, "no trial has been completed", lambda: optimism_of_trials(told())),
        (ArgumentError, "no fold scores", lambda: optimism_of_trials(told(0.5))),
        (NoCompletedTrialError, "none of the 2 trials", lambda: optimism_of_folds([[np.nan, 1.0], [1.0, np.nan]])),
        (NoCompletedTrialError, "candidate 0 has no score", lambda: optimism_of_folds([[np.nan, 1.0], [1.0, 1.0]], winner=0)),
        (ArgumentError, "two or more folds", lambda: optimism_of_folds([[0.5], [0.6]])),
    ],
)
def test_bad_input(kind, said, call):
    with pytest.raises(kind, match=said):
        call()


def test_scores_of_a_trial_by_metric_and_fold():
    extra = {"split0_test_a": 1.0, "split1_test_a": 0.0, "split0_test_b": 0.2, "split1_test_b": 0.4, "split0_train_b": 9.0}
    trial = Trial(0, {}, (), "ok", 0.3, extra)
    assert fold_metrics([trial]) == ["a", "b"]
    assert tuned_metric([trial]) == "b"
    assert tuned_metric([Trial(0, {}, (), "ok", 0.7, extra)]) is None
    assert tuned_metric([Trial(0, {}, (), "ok", 0.7)]) is None
    extra = {f"split{k}_test_a": float(k) for k in (10, 2, 0)} | {"split0_test_a_b": 9.0, "split0_train_a": 8.0}
    assert scores_by_fold(extra, "a") == {0: 0.0, 2: 2.0, 10: 10.0}
    assert list(scores_by_fold(extra, "a")) == [0, 2, 10]
    assert scores_by_fold(extra, "a_b") == {0: 9.0}
    assert scores_by_fold(extra, "c") == {}


@pytest.mark.parametrize(("share", "ratio"), [(None, 1 / 4), (0.5, 1)])
def test_the_correction_of_nadeau_and_bengio(share, ratio):
    scores = [0.8, 0.9, 0.85, 0.8, 0.9]
    # variance times (1 / J + n_test / n_train)
    assert corrected_standard_error(scores, share) == pytest.approx(np.sqrt((1 / 5 + ratio) * np.var(scores, ddof=1)))

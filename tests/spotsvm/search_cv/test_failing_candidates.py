"""A cross-validated search whose first candidates fail."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer
from sklearn.svm import SVC

from spotsvm import SpotSearchCV
from spotsvm.errors import NoCompletedTrialError

X, Y = np.arange(40.0).reshape(20, 2), np.tile([0, 1], 10)
SPACE = {"a": list(range(100))}


class Failing(ClassifierMixin, BaseEstimator):
    def __init__(self, a=0):
        self.a = a

    def fit(self, X, y):
        raise ValueError(f"a={self.a} is never right")


def search(**options):
    return SpotSearchCV(Failing(), SPACE, **{"n_iter": 12, "search": "random", "cv": 2, "random_state": 0} | options)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("options", [{}, {"executor": "threading", "n_jobs": 1}])
def test_it_ends_with_the_reason_and_its_traceback(options):
    with pytest.raises(NoCompletedTrialError, match="^All the 5 candidates failed: .* with max_failures=None") as caught:
        search(**options).fit(X, Y)
    assert "is never right" in caught.value.__notes__[0]
    assert "in fit" in caught.value.__notes__[0]


def test_it_goes_on_if_wanted_or_if_failed_fits_have_a_score():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        with pytest.raises(NoCompletedTrialError, match="^All the 12 candidates failed") as caught:
            search(max_failures=None).fit(X, Y)
        assert "max_failures" not in str(caught.value)


def masked_for_large(estimator, X, y):
    return np.ma.masked if estimator.C > 1 else -1.0


def masked_metric(y, predicted):
    return np.ma.masked


@pytest.mark.filterwarnings("ignore:One or more of the")
@pytest.mark.parametrize("scoring", [masked_for_large, {"own": masked_for_large}], ids=["function", "by name"])
def test_a_masked_score_is_none_and_does_not_win(scoring):
    refit = "own" if isinstance(scoring, dict) else True
    fitted = SpotSearchCV(SVC(), {"C": [0.5, 1.0, 5.0, 9.0]}, n_iter=4, scoring=scoring, refit=refit, cv=2, random_state=0)
    fitted.fit(*load_iris(return_X_y=True))
    assert fitted.best_score_ == -1.0
    assert fitted.best_params_["C"] <= 1
    assert [t.state for t in sorted(fitted.study_.trials, key=lambda t: t.params["C"])] == ["ok", "ok", "failed", "failed"]
    assert (fitted.scorer_["own"] if refit == "own" else fitted.scorer_) is masked_for_large


@pytest.mark.filterwarnings("ignore:One or more of the")
def test_a_masked_metric_is_no_score():
    fitted = SpotSearchCV(SVC(), {"C": [0.5, 1.0]}, n_iter=2, scoring=make_scorer(masked_metric), cv=2, random_state=0)
    fitted.fit(*load_iris(return_X_y=True))
    assert np.isnan(fitted.best_score_)
    assert {t.state for t in fitted.study_.trials} == {"failed"}

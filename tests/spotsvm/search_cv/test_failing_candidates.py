"""A cross-validated search whose first candidates fail."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import FitFailedWarning

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

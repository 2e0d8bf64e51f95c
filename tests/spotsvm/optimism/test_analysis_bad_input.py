import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneGroupOut, PredefinedSplit, TimeSeriesSplit
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.common.errors import ArgumentError, DataError, NoCompletedTrialError

X, Y = make_classification(60, 4, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**10)}


def searched(**options):
    return SpotSearchCV(SVC(), SPACE, **({"n_iter": 2, "search": "random", "cv": 3} | options))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"outer": 1}, "outer=1 is not a number of folds; use 2 or more"),
        ({"outer": True}, "outer=True is not a number of folds"),
        ({"outer": 61}, "outer=61 folds cannot be made from 60 rows"),
        ({"outer": PredefinedSplit(np.repeat([-1, 0], 30))}, "makes 1 fold; two or more are needed"),
        ({"method": "bootstrap"}, "method='bootstrap' is unknown; use one of nested, repeats, folds"),
        ({"variance": "naive"}, "variance='naive' is unknown; use one of auto, jackknife, nadeau-bengio"),
        ({"confidence": 95}, "confidence=95 is not between 0 and 1"),
        ({"n_candidates": 0, "method": "repeats"}, "n_candidates=0 is not a valid number"),
        ({"n_repeats": 1.5, "method": "repeats"}, "n_repeats=1.5 is not a valid number"),
        ({"path": "x"}, "random_state=None with a path"),
    ],
)
def test_arguments(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        oversearching(searched(), X, Y, **arguments)


def test_no_search():
    with pytest.raises(ArgumentError, match="is no search; use SpotSearchCV"):
        oversearching(SVC(), X, Y)


def test_no_data():
    with pytest.raises(ArgumentError, match="X=None: pass the data"):
        oversearching(searched())
    with pytest.raises(ArgumentError, match="X=None: pass the data"):
        oversearching(searched(), method="folds")


@pytest.mark.parametrize("method", ["nested", "repeats", "folds"])
def test_a_search_that_does_not_refit(method):
    with pytest.raises(ArgumentError, match="search has refit=False"):
        oversearching(searched(refit=False), X, Y, method=method)


def test_a_metric_that_is_not_named():
    search = searched(scoring=["accuracy", "roc_auc"], refit=lambda results: 0)
    with pytest.raises(ArgumentError, match="let refit name one of them"):
        oversearching(search, X, Y)


def test_folds_of_all_rows_cannot_be_those_of_some():
    search = searched(cv=list(KFold(3).split(X)))
    with pytest.raises(ArgumentError, match="splits of all rows; give a number of folds or a splitter"):
        oversearching(search, X, Y)


def test_a_class_with_too_few_rows():
    rare = np.where(np.arange(60) < 3, "rare", "common")
    with pytest.raises(DataError, match="class rare has 3 rows, fewer than the 5 outer folds"):
        oversearching(searched(), X, rare)


def test_a_class_that_a_fold_has_not_got():
    by_class = np.sort(Y)
    with pytest.raises(DataError, match="outer fold 0 has no training row of class 1"):
        oversearching(searched(), X, by_class, TimeSeriesSplit(3))
    with pytest.raises(DataError, match="outer fold 0 has no training row of class 0"):
        oversearching(searched(), X, by_class, LeaveOneGroupOut(), groups=by_class)


def test_a_fold_that_cannot_be_scored():
    ordered = np.r_[np.tile([0, 1], 20), np.zeros(20, dtype=int)]
    with pytest.raises(DataError, match="outer fold 2: a candidate cannot be scored on its 20 rows"):
        oversearching(searched(scoring="roc_auc"), X, ordered, KFold(3))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
@pytest.mark.parametrize("search", [SpotSearchCV(SVC(C=-1), {"gamma": [1, 2]}, n_iter=2, search="random", cv=3), None])
def test_no_completed_trial(search):
    search = search or GridSearchCV(SVC(), {"C": [-1.0, -2.0]}, cv=3)
    with pytest.raises(NoCompletedTrialError, match="outer fold 0: "):
        oversearching(search, X, Y, random_state=0)


def test_a_record_needs_a_search_that_keeps_one(tmp_path):
    grid = GridSearchCV(SVC(), {"C": [1.0]}, cv=3)
    with pytest.raises(ArgumentError, match="needs a search that keeps a record"):
        oversearching(grid, X, Y, random_state=0, path=tmp_path)
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ArgumentError, match="is a file; use a folder"):
        oversearching(searched(), X, Y, random_state=0, path=file)


def test_splits_that_cannot_be_drawn_anew():
    with pytest.raises(ArgumentError, match="cannot be drawn; use method='nested' or 'folds'"):
        oversearching(searched(cv=TimeSeriesSplit(3)), X, Y, method="repeats")

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, KFold, LeaveOneGroupOut, PredefinedSplit, TimeSeriesSplit
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, oversearching
from spotsvm.common.errors import ArgumentError, DataError, NoCompletedTrialError
from spotsvm.optimism.outer_splits import outer_splits

X, Y = make_classification(60, 4, random_state=0)
SPACE = {"C": loguniform(2**-5, 2**10)}


def searched(**options):
    return SpotSearchCV(SVC(), SPACE, **({"n_iter": 2, "search": "random", "cv": 3} | options))


BY_CLASS = np.sort(Y)
ORDERED = np.r_[np.tile([0, 1], 20), np.zeros(20, dtype=int)]


@pytest.mark.parametrize(
    ("search", "arguments", "error", "message"),
    [
        (searched(), {"outer": 1}, ArgumentError, "outer=1 is not a number of folds; use 2 or more"),
        (searched(), {"outer": 61}, ArgumentError, "outer=61 folds cannot be made from 60 rows"),
        (searched(), {"outer": PredefinedSplit(np.repeat([-1, 0], 30))}, ArgumentError, "makes 1 fold; two or more are needed"),
        (searched(), {"method": "bootstrap"}, ArgumentError, "method='bootstrap' is unknown; use one of nested, repeats, folds"),
        (searched(), {"variance": "naive"}, ArgumentError, "variance='naive' is unknown; use one of auto, jackknife, nadeau"),
        (searched(), {"confidence": 95}, ArgumentError, "confidence=95 is not between 0 and 1"),
        (searched(), {"n_candidates": 0, "method": "repeats"}, ArgumentError, "n_candidates=0 is not a valid number"),
        (searched(), {"path": "x"}, ArgumentError, "random_state=None with a path"),
        (searched(), {"X": None}, ArgumentError, "X=None: pass the data"),
        (searched(), {"X": None, "method": "folds"}, ArgumentError, "X=None: pass the data"),
        (SVC(), {}, ArgumentError, "is not a search; use SpotSearchCV"),
        (searched(refit=False), {}, ArgumentError, "search has refit=False"),
        (searched(scoring=["accuracy", "roc_auc"], refit=lambda results: 0), {}, ArgumentError, "let refit name one of them"),
        (searched(cv=list(KFold(3).split(X))), {}, ArgumentError, "splits of all rows; use a number of folds or a splitter"),
        (searched(cv=TimeSeriesSplit(3)), {"method": "repeats"}, ArgumentError, "cannot be drawn; use method='nested'"),
        (searched(), {"y": np.where(np.arange(60) < 3, "rare", "common")}, DataError, "class rare has 3 rows, fewer than"),
        (searched(), {"y": BY_CLASS, "outer": TimeSeriesSplit(3)}, DataError, "outer fold 0 has no training row of class 1"),
        (
            searched(),
            {"y": BY_CLASS, "outer": LeaveOneGroupOut(), "groups": BY_CLASS},
            DataError,
            "outer fold 0 has no training row of class 0",
        ),
        (
            searched(scoring="roc_auc"),
            {"y": ORDERED, "outer": KFold(3)},
            DataError,
            "outer fold 2: a candidate cannot be scored on its 20 rows",
        ),
    ],
)
def test_what_cannot_be_analysed(search, arguments, error, message):
    with pytest.raises(error, match=message):
        oversearching(search, **{"X": X, "y": Y} | arguments)


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


def test_folds_of_a_regression_are_not_stratified():
    assert outer_splits(4, X, X[:, 0], None, classifier=False, seed=0).repeats == [[0, 1, 2, 3]]

import numpy as np
import pytest
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit, check_cv

from spotsvm.cross_validation.partitions import fresh_folds

X, Y = np.zeros((24, 1)), np.tile([0, 1], 12)


@pytest.mark.parametrize(
    "cv",
    [
        4,
        KFold(4),
        StratifiedKFold(4, shuffle=True, random_state=0),
        ShuffleSplit(4, random_state=0),
        RepeatedKFold(n_splits=4, n_repeats=1),
    ],
)
def test_fresh_folds_are_others_of_the_same_kind(cv):
    own = [test.tolist() for _, test in check_cv(cv, Y, classifier=True).split(X, Y)]
    first, again, other = ([test.tolist() for _, test in fresh_folds(cv, X, Y, None, True, seed, [])] for seed in (0, 0, 1))
    assert len(first) == 4
    assert first == again
    assert first not in (own, other)
    assert getattr(cv, "random_state", None) in (None, 0)
    if isinstance(cv, StratifiedKFold):
        assert all(Y[test].sum() == 3 for test in first)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(3), list(KFold(3).split(X))])
def test_folds_that_are_not_random_stay(cv):
    own = list(check_cv(cv).split(X, Y))
    assert fresh_folds(cv, X, Y, None, True, 0, own) is own

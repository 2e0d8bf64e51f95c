import numpy as np
import pytest

from spotsvm.estimators.evolved.matrix_task import folds, holdouts


@pytest.mark.parametrize("strata", [None, np.repeat([0, 1, 2], [30, 20, 10])])
def test_a_third_is_held_out_of_every_class(strata):
    for train, test in holdouts(strata, 60, 1 / 3, 4, np.random.default_rng(0)):
        assert sorted([*train, *test]) == list(range(60))
        assert len(test) == 20
        if strata is not None:
            np.testing.assert_allclose(np.bincount(strata[test]), [10, 20 / 3, 10 / 3], atol=0.5)


def test_holdouts_differ_and_follow_the_generator():
    one, two = holdouts(None, 50, 0.5, 2, np.random.default_rng(0))
    assert not np.array_equal(one[1], two[1])
    again = holdouts(None, 50, 0.5, 1, np.random.default_rng(0))[0]
    np.testing.assert_array_equal(one[1], again[1])


@pytest.mark.parametrize("fraction", [0.01, 0.5, 0.99])
def test_both_parts_have_a_row_of_each_class_that_has_two(fraction):
    strata = np.array([0, 0, 1, 1, 1, 2])
    for train, test in holdouts(strata, 6, fraction, 5, np.random.default_rng(0)):
        assert set(strata[train]) == {0, 1, 2}
        assert set(strata[test]) == {0, 1}


def test_two_rows():
    ((train, test),) = holdouts(None, 2, 1 / 3, 1, np.random.default_rng(0))
    assert len(train) == len(test) == 1


@pytest.mark.parametrize(("n", "k", "parts"), [(60, 5, 5), (7, 5, 5), (3, 5, 3)])
def test_folds_predict_every_row_once(n, k, parts):
    found = folds(None, n, k, np.random.default_rng(0))
    assert len(found) == parts
    assert sorted(np.concatenate([test for _, test in found])) == list(range(n))
    for train, test in found:
        assert not set(train) & set(test)
        assert len(train) + len(test) == n
        assert len(test)


def test_folds_share_the_classes():
    strata = np.random.default_rng(0).permutation(np.repeat([0, 1], [50, 15]))
    for _, test in folds(strata, 65, 5, np.random.default_rng(0)):
        assert np.bincount(strata[test]).tolist() == [10, 3]

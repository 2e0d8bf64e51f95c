import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import nadeau_bengio
from spotsvm.studies.common.paired_tests import corrected_resampled_t_test, over_sets


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(0.03, 0.05, size=20)


def test_one_set_is_students_test_with_the_interval_of_nadeau_and_bengio(values):
    test = corrected_resampled_t_test(values, 0.0)
    known = ttest_1samp(values, 0.0)
    assert (test.t, test.p, test.degrees) == pytest.approx((known.statistic, known.pvalue, 19))
    test = corrected_resampled_t_test(values, 0.25)
    assert (test.low, test.high) == pytest.approx(nadeau_bengio(values, 0.25))
    # 1/J becomes 1/J + n_test/n_train
    plain = corrected_resampled_t_test(values, 0.0)
    assert test.t == pytest.approx(plain.t * np.sqrt((1 / 20) / (1 / 20 + 0.25)))
    assert test.p > plain.p


def test_two_sets_are_welchs_test_and_weigh_the_same(values):
    # the mean of a and -b is half the difference of their means
    other = 0.01 + 2 * values[:12][::-1]
    test, known = over_sets([values, -other], [0.0, 0.0]), ttest_ind(values, other, equal_var=False)
    assert (test.t, test.p, test.degrees) == pytest.approx((known.statistic, known.pvalue, known.df))
    assert 2 * test.mean == pytest.approx(values.mean() - other.mean())
    test = over_sets([values, values[:5] + 1.0], [0.25, 0.25])
    assert test.mean == pytest.approx((values.mean() + values[:5].mean() + 1.0) / 2)


def test_methods_that_never_differ():
    test = corrected_resampled_t_test([0.0, 0.0, 0.0], 0.25)
    assert (test.mean, test.low, test.high, test.p) == (0, 0, 0, 1)


@pytest.mark.parametrize("differences", [[0.1], [0.1] * 3])
def test_without_spread_there_is_no_test(differences):
    test = corrected_resampled_t_test(differences, 0.25)
    assert test.mean == pytest.approx(0.1)
    assert np.isnan([test.low, test.high, test.t, test.p, test.degrees]).all()


@pytest.mark.parametrize("differences", [[], [[]]])
def test_nothing_to_test(differences):
    with pytest.raises(ArgumentError, match="differences is empty"):
        over_sets(differences, [0.25] * len(differences))

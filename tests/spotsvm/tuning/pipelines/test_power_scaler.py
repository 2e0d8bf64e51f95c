import numpy as np
import pandas as pd
import pytest
from scipy.stats import skew, yeojohnson
from sklearn.base import clone
from sklearn.preprocessing import PowerTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from spotsvm.tuning.pipelines.power_scaler import PowerScaler

RNG = np.random.default_rng(0)
X = np.column_stack([np.exp(RNG.normal(size=200)), RNG.normal(size=200), -(RNG.exponential(size=200)), RNG.random(200)])


def test_it_is_scikit_learn_s_of_standardised_columns():
    Z = StandardScaler().fit_transform(X)
    ours, theirs = PowerScaler().fit(X), PowerTransformer().fit(Z)
    np.testing.assert_allclose(ours.lambdas_, theirs.lambdas_, atol=2e-4)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(Z), atol=2e-3)
    power = 2.0 - 1e-12  # where the formula for negative values has a limit
    ours.lambdas_ = np.full(4, power)
    after = ours.transform(X)[:, 0]
    by_scipy = yeojohnson(Z[:, 0], power)
    np.testing.assert_allclose(np.corrcoef(after, by_scipy)[0, 1], 1.0)


def test_units_do_not_matter():
    scaled = X * [1e-6, 1e6, 3.0, 1.0] + [0.0, 5.0, -2.0, 100.0]
    np.testing.assert_allclose(PowerScaler().fit_transform(X), PowerScaler().fit_transform(scaled), atol=1e-3)


def test_columns_become_less_skew():
    after = PowerScaler().fit_transform(X)
    assert (np.abs(skew(after)) < np.maximum(0.2, np.abs(skew(X)))).all()
    np.testing.assert_allclose([after.mean(axis=0), after.std(axis=0)], [[0.0] * 4, [1.0] * 4], atol=1e-9)


def test_constant_and_binary_columns_are_only_scaled():
    odd = np.column_stack([np.full(50, 1e9), np.tile([0.0, 1.0], 25), np.r_[np.zeros(49), 1e90]])
    after = PowerScaler().fit_transform(odd)
    assert np.isfinite(after).all()
    assert not after[:, 0].any()
    np.testing.assert_allclose(after[:, 1], StandardScaler().fit_transform(odd)[:, 1])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_it_is_a_transformer_as_scikit_learn_wants_it():
    check_estimator(PowerScaler())
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = clone(PowerScaler()).set_output(transform="pandas").fit_transform(frame).columns
    assert list(names) == list("abcd")

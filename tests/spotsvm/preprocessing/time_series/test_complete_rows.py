import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline

from spotsvm import CompleteRowsRegressor, DelayEmbedding
from spotsvm.errors import ArgumentError, DataError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X @ [1.0, -2.0, 0.5] + 3.0
GAPS = X.copy()
GAPS[[0, 1, 30], [2, 0, 1]] = np.nan
UNREAD = Y.copy()
UNREAD[[5, 30, 59]] = np.nan
COMPLETE = np.setdiff1d(np.arange(60), [0, 1, 5, 30, 59])


def test_it_is_the_regressor_on_the_complete_rows():
    weights = RNG.random(60)
    model = CompleteRowsRegressor(Ridge()).fit(GAPS, UNREAD, sample_weight=weights)
    expected = Ridge().fit(X[COMPLETE], Y[COMPLETE], sample_weight=weights[COMPLETE])
    np.testing.assert_allclose(model.regressor_.coef_, expected.coef_)
    assert model.n_rows_ == 55
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


def test_weights_count_rows_in_the_mean_too():
    weights = RNG.integers(0, 3, 60)
    weighted = CompleteRowsRegressor(Ridge(), "mean").fit(GAPS, UNREAD, sample_weight=weights)
    repeated = CompleteRowsRegressor(Ridge(), "mean").fit(GAPS.repeat(weights, axis=0), UNREAD.repeat(weights))
    np.testing.assert_allclose(weighted.predict(GAPS), repeated.predict(GAPS))
    assert weighted.mean_ == pytest.approx(repeated.mean_)
    assert weighted.n_rows_ == (weights[COMPLETE] > 0).sum()
    with pytest.raises(
        DataError, match="none of the 60 rows is complete: 3 have a NaN in X, 3 have no target, 55 have the weight 0"
    ):
        CompleteRowsRegressor(Ridge()).fit(GAPS, UNREAD, sample_weight=np.isin(np.arange(60), COMPLETE) < 0.5)


@pytest.mark.parametrize(("incomplete", "told"), [("nan", np.nan), ("mean", Y[COMPLETE].mean())])
def test_what_is_told_of_incomplete_rows(incomplete, told):
    model = CompleteRowsRegressor(LinearRegression(), incomplete=incomplete).fit(GAPS, UNREAD)
    found = model.predict(GAPS)
    np.testing.assert_allclose(found[[0, 1, 30]], told)
    np.testing.assert_allclose(np.delete(found, [0, 1, 30]), np.delete(Y, [0, 1, 30]))
    np.testing.assert_allclose(model.predict(GAPS[:2]), told)


def test_the_score_leaves_out_what_is_not_known():
    model = CompleteRowsRegressor(Ridge(alpha=30.0)).fit(GAPS, UNREAD)
    weights = RNG.random(60)
    expected = model.regressor_.score(X[COMPLETE], Y[COMPLETE], weights[COMPLETE])
    assert model.score(GAPS, UNREAD, weights) == pytest.approx(expected)
    with pytest.raises(DataError, match="none of the 2 rows has both a target and a prediction"):
        model.score(GAPS[:2], Y[:2])


def test_a_series_told_from_its_own_past_and_from_the_future_as_target():
    level = pd.Series(np.sin(np.arange(100.0) / 5), index=pd.date_range("1987-01-01", periods=100, freq="h"), name="level")
    told = make_pipeline(DelayEmbedding(2, 1, horizon=3, start="nan"), CompleteRowsRegressor(LinearRegression()))
    scores = cross_val_score(told, level.to_frame(), level, cv=TimeSeriesSplit(4), error_score="raise")
    np.testing.assert_allclose(scores, 1.0, atol=1e-9)
    ahead = make_pipeline(DelayEmbedding(2, start="nan"), CompleteRowsRegressor(LinearRegression()))
    scores = cross_val_score(ahead, level.to_frame(), level.shift(-3), cv=TimeSeriesSplit(4), error_score="raise")
    np.testing.assert_allclose(scores, 1.0, atol=1e-9)


def test_what_makes_no_sense():
    with pytest.raises(DataError, match="none of the 60 rows is complete: 3 have a NaN in X, 60 have no target"):
        CompleteRowsRegressor(Ridge()).fit(GAPS, np.full(60, np.nan))
    with pytest.raises(ArgumentError, match="incomplete='drop'; use 'nan' or 'mean'"):
        CompleteRowsRegressor(Ridge(), incomplete="drop").fit(X, Y)

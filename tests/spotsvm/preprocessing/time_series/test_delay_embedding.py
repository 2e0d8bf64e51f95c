import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline

from spotsvm import DelayEmbedding, HistoryPipeline
from spotsvm.errors import ArgumentError, DataError, DataWarning


def levels(n=50, seed=0, columns=("level", "rain")):
    rng = np.random.default_rng(seed)
    hours = pd.date_range("1987-03-29", periods=n, freq="h")
    return pd.DataFrame(rng.normal(size=(n, len(columns))).cumsum(axis=0), index=hours, columns=list(columns))


@pytest.mark.parametrize(("dimensions", "delay", "horizon"), [(1, 1, 0), (3, 1, 0), (3, 2, 0), (2, 5, 4), (4, 3, 2)])
def test_it_is_the_shifted_series(dimensions, delay, horizon):
    X = levels()
    embedding = DelayEmbedding(dimensions, delay, horizon, start="nan")
    lags = [horizon + delay * k for k in range(dimensions)]
    expected = pd.concat({f"{name}_lag{lag}": X[name].shift(lag) for name in X for lag in lags}, axis=1)
    pd.testing.assert_frame_equal(embedding.fit_transform(X), expected, check_freq=False)
    np.testing.assert_array_equal(embedding.fit_transform(X.to_numpy()), expected)
    assert embedding.reach == lags[-1]


@given(st.integers(0, 49), st.integers(1, 5), st.integers(1, 4), st.integers(0, 6), st.sampled_from(["nan", "last", "zero"]))
@settings(max_examples=30, deadline=None)
def test_nothing_younger_than_the_horizon_is_used(last, dimensions, delay, horizon, missing):
    X = levels().mask(np.random.default_rng(last).random((50, 2)) < 0.2)
    changed = X.copy()
    changed.iloc[last + 1 :] = 1e9
    found = [
        DelayEmbedding(dimensions, delay, horizon, missing=missing, start="nan").fit_transform(each) for each in (X, changed)
    ]
    pd.testing.assert_frame_equal(*(each.iloc[: last + 1 + horizon] for each in found))


@given(st.integers(25, 49), st.integers(1, 5), st.integers(1, 4), st.integers(0, 6), st.sampled_from(["nan", "last", "zero"]))
@settings(max_examples=30, deadline=None)
def test_across_the_border_rows_are_as_in_the_whole_series(border, dimensions, delay, horizon, missing):
    X = levels().mask(np.random.default_rng(border).random((50, 2)) < 0.2)
    embedding = DelayEmbedding(dimensions, delay, horizon, missing=missing, start="nan")
    whole = embedding.fit_transform(X)
    embedding.fit(X.iloc[:border])
    pd.testing.assert_frame_equal(embedding.transform(X.iloc[border:]), whole.iloc[border:])
    some = np.random.default_rng(border).permutation(50 - border)[::2]
    late = HistoryPipeline([("embed", clone(embedding))], history=X).fit(X.iloc[:border]).transform(X.iloc[border:].iloc[some])
    pd.testing.assert_frame_equal(late, whole.iloc[border:].iloc[some], check_freq=False)


def test_the_last_known_reading_may_be_long_ago():
    X = pd.DataFrame({"level": np.arange(100.0)})
    embedding = DelayEmbedding(2, 1, missing="last", start="nan").fit(X.iloc[:40])
    np.testing.assert_array_equal(embedding.transform(X.iloc[[70, 99]]), [[70.0, 39.0], [99.0, 70.0]])
    array = np.array([[1.0], [np.nan], [np.nan], [4.0]])
    found = DelayEmbedding(2, 1, missing="last", start="nan").fit_transform(array)
    np.testing.assert_array_equal(found, [[1.0, np.nan], [1.0, 1.0], [1.0, 1.0], [4.0, 1.0]])


def test_the_time_before_the_first_row_and_missing_readings():
    X = levels(6).iloc[:, [0]]
    X.iloc[3] = np.nan
    x = X["level"].to_numpy()
    found = DelayEmbedding(2, 2, missing="zero", start="zero").fit_transform(X).to_numpy()
    np.testing.assert_array_equal(found, np.c_[np.nan_to_num(x), [0, 0, x[0], x[1], x[2], 0]])
    found = DelayEmbedding(2, 2, missing="zero", start="nan").fit_transform(X).to_numpy()
    np.testing.assert_array_equal(found, np.c_[np.nan_to_num(x), [np.nan, np.nan, x[0], x[1], x[2], 0]])


def test_a_forecast_beyond_the_end():
    X = levels()
    future = pd.date_range(X.index[-1], periods=4, freq="h")[1:]
    to_come = pd.DataFrame(np.nan, index=future, columns=X.columns)
    found = DelayEmbedding(2, 1, horizon=3, start="nan").fit(X).transform(to_come)
    np.testing.assert_array_equal(found["level_lag3"], X["level"].iloc[-3:])


@pytest.mark.parametrize("splitter", [TimeSeriesSplit(4), TimeSeriesSplit(3, test_size=1), KFold(3)])
def test_rows_stay_beside_their_targets_in_any_split(splitter):
    """The target is a known function of past readings, which a linear model finds only where the rows are right."""
    X = levels(80)
    y = 3 * X["level"].shift(2, fill_value=0.0) - X["rain"].shift(3, fill_value=0.0)
    chain = HistoryPipeline([("embed", DelayEmbedding(2, 1, horizon=2, start="zero"))], history=X)
    model = make_pipeline(chain, LinearRegression())
    scores = cross_val_score(model, X, y, cv=splitter, scoring="neg_max_error")
    np.testing.assert_allclose(scores, 0.0, atol=1e-10)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dimensions": 0}, "dimensions=0; use a whole number, 1 or more"),
        ({"delay": 0}, "delay=0; use a whole number, 1 or more"),
        ({"horizon": -1}, "horizon=-1; use a whole number, 0 or more"),
        ({"missing": "ignore"}, "missing='ignore'; use 'raise', 'zero', 'last' or 'nan'"),
        ({"start": "first"}, "start='first'; use 'known', 'nan', 'zero' or 'raise'"),
    ],
)
def test_arguments_that_make_no_sense(options, message):
    with pytest.raises(ArgumentError, match=message):
        DelayEmbedding(**options).fit(levels())


def test_a_horizon_past_the_end():
    X = levels()
    with pytest.raises(DataError, match="horizon=50 is past the end: X has n_samples=50; use a smaller one"):
        DelayEmbedding(1, 1, horizon=50).fit(X)
    with pytest.raises(
        DataError, match="dimensions=60 with delay=1 and horizon=0 reach 59 steps back, .* no row has a whole past"
    ):
        DelayEmbedding(60, start="nan").fit(X.to_numpy())
    with pytest.warns(DataWarning, match="50 of 50 rows look back"):
        assert np.isfinite(DelayEmbedding(60).fit_transform(X)).all(axis=None)

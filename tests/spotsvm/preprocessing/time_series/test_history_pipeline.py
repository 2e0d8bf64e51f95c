import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import TimeSeriesSplit, cross_val_score
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from spotsvm import DelayEmbedding, HistoryPipeline, LeakyRain
from spotsvm.errors import ArgumentError, DataError


def rainfall(n=200):
    hours = pd.date_range("1987-03-29", periods=n, freq="h")
    return pd.DataFrame({"rain": np.random.default_rng(0).gamma(0.3, 2.0, n)}, index=hours)


def chain(history=None, **options):
    steps = [("leaky", LeakyRain(0.9, 20, start="zero")), ("embed", DelayEmbedding(4, 2, 1, start="zero"))]
    return HistoryPipeline(steps, history=history, **options)


WHOLE = chain().fit_transform(rainfall())


@pytest.mark.parametrize("rows", [slice(150, 200), slice(0, 50), slice(60, 90), slice(40, 160), slice(199, 100, -7)])
def test_rows_far_from_the_training_rows_have_their_past(rows):
    rain = rainfall()
    model = chain(rain)
    pd.testing.assert_frame_equal(model.fit_transform(rain.iloc[50:100]), WHOLE.iloc[50:100])
    pd.testing.assert_frame_equal(model.fit(rain.iloc[50:100]).transform(rain.iloc[rows]), WHOLE.iloc[rows], check_freq=False)


def failed_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {check["check_name"] for check in check_estimator(estimator, on_fail=None) if check["status"] == "failed"}


@pytest.mark.parametrize(
    "steps",
    [
        [("scale", StandardScaler())],
        [("leaky", LeakyRain(0.9, 2)), ("embed", DelayEmbedding())],
        [("scale", StandardScaler()), ("ridge", Ridge())],
    ],
    ids=["scaler", "transformers", "regressor"],
)
def test_it_fails_no_check_of_scikit_learn_that_a_pipeline_passes(steps):
    failed = failed_checks(HistoryPipeline(steps))
    assert failed == failed_checks(Pipeline(steps))
    order = {"check_methods_sample_order_invariance", "check_methods_subset_invariance"}
    # a Pipeline sets its steps in fit, and leaves checks of the data to them
    assert failed <= order | {"check_estimators_overwrite_params", "check_dont_overwrite_parameters", "check_estimators_nan_inf"}


def test_a_regressor_comes_after_a_chain_with_a_history():
    rain = rainfall()
    wrong = HistoryPipeline([("leaky", LeakyRain(0.9, 20, start="zero")), ("line", LinearRegression())], history=rain)
    assert not hasattr(wrong, "transform")
    with pytest.raises(
        ArgumentError, match="the last step, 'line', is not a transformer; with a history, put the HistoryPipeline"
    ):
        wrong.fit(rain, rain["rain"])
    assert np.isfinite(make_pipeline(chain(rain), LinearRegression()).fit(rain, rain["rain"]).predict(rain[:9])).all()


def test_the_rows_of_the_data_hold_against_the_history():
    rain = rainfall()
    doubled = 2 * rain.iloc[110:120]
    found = chain(rain).fit(rain.iloc[50:100]).transform(doubled)
    expected = chain().fit_transform(pd.concat([rain.iloc[:110], doubled]))
    pd.testing.assert_frame_equal(found, expected.iloc[110:])


def test_a_history_in_another_time_zone_is_of_the_same_time():
    rain = rainfall().tz_localize("UTC")
    there = rain.tz_convert("Europe/Berlin")
    found = chain(rain).fit(there.iloc[50:100]).transform(there.iloc[110:120])
    np.testing.assert_array_equal(found, WHOLE.iloc[110:120])
    assert found.index.equals(there.index[110:120])


def test_a_target_read_more_seldom_than_the_rain():
    rain = rainfall()
    level = WHOLE @ [1.0, 2.0, -1.0, 0.5]
    seldom = level.iloc[20::13]
    model = make_pipeline(chain(rain), LinearRegression())
    scores = cross_val_score(model, rain.loc[seldom.index], seldom, cv=TimeSeriesSplit(2), scoring="neg_max_error")
    np.testing.assert_allclose(scores, 0.0, atol=1e-9)


def test_slices_clones_and_pickles_keep_the_history():
    rain = rainfall()
    model = chain(rain).fit(rain.iloc[50:100])
    for other in (clone(model).fit(rain.iloc[50:100]), pickle.loads(pickle.dumps(model))):
        pd.testing.assert_frame_equal(other.transform(rain.iloc[150:]), WHOLE.iloc[150:])
    assert model[:1].history is rain
    np.testing.assert_array_equal(
        model[:1].transform(rain.iloc[150:]), LeakyRain(0.9, 20, start="zero").fit_transform(rain).iloc[150:]
    )
    assert isinstance(model[0], LeakyRain)
    assert chain(rain).set_params(history=None, embed__delay=3).get_params()["embed__delay"] == 3


def test_histories_that_make_no_sense():
    rain = rainfall()
    with pytest.raises(ArgumentError, match="history is a ndarray; use a pandas DataFrame"):
        chain(rain.to_numpy()).fit(rain)
    with pytest.raises(DataError, match="history is given, but X has no index"):
        chain(rain).fit(rain.to_numpy())
    with pytest.raises(DataError, match="X has an index of time stamps, and history one of integers"):
        chain(rain.reset_index(drop=True)).fit(rain)
    with pytest.raises(ArgumentError, match="history has no column 'rain', which X has"):
        chain(rain.rename(columns={"rain": "snow"})).fit(rain)
    with pytest.raises(DataError, match="history has the time stamp 1987-03-29 00:00:00 twice"):
        chain(pd.concat([rain, rain.iloc[:1]])).fit(rain)


def test_no_rows():
    with pytest.raises(DataError, match="X has no rows"):
        chain(rainfall()).fit(rainfall().iloc[:0])


def test_in_a_union_that_gives_arrays():
    rain = rainfall()
    union = FeatureUnion([("a", chain(rain)), ("b", chain(rain).set_params(leaky__decays=0.1))])
    found = union.fit(rain.iloc[50:100]).transform(rain.iloc[150:])
    assert isinstance(found, np.ndarray)
    np.testing.assert_array_equal(found[:, :4], WHOLE.iloc[150:])
    assert list(union.get_feature_names_out()[[0, 4]]) == ["a__rain_decay0.9_window20_lag1", "b__rain_decay0.1_window20_lag1"]

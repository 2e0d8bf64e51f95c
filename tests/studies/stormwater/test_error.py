import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import Space, stormwater_pipeline
from spotsvm.errors import ArgumentError
from spotsvm.studies.stormwater.runs import StormwaterErrors, rain_features
from spotsvm.studies.stormwater.series import simulated_series
from spotsvm.studies.tasks.svm import BY_HAND, REGION

SETTING = dict(BY_HAND, D1=40, D2=3, lambda1=0.3, lambda2=0.05, W1=50, W2=120, gamma=0.005, epsilon=0.2, C=8.0)
IN_PIPELINE = {
    "D1": "features__rain1__embed__dimensions",
    "D2": "features__rain2__embed__dimensions",
    "lambda1": "features__rain1__leaky__decays",
    "lambda2": "features__rain2__leaky__decays",
    "W1": "features__rain1__leaky__windows",
    "W2": "features__rain2__leaky__windows",
    "gamma": "svr__regressor__gamma",
    "epsilon": "svr__regressor__epsilon",
    "C": "svr__regressor__C",
}


@pytest.fixture(scope="module")
def series():
    return simulated_series(0, 4000)


def test_the_error_by_hand_and_by_the_named_pipeline(series):
    objective = StormwaterErrors(series, tuned_on=4, stride=3)
    features, level = rain_features(series.rain, SETTING), series.level
    scaler = StandardScaler().fit(features[1000:2000])
    mean, sd = level[1000:2000].mean(), level[1000:2000].std()
    machine = SVR(C=8.0, gamma=0.005, epsilon=0.2)
    machine.fit(scaler.transform(features[1000:2000:3]), (level[1000:2000:3] - mean) / sd)
    predicted = machine.predict(scaler.transform(features)) * sd + mean
    rmse = {k: np.sqrt(np.mean((predicted - level)[1000 * (k - 1) : 1000 * k] ** 2)) for k in (1, 2, 3, 4)}
    assert objective(SETTING) == pytest.approx(rmse[4], rel=1e-9)
    assert objective.errors(SETTING, [1, 2, 3, 4]) == pytest.approx(rmse, rel=1e-9)
    rain = pd.DataFrame({"rain": series.rain}, index=series.times)
    pipeline, space = stormwater_pipeline("rain", history=rain)
    assert set(space) == set(IN_PIPELINE.values())
    pipeline.set_params(**{IN_PIPELINE[name]: value for name, value in SETTING.items()})
    pipeline.fit(rain[1000:2000], series.level[1000:2000])
    error = np.sqrt(np.mean((pipeline.predict(rain[3000:]) - series.level[3000:]) ** 2))
    assert StormwaterErrors(series)(SETTING) == pytest.approx(error, rel=1e-9)


def test_the_region_is_table_4s():
    space = Space(REGION)
    assert list(space.names) == ["D1", "D2", "lambda1", "lambda2", "W1", "W2", "gamma", "epsilon", "C"]
    bounds = {name: law.support() for name, law in REGION.items()}
    assert bounds["D1"] == bounds["D2"] == (2, 60)
    assert bounds["W1"] == bounds["W2"] == (50, 120)
    assert bounds["lambda1"] == bounds["lambda2"] == pytest.approx((1e-5, 0.3))
    assert bounds["gamma"] == bounds["epsilon"] == pytest.approx((0.005, 0.3))
    assert bounds["C"] == (1.0, 10.0)
    assert all(low <= BY_HAND[name] <= high for name, (low, high) in bounds.items())


def test_records_of_other_data_have_another_checksum(series):
    one = StormwaterErrors(series).checksum
    assert one == StormwaterErrors(simulated_series(0, 4000), tuned_on=1).checksum
    others = [
        StormwaterErrors(series, stride=2),
        StormwaterErrors(series, trained_on=3),
        StormwaterErrors(simulated_series(1, 4000)),
    ]
    assert len({one, *(other.checksum for other in others)}) == 4


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tuned_on": 5}, "tuned_on=5 is not a set; use 1 to 4"),
        ({"trained_on": 0}, "trained_on=0 is not a set; use 1 to 4"),
        ({"tuned_on": 2}, "tuned_on=2 is the set that is trained on; use another"),
        ({"stride": 0}, "stride=0 is not a step between records; use 1 or more"),
    ],
)
def test_bad_input(series, options, text):
    with pytest.raises(ArgumentError, match=text):
        StormwaterErrors(series, **options)

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import CutoffClassifier, spectra_pipeline, stormwater_pipeline
from spotsvm.search_cv.estimator_space import default_start
from spotsvm.tuning.pipelines.stormwater import REGIONS

X, y = load_iris(return_X_y=True)
WIDE = {"svc__C": loguniform(2**-5, 2**15), "svc__gamma": loguniform(2**-15, 2**3)}


@pytest.fixture(scope="module")
def scaled():
    return make_pipeline(StandardScaler(), SVC()).fit(X, y)


def test_an_estimator_alone_sees_the_rows_as_they_are():
    machine = SVC(gamma="scale", C=3.0).fit(X, y)
    assert default_start(machine, {"C": uniform(0, 10), "gamma": uniform(0, 10)}, X) == [
        {"C": 3.0, "gamma": pytest.approx(1 / (4 * X.var()))}
    ]
    machine = SVC(gamma="auto").fit(X, y)
    assert default_start(machine, {"gamma": uniform(0, 10)}, X) == [{"gamma": 0.25}]
    # a list of values has the word itself
    assert default_start(machine, {"gamma": ["auto", 1.0]}, X) == [{"gamma": "auto"}]


@pytest.mark.parametrize(("support", "nearest"), [((2.0, 8.0), 2.0), ((0.01, 0.5), 0.5), ((0.5, 2.0), 1.0)])
def test_a_number_beyond_a_range_is_the_nearest_one_in_it(scaled, support, nearest):
    (start,) = default_start(scaled, {"svc__C": loguniform(*support), "svc__degree": randint(4, 9)}, X)
    assert start == {"svc__C": pytest.approx(nearest), "svc__degree": 4}


def test_a_rule_for_all_classes_has_no_entries():
    space = {"class_weight__0": uniform(0, 9)}
    assert default_start(CutoffClassifier(class_weight="balanced").fit(X, y), space, X) == []
    assert default_start(CutoffClassifier(class_weight={1: 3.0}).fit(X, y), space, X) == [{"class_weight__0": 1.0}]


@pytest.mark.parametrize("space", [{"svc__kernel": ["linear", "poly"]}, {"svc__class_weight": uniform(0, 1)}])
def test_what_the_space_cannot_hold_is_left_out(scaled, space):
    assert default_start(scaled, WIDE | space, X) == []


@pytest.mark.parametrize("region", REGIONS)
def test_the_pipeline_of_series(region):
    hours = pd.date_range("2011-03-31", periods=300, freq="h")
    rain = pd.DataFrame({"rain": np.random.default_rng(0).exponential(size=300)}, index=hours)
    pipeline, space = stormwater_pipeline("rain", history=rain, region=region)
    (start,) = default_start(pipeline.fit(rain, rain["rain"]), space, rain)
    assert list(start) == list(space)
    assert start["features__rain1__leaky__windows"] == 50
    assert start["features__rain2__leaky__decays"] == pytest.approx(0.3)
    assert start["svr__regressor__gamma"] == pytest.approx(1 / 20)


def test_the_pipeline_of_spectra_with_its_weights_and_cutoffs():
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline, space = spectra_pipeline("classification", len(y), sorted(set(names)), n_estimators=5)
    fitted = pipeline.fit(X, names)
    (start,) = default_start(fitted, space, X)
    assert list(start) == list(space)
    assert [v for name, v in start.items() if "class_weight" in name] == [1.0] * 3
    assert [v for name, v in start.items() if "cutoff__" in name] == pytest.approx([1 / 3] * 2)
    again = fitted.__sklearn_clone__().set_params(**start).fit(X, names)
    assert again.predict(X).tolist() == fitted.predict(X).tolist()

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, cross_val_score

from spotsvm import Space, Study
from spotsvm.errors import ArgumentError, DataError
from spotsvm.tables import Table, make_table, named_pipeline
from spotsvm.trials.metrics import named_scorer
from spotsvm.tuning.pipelines.registry import REGIONS, default_scoring, description

IRIS = load_iris(return_X_y=True, as_frame=True)
DIABETES = [part[:120] for part in load_diabetes(return_X_y=True, as_frame=True)]
HOURS = pd.date_range("2011-03-31", periods=500, freq="h")
RAIN = pd.DataFrame({"rain": np.random.default_rng(0).exponential(size=500)}, index=HOURS)
LEVEL = RAIN["rain"].rolling(3, min_periods=1).mean()

CASES = {
    ("svm", "classification"): (IRIS, StratifiedKFold, "accuracy", 2),
    ("svm", "regression"): (DIABETES, KFold, "neg_root_mean_squared_error", 3),
    ("spectra", "classification"): (IRIS, StratifiedKFold, "mean_class_accuracy", 8),
    ("spectra", "regression"): (DIABETES, KFold, "neg_root_mean_squared_error", 7),
    ("stormwater", "regression"): ((RAIN, LEVEL), TimeSeriesSplit, "neg_root_mean_squared_error", 9),
}


def test_kriging_varies_share_gamma_and_c_of_spectra_before_the_rest():
    table = Table(*IRIS, "classification")
    given = named_pipeline("spectra", table)
    own = given.estimator.get_params(deep=True)
    of_classes = [name for name in given.space if "__class_weight__" in name or "__cutoff__" in name]
    assert set(given.first) == set(given.space) - set(of_classes)
    study = Study(given.space, given.search("kriging"), 0).run(lambda params: params[given.first[0]], n_trials=41)
    for trial in study.trials[:40]:
        assert [trial.params[name] for name in of_classes] == pytest.approx([own[name] for name in of_classes])
    assert study.trials[40].params[of_classes[0]] != pytest.approx(1.0)
    assert given.search("cmaes") == "cmaes"
    assert named_pipeline("spectra", table, region="table8").search("kriging") == "kriging"
    assert named_pipeline("spectra", Table(*DIABETES, "regression")).search("kriging") == "kriging"
    assert named_pipeline("svm", table).search("kriging") == "kriging"


def test_the_seed_decides_the_folds_and_the_forest():
    a, b = (named_pipeline("spectra", Table(*IRIS, "classification"), seed=seed) for seed in (1, 2))
    assert (a.splitter.random_state, a.estimator["importancefraction"].random_state) == (1, 1)
    assert (b.splitter.random_state, b.estimator["importancefraction"].random_state) == (2, 2)


def test_stormwater_looks_back_into_its_history_and_ahead():
    later = RAIN[300:], LEVEL[300:]
    table = Table(*later, "regression")
    alone = named_pipeline("stormwater", table).estimator.fit(*later)
    known = named_pipeline("stormwater", replace(table, history=RAIN), horizon=2).estimator.fit(*later)
    a, b = (p["features"].transform(RAIN[300:]) for p in (alone, known))
    assert a.shape == b.shape
    np.testing.assert_allclose(b[150:], np.roll(a, 2, axis=0)[150:], rtol=1e-6, atol=1e-9)
    assert not np.allclose(b[0], 0)


@pytest.mark.parametrize(
    ("name", "task", "options", "message"),
    [
        ("wine", "classification", {}, "pipeline 'wine' is unknown; use one of svm, spectra, stormwater"),
        ("stormwater", "classification", {}, "pipeline 'stormwater' is for regression, not for classification"),
        ("svm", "classification", {"horizon": 3}, "horizon=3 is only for a series; use pipeline 'stormwater', or horizon=0"),
    ],
)
def test_arguments_that_make_no_sense(name, task, options, message):
    with pytest.raises(ArgumentError, match=message):
        named_pipeline(name, Table(*IRIS, task), **options)


def test_other_pipelines_than_table_need_plain_numbers():
    given = make_table(pd.DataFrame({"a": ["u", "v", "w"] * 10, "b": range(30)}), pd.Series([0, 1] * 15))
    columns = named_pipeline("svm", given).estimator[0].fit(given.X)
    assert columns.columns_["kind"].tolist() == ["category", "number"]
    with pytest.raises(DataError, match=r"column 'a' is not numeric \(row 0 contains 'u'\)"):
        named_pipeline("spectra", given)


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_a_pipeline_has_all_that_a_search_needs(case):
    (X, y), splitter, scoring, n_parameters = CASES[case]
    name, task = case
    given = named_pipeline(name, Table(X, y, task), cv=3, seed=4)
    assert given.name == case[0]
    assert type(given.splitter) is splitter
    assert given.splitter.get_n_splits() == 3
    assert given.scoring == scoring == default_scoring(*case)
    assert len(given.space) == len(Space(given.space).names) == n_parameters
    assert set(given.space) <= set(given.estimator.get_params(deep=True)) | {n for n in given.space if "cutoffclassifier__" in n}
    scores = cross_val_score(given.estimator, X, y, cv=given.splitter, scoring=named_scorer(scoring), error_score="raise")
    assert np.isfinite(scores).all()
    assert description(*case)


@pytest.mark.parametrize("name", REGIONS)
def test_regions(name):
    task = "regression" if name == "stormwater" else "classification"
    table = Table(*CASES[name, task][0], task)
    spaces = [named_pipeline(name, table, region=region).space for region in REGIONS[name]]
    first = Space(named_pipeline(name, table).space).describe()
    described = [Space(space).describe() for space in spaces]
    assert described[0] == first
    assert all(described.count(d) == 1 for d in described)
    with pytest.raises(ArgumentError, match=f"pipeline {name} has no region 'table9'; use {REGIONS[name][0]}"):
        named_pipeline(name, table, region="table9")

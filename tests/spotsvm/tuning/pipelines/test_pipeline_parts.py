"""What a registered pipeline has."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import KFold, StratifiedKFold, TimeSeriesSplit, cross_val_score

from spotsvm import Space
from spotsvm.errors import ArgumentError
from spotsvm.tables import Table, named_pipeline
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
    ("spectra", "regression"): (DIABETES, KFold, "neg_root_mean_squared_error", 4),
    ("stormwater", "regression"): ((RAIN, LEVEL), TimeSeriesSplit, "neg_root_mean_squared_error", 9),
}


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

"""Every estimator, search and estimate names argument and value of classes, targets and weights that are none."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import (
    ConformalSVC,
    CutoffClassifier,
    EvolvedKernelSVC,
    EvolvedKernelSVR,
    EvoSVC,
    ExactSVC,
    ExactSVR,
    MarginErrorFront,
    MultiKernelSVC,
    MultiKernelSVR,
    ReducedSVC,
    SpotSearchCV,
    TunedSVC,
    TunedSVR,
    expected_score,
    oversearching,
)
from spotsvm.errors import ArgumentError, DataError

X = np.random.default_rng(0).normal(size=(20, 2))
Y = ["a", "b"] * 10
TWO = {"n_iter": 2, "cv": 2}
CLASSIFIERS = {
    "TunedSVC": TunedSVC(budget=1),
    "ExactSVC": ExactSVC(),
    "EvoSVC": EvoSVC(),
    "ConformalSVC": ConformalSVC(),
    "CutoffClassifier": CutoffClassifier(),
    "MultiKernelSVC": MultiKernelSVC(groups=[[0], [1]]),
    "MultiKernelSVC, tuned": MultiKernelSVC(groups=[[0], [1]], tune="random", n_trials=4),
    "ReducedSVC": ReducedSVC(),
    "EvolvedKernelSVC": EvolvedKernelSVC(n_trials=4),
    "MarginErrorFront": MarginErrorFront(),
    "SpotSearchCV": SpotSearchCV(SVC(), {"C": [1.0, 2.0]}, **TWO),
    "SpotSearchCV, average": SpotSearchCV(LogisticRegression(), {"C": [1.0, 2.0]}, refit="average", calibrate=True, **TWO),
}
REGRESSORS = {
    "TunedSVR": TunedSVR(budget=1),
    "ExactSVR": ExactSVR(),
    "MultiKernelSVR": MultiKernelSVR(groups=[[0], [1]]),
    "EvolvedKernelSVR": EvolvedKernelSVR(n_trials=4),
    "SpotSearchCV": SpotSearchCV(Ridge(), {"alpha": [1.0, 2.0]}, **TWO),
}
#: estimators whose fit has no weights of rows
UNWEIGHTED = ("ReducedSVC", "EvolvedKernelSVC", "MarginErrorFront", "EvolvedKernelSVR")
GAPS = [[*Y[:3], gap, *Y[4:]] for gap in (None, float("nan"), pd.NA)]
WRONG_WEIGHTS = {
    r"\[3\] is nan": np.where(np.arange(20) == 3, np.nan, 1.0),
    r"\[3\] is -1.0": np.where(np.arange(20) == 3, -1.0, 1.0),
    r"\[3\] is 1e\+100": np.where(np.arange(20) == 3, 1e100, 1.0),
    "is zero for every row": np.zeros(20),
    r"has shape \(19,\)": np.ones(19),
    r"has shape \(20, 1\)": np.ones((20, 1)),
}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name):
    model = CLASSIFIERS[name]
    for y in (*GAPS, pd.Series(GAPS[0]), pd.Series(GAPS[0], dtype="category")):
        with pytest.raises(DataError, match=r"y has .* in row 3 \(counted from 0\), which is no class"):
            model.fit(X, y)
    with pytest.raises(DataError, match="y has 'a' in row 0 and 1 in row 3"):
        model.fit(X, [*Y[:3], 1, *Y[4:]])
    with pytest.raises((ArgumentError, DataError), match=r"y has (shape \(20, 2\)|2 columns)"):
        model.fit(X, np.column_stack([np.arange(20) % 2, np.arange(20) // 10]))


@pytest.mark.parametrize("name", REGRESSORS)
def test_targets(name):
    for value in (None, float("nan"), pd.NA, np.inf, "a"):
        y = X[:, 0].tolist()
        y[3] = value
        with pytest.raises(DataError, match=r"y has .* in row 3 \(counted from 0\)"):
            REGRESSORS[name].fit(X, y)


@pytest.mark.parametrize("name", sorted({*CLASSIFIERS, *REGRESSORS} - {*UNWEIGHTED}))
def test_weights_of_rows(name):
    models = [(model, y) for model, y in ((CLASSIFIERS.get(name), Y), (REGRESSORS.get(name), X[:, 0])) if model is not None]
    for model, y in models:
        for message, weights in WRONG_WEIGHTS.items():
            with pytest.raises(ArgumentError, match=f"sample_weight{' ' if message[0] != chr(92) else ''}{message}"):
                model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(
    "name", [name for name in CLASSIFIERS if name not in ("ReducedSVC", "MarginErrorFront", "EvolvedKernelSVC")]
)
def test_weights_of_classes(name):
    for weight in (-1.0, np.nan, np.inf):
        for given in ({"a": weight}, {"a": 1.0, "b": weight}):
            model = CLASSIFIERS[name].__sklearn_clone__()
            searches = isinstance(model, SpotSearchCV)
            _ = model.estimator.set_params(class_weight=given) if searches else model.set_params(class_weight=given)
            with pytest.raises(ArgumentError, match=f"class_weight of the class '[ab]' is {weight}"):
                model.fit(X, Y)
            model = CLASSIFIERS[name].__sklearn_clone__()
            if searches:
                model = model.set_params(space={"class_weight": [None, given]})
                with pytest.raises(ArgumentError, match=f"class_weight of the class '[ab]' is {weight}"):
                    model.fit(X, Y)
    model = CLASSIFIERS[name].__sklearn_clone__()
    _ = (model.estimator if isinstance(model, SpotSearchCV) else model).set_params(class_weight={"a": 1.0, "c": 2.0})
    with pytest.raises(ArgumentError, match="class_weight"):
        model.fit(X, Y)
    step = SpotSearchCV(make_pipeline(StandardScaler(), SVC(class_weight={"c": 2.0})), {"svc__C": [1.0, 2.0]}, **TWO)
    with pytest.raises(ArgumentError, match="svc__class_weight names the class 'c', which is not among a, b"):
        step.fit(X, Y)


def test_estimates():
    search = SpotSearchCV(SVC(), {"C": [1.0, 2.0]}, **TWO).fit(X, Y)
    for estimate in (expected_score, oversearching):
        with pytest.raises(DataError, match="y has None in row 3"):
            estimate(search, X, GAPS[0])
        for message, weights in WRONG_WEIGHTS.items():
            with pytest.raises(ArgumentError, match=message):
                estimate(search, X, Y, fit_params={"sample_weight": weights})

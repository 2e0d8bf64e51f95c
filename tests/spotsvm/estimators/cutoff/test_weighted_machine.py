import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm.common.errors import ArgumentError
from spotsvm.estimators.cutoff.cutoff_classifier import machine_prefix, weighted_fit

X, Y = load_iris(return_X_y=True)
WEIGHTS = {0: 0.1, 1: 1.0, 2: 3.0}


def test_the_machine_in_pipelines_in_pipelines():
    inner = Pipeline([("scale", StandardScaler()), ("svm", SVC())])
    assert machine_prefix(Pipeline([("first", StandardScaler()), ("rest", inner)])) == "rest__svm__"


def test_its_own_class_weight_is_used_where_it_has_one():
    fitted = weighted_fit(make_pipeline(StandardScaler(), SVC()), X, Y, WEIGHTS, {})
    assert fitted[-1].class_weight == WEIGHTS
    plain = make_pipeline(StandardScaler(), SVC(class_weight=WEIGHTS)).fit(X, Y)
    np.testing.assert_array_equal(fitted.decision_function(X), plain.decision_function(X))


def test_rows_are_weighted_where_it_has_none():
    given = np.linspace(0.5, 1.5, len(Y))
    fitted = weighted_fit(make_pipeline(GaussianNB()), X, Y, WEIGHTS, {"gaussiannb__sample_weight": given})
    plain = GaussianNB().fit(X, Y, sample_weight=given * np.array([0.1, 1, 3])[Y])
    np.testing.assert_array_equal(fitted.predict_proba(X), plain.predict_proba(X))


def test_no_weights_leave_the_estimator_alone():
    assert weighted_fit(SVC(class_weight="balanced"), X, Y, None, {}).class_weight == "balanced"


def test_what_can_have_no_weights():
    with pytest.raises(ArgumentError, match="KNeighborsClassifier has neither class_weight nor weights of rows; use None"):
        weighted_fit(make_pipeline(KNeighborsClassifier()), X, Y, WEIGHTS, {})
    with pytest.raises(ArgumentError, match="the estimator has its own svc__class_weight; use one of them"):
        weighted_fit(make_pipeline(SVC(class_weight="balanced")), X, Y, WEIGHTS, {})

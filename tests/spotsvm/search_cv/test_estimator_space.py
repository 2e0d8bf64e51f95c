"""The space of an estimator: names that it has, and ranges whose ends it accepts."""

import numpy as np
import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import ExactSVC, ExactSVR, Space, SpotSearchCV
from spotsvm.errors import SpaceError
from spotsvm.search_cv.estimator_space import accepted_space

PIPELINE = make_pipeline(StandardScaler(), SVC())
X, Y = load_iris(return_X_y=True)


@pytest.mark.parametrize(
    ("estimator", "space", "said"),
    [
        (PIPELINE, {"C": (0.1, 10.0)}, "^space has 'C', which is not a parameter of Pipeline; did you mean 'svc__C'"),
        (PIPELINE, {"svc__gama": (0.1, 10.0)}, "did you mean 'svc__gamma'"),
        (PIPELINE, [{"svc__C": [1, 2]}, {"svc_C": [1, 2]}], "^space has 'svc_C', .* did you mean 'svc__C'"),
        (SVC(), {"n_estimators": [1, 2]}, r"^space has 'n_estimators', which is not a parameter of SVC \(Invalid parameter"),
        (PIPELINE, {"svc": [SVC(), ExactSVC()], "svc__c": [1, 2]}, "^space has 'svc__c'"),
    ],
)
def test_a_wrong_name_is_refused_before_anything_is_fitted(estimator, space, said, monkeypatch):
    monkeypatch.setattr(SVC, "fit", lambda *args: pytest.fail("nothing is fitted"))
    with pytest.raises(SpaceError, match=said):
        SpotSearchCV(estimator, space).fit(X, Y)


def test_no_candidate_of_a_range_from_zero_fails():
    space = {"C": uniform(0, 4), "gamma": loguniform(1e-2, 1.0)}
    search = SpotSearchCV(SVC(), space, n_iter=3, cv=3, random_state=0).fit(X, Y)
    assert min(search.cv_results_["param_C"]) > 0.0
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_name_that_a_searched_step_has_is_right():
    space = Space({"model": [SVC(), ExactSVC()], "model__C": (0.1, 10.0)})
    assert accepted_space(Pipeline([("model", None)]), space) is space


@pytest.mark.parametrize(
    ("estimator", "given", "bounds"),
    [
        (SVC(), {"C": uniform(0, 4)}, (0.002, 3.998)),
        (ExactSVC(), {"C": uniform(0, 4)}, (0.002, 3.998)),
        (ExactSVR(), {"C": (0.0, 4.0)}, (0.002, 3.998)),
        (PIPELINE, {"svc__C": uniform(0, 4)}, (0.002, 3.998)),
        (SVC(), {"coef0": uniform(0, 4)}, (0.0, 4.0)),
        (SVC(), {"C": loguniform(1e-2, 1e2)}, (1e-2, 1e2)),
        (KNeighborsClassifier(), {"n_neighbors": randint(0, 9)}, (1, 8)),
        (RandomForestClassifier(), {"max_features": uniform(0, 1)}, (0.0005, 0.9995)),
        (SVC(), {"C": uniform(-4, 8)}, (-4.0, 4.0)),  # less would not do, so its failures are told
    ],
)
def test_ends_that_the_estimator_refuses_are_left_out(estimator, given, bounds):
    (parameter,) = accepted_space(estimator, Space(given)).branches[0].values()
    assert (parameter.low, parameter.high) == pytest.approx(bounds)
    assert (parameter.decode(0.0), parameter.decode(1.0)) == pytest.approx(bounds)

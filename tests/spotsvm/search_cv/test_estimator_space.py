"""The space of an estimator: names that it has, and ranges whose ends it accepts."""

import numpy as np
import pytest
from scipy.stats import loguniform, uniform
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import ExactSVC, SpotSearchCV
from spotsvm.errors import SpaceError

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

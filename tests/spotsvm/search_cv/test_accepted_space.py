"""The space that an estimator accepts."""

import pytest
from scipy.stats import loguniform, randint, uniform
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import ExactSVC, ExactSVR, Space
from spotsvm.search_cv.estimator_space import accepted_space

PIPELINE = make_pipeline(StandardScaler(), SVC())


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

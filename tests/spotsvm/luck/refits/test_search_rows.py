"""Whether a search has helped, from its own rows: the estimator's own parameters are the default."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification
from sklearn.linear_model import Ridge
from sklearn.metrics import cohen_kappa_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from spotsvm import SpotSearchCV, expected_score, tuning_verdict
from spotsvm.errors import ArgumentError

X, Y = make_classification(90, 5, n_informative=3, random_state=0)
NUMBERS, TARGET = (part[:90] for part in load_diabetes(return_X_y=True))


def test_a_search_among_poor_parameters_is_no_help_and_among_good_ones_is():
    poor = GridSearchCV(SVC(), {"gamma": [1e3, 1e4]}, cv=5).fit(X, Y)
    found = tuning_verdict(poor, X, Y)
    assert found.decision == "did not help"
    assert not found.beats_constant
    assert found.default_over_constant.side == 1
    good = GridSearchCV(SVC(gamma=1e3), {"gamma": [0.01, 0.1, 1e3]}, cv=5).fit(X, Y)
    found = tuning_verdict(good, X, Y)
    assert found.decision == "helped"
    assert found.rows == {"out of fold": 90}
    assert found.sentence.startswith("Tuning helped: over 90 training rows out of fold, accuracy of the tuned model less")
    assert good.score(X, Y) > 0.8


@pytest.mark.parametrize("scoring", ["r2", "neg_root_mean_squared_error", "neg_mean_absolute_error"])
def test_a_regression(scoring):
    search = GridSearchCV(Ridge(100.0), {"alpha": [0.1, 1.0]}, cv=4, scoring=scoring).fit(NUMBERS, TARGET)
    found = tuning_verdict(search, NUMBERS, TARGET)
    assert found.decision == "helped"
    assert found.metric == scoring


@pytest.mark.parametrize("cv", [GroupKFold(5), TimeSeriesSplit(4)])
def test_rows_that_depend_on_each_other_say_less(cv):
    rng = np.random.default_rng(0)
    people = np.repeat(np.arange(30), 8)
    rows = np.repeat(rng.normal(size=(30, 3)), 8, axis=0) + 0.01 * rng.normal(size=(240, 3))
    y = np.repeat(rng.random(30) < 1 / (1 + np.exp(-2 * rows[::8, 0])), 8).astype(int)
    groups = people if isinstance(cv, GroupKFold) else None
    search = GridSearchCV(SVC(gamma=30.0), {"gamma": [0.1, 1.0]}, cv=cv).fit(rows, y, groups=groups)
    found = tuning_verdict(search, rows, y, groups=groups)
    splits = list(cv.split(rows, y, groups))
    as_if_alone = tuning_verdict(GridSearchCV(SVC(gamma=30.0), {"gamma": [0.1, 1.0]}, cv=splits).fit(rows, y), rows, y)
    assert found.error > 1.5 * as_if_alone.error
    assert found.value == pytest.approx(as_if_alone.value, abs=0.05)


def test_an_average_has_a_verdict_of_its_own():
    rows, y = (part[:150] for part in load_breast_cancer(return_X_y=True))
    svm = make_pipeline(StandardScaler(), SVC(gamma=1.0))
    space = {"svc__C": loguniform(0.1, 100), "svc__gamma": loguniform(1e-3, 1e-1)}
    search = SpotSearchCV(svm, space, n_iter=4, refit="average", random_state=0).fit(rows, y)
    assert not hasattr(search, "verdict_")  # the space is without the own gamma, which was not scored
    assert tuning_verdict(search, rows, y).decision == "helped"
    search.set_params(space={**space, "svc__gamma": [1.0, 0.01]}).fit(rows, y)
    assert search.verdict_.value == pytest.approx(search.expected_score_.value - search.default_score_.value)
    assert search.constant_score_.value < search.default_score_.value < search.expected_score_.value
    assert tuning_verdict(search, rows, y).to_dict() == search.verdict_.to_dict()


def test_a_score_of_which_rows_cannot_be_drawn_has_no_verdict():
    search = GridSearchCV(SVC(), {"C": [1.0, 2.0]}, scoring=make_scorer(cohen_kappa_score)).fit(X, Y)
    with pytest.raises(ArgumentError, match="by which rows cannot be drawn again; use a scorer of scikit-learn by its name"):
        tuning_verdict(search, X, Y)


def test_a_score_of_a_class_that_the_user_names():
    y = np.where(Y == 1, "well", "ill")
    scorer = make_scorer(f1_score, pos_label="ill", zero_division=0)
    search = SpotSearchCV(SVC(), {"C": loguniform(0.1, 10)}, n_iter=2, search="random", scoring=scorer, random_state=0).fit(X, y)
    assert expected_score(search, X, y) == search.expected_score_
    assert tuning_verdict(search, X, y).rows == {"out of fold": 90}
    grid = GridSearchCV(SVC(), {"C": [search.best_params_["C"]]}, scoring=scorer, cv=5).fit(X, y)
    assert expected_score(grid, X, y).value == pytest.approx(search.expected_score_.value, abs=0.1)

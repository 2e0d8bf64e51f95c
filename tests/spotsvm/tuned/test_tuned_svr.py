"""TunedSVR."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import make_friedman1
from sklearn.metrics import get_scorer
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from spotsvm import TunedSVR
from spotsvm.errors import ArgumentError, DataWarning

X, Y = make_friedman1(120, noise=0.5, random_state=0)
X_NEW, Y_NEW = make_friedman1(2000, noise=0.5, random_state=1)


def quick(**parameters):
    return TunedSVR(**{"budget": 2, "random_state": 0, **parameters})


@pytest.fixture(scope="module")
def friedman():
    return TunedSVR(random_state=0).fit(X, Y)


#: what a sensible person would use: columns and target are scaled
DEFAULT = TransformedTargetRegressor(make_pipeline(StandardScaler(), SVR()), transformer=StandardScaler())


def test_it_is_much_better_than_the_default(friedman):
    default = clone(DEFAULT).fit(X, Y).score(X_NEW, Y_NEW)
    assert 1 - friedman.score(X_NEW, Y_NEW) < 0.5 * (1 - default)
    assert friedman.verdict_.decision == "helped"
    low, high = friedman.expected_score_.interval
    assert low < friedman.score(X_NEW, Y_NEW) < high <= 1
    assert friedman.constant_score_.value == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("factor", [1.0, 1e3, 1e-3])
def test_the_default_has_a_scaled_target(factor):
    y = factor * Y
    splits = KFold(5, shuffle=True, random_state=0)
    theirs = cross_val_predict(DEFAULT, X, y, cv=splits)
    found = quick(scoring="neg_mean_absolute_error").fit(X, y).default_score_.value
    # the mean over draws of rows that are left out, and the same solution up to the solver's tolerance
    assert found == pytest.approx(-np.abs(theirs - y).mean(), rel=0.02)


def test_intervals_hold_the_target_as_often_as_is_asked_for(friedman):
    for coverage in (0.8, 0.95):
        low, high = friedman.predict_interval(X_NEW, coverage).T
        assert ((low <= Y_NEW) & (Y_NEW <= high)).mean() == pytest.approx(coverage, abs=0.08)
    assert (0.5 * (low + high)) == pytest.approx(friedman.predict(X_NEW))
    assert np.isinf(quick().fit(X[:8], Y[:8]).predict_interval(X[:2], 0.95)).all()


def test_units_of_the_target_do_not_matter(friedman):
    other = TunedSVR(random_state=0).fit(X, 1e3 * Y - 5e4)
    assert other.predict(X_NEW) == pytest.approx(1e3 * friedman.predict(X_NEW) - 5e4, rel=1e-4)
    assert other.expected_score_.value == pytest.approx(friedman.expected_score_.value)
    assert other.default_score_.value == pytest.approx(friedman.default_score_.value, abs=0.005)
    assert other.verdict_.value == pytest.approx(friedman.verdict_.value, abs=0.005)
    assert other.members_["epsilon"].to_numpy() == pytest.approx(1e3 * friedman.members_["epsilon"].to_numpy(), nan_ok=True)


@pytest.mark.parametrize("scoring", ["neg_mean_squared_error", "neg_root_mean_squared_error", "neg_mean_absolute_error"])
def test_scores(scoring):
    model = quick(scoring=scoring).fit(X, Y)
    low, high = model.expected_score_.interval
    assert low <= get_scorer(scoring)(model, X_NEW, Y_NEW) <= high <= 0
    assert (quick().fit(X, Y).members_.shape == model.members_.shape) == (scoring != "neg_mean_absolute_error")


def test_a_constant_target():
    model = quick().fit(X, np.full(len(X), 3.5))
    assert model.predict(X) == pytest.approx(3.5)
    assert np.isnan(model.expected_score_.value)


def test_odd_rows():
    with pytest.warns(DataWarning, match="2 folds in place of 5, as there are only 2 rows"):
        assert np.isfinite(quick(budget=None).fit(X[:2], Y[:2]).predict(X)).all()
    assert np.isfinite(quick().fit(np.ones((30, 2)), Y[:30]).predict(np.ones((2, 2)))).all()
    assert np.isfinite(quick().fit(np.repeat(X[:20], 3, axis=0), np.repeat(Y[:20], 3)).predict(X)).all()
    rows = np.where(X < 0.3, 0, X)
    model = quick(families=["rbf"]).fit(sparse.csr_matrix(rows), Y)
    assert model.predict(rows) == pytest.approx(quick(families=["rbf"]).fit(rows, Y).predict(rows), abs=0.05)


def test_predictions_stay_near_the_training_targets(friedman):
    with pytest.warns(DataWarning, match="column 'x0' is more than 50 standard deviations from its mean in 50 of 50 rows"):
        far = friedman.predict(1e6 * X_NEW[:50])
    assert far.max() <= Y.max() + 0.5 * np.ptp(Y) + 1e-9
    assert far.min() >= Y.min() - 0.5 * np.ptp(Y) - 1e-9


def test_one_model_and_groups_and_weights():
    model = quick(average=False).fit(X, Y)
    assert (model.support_vectors_ == X[model.support_]).all()
    groups = np.arange(len(X)) // 10
    assert quick().fit(X, Y, groups=groups).expected_score_.value > 0.3
    with pytest.raises(ArgumentError, match="one group"):
        quick().fit(X, Y, groups=0 * groups)
    weight = np.r_[np.zeros(30), np.ones(90)]
    assert quick().fit(X, Y, weight).predict(X_NEW) == pytest.approx(quick().fit(X[30:], Y[30:]).predict(X_NEW))


def test_averaging_gains_over_the_single_best():
    scores = np.empty((2, 4))
    for seed in range(4):
        rows, target = make_friedman1(80, noise=1.0, random_state=10 + seed)
        for k, average in enumerate((False, True)):
            scores[k, seed] = quick(budget=None, average=average).fit(rows, target).score(X_NEW, Y_NEW)
    assert scores[1].mean() > scores[0].mean() + 0.005

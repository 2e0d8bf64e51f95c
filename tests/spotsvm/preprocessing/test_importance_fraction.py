import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from spotsvm import ImportanceFraction
from spotsvm.errors import ArgumentError
from spotsvm.preprocessing import importance_fraction as forests

WINE, CULTIVAR = load_wine(return_X_y=True, as_frame=True)
DIABETES, PROGRESSION = load_diabetes(return_X_y=True, as_frame=True)
SMALL = {"n_estimators": 20, "random_state": 0}


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch):
    monkeypatch.setattr(forests, "_KNOWN", forests._KNOWN.__class__())


@pytest.mark.parametrize(
    ("data", "forest"),
    [((WINE, CULTIVAR), RandomForestClassifier), ((DIABETES, PROGRESSION + 0.5), RandomForestRegressor)],
    ids=["classes", "numbers"],
)
def test_the_importances_are_those_of_the_forest_that_the_target_asks_for(data, forest):
    X, y = data
    reference = forest(n_estimators=20, max_features="sqrt", random_state=0).fit(X.to_numpy(), y)
    found = ImportanceFraction(**SMALL).fit(X, y)
    np.testing.assert_array_equal(found.importances_, reference.feature_importances_)


def test_the_task_can_be_said():
    a = ImportanceFraction(**SMALL).fit(DIABETES, PROGRESSION)  # whole numbers: taken for classes
    b = ImportanceFraction(task="regression", **SMALL).fit(DIABETES, PROGRESSION)
    reference = RandomForestRegressor(20, max_features="sqrt", random_state=0).fit(DIABETES.to_numpy(), PROGRESSION)
    np.testing.assert_array_equal(b.importances_, reference.feature_importances_)
    assert not np.array_equal(a.importances_, b.importances_)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 1.0))
def test_the_fewest_features_that_hold_the_share(fraction):
    found = ImportanceFraction(fraction, **SMALL).fit(WINE, CULTIVAR)
    chosen = found.get_support()
    held = found.importances_[chosen]
    assert chosen.sum() == found.n_selected_ >= 1
    assert held.sum() >= fraction - 1e-9
    assert held.sum() - held.min() < fraction
    if not chosen.all():
        assert held.min() >= found.importances_[~chosen].max()


def test_all_of_the_importance_leaves_out_what_no_tree_splits_by():
    X = WINE.assign(constant=1.0)
    found = ImportanceFraction(1.0, **SMALL).fit(X, CULTIVAR)
    assert found.get_feature_names_out().tolist() == WINE.columns.tolist()


@pytest.mark.parametrize("y", [np.ones(len(WINE)), np.full(len(WINE), 0.5)])
def test_where_no_tree_splits_all_features_stay(y):
    found = ImportanceFraction(0.1, **SMALL).fit(WINE, y)
    assert found.get_support().all()
    assert not found.importances_.any()


@pytest.fixture
def grown(monkeypatch):
    """The forests that were grown."""
    fits = []
    fit = RandomForestClassifier.fit
    monkeypatch.setattr(RandomForestClassifier, "fit", lambda self, X, y: (fits.append(len(X)), fit(self, X, y))[1])
    return fits


def test_one_forest_for_many_fractions(grown):
    pipeline = make_pipeline(ImportanceFraction(**SMALL), SVC())
    for fraction in (0.2, 0.5, 0.9):
        cross_val_score(pipeline.set_params(importancefraction__fraction=fraction), WINE, CULTIVAR, cv=3)
    assert len(grown) == 3  # one for each fold


@pytest.mark.parametrize(
    "changed",
    [{"random_state": 1}, {"n_estimators": 21}, {"max_samples": 0.5}, {"min_samples_leaf": 5}, {"class_weight": "balanced"}],
)
def test_another_forest_is_another_one(changed, grown):
    a = ImportanceFraction(**SMALL).fit(WINE, CULTIVAR).importances_
    b = ImportanceFraction(**{**SMALL, **changed}).fit(WINE, CULTIVAR).importances_
    assert len(grown) == 2
    assert not np.array_equal(a, b)


def test_what_is_remembered_cannot_be_spoilt_and_is_bounded(monkeypatch, grown):
    monkeypatch.setattr(forests, "REMEMBERED", 2)
    first = ImportanceFraction(**SMALL).fit(WINE, CULTIVAR)
    kept = first.importances_.copy()
    first.importances_[:] = 0
    np.testing.assert_array_equal(ImportanceFraction(**SMALL).fit(WINE, CULTIVAR).importances_, kept)
    for seed in range(5):
        ImportanceFraction(n_estimators=2, random_state=seed).fit(WINE, CULTIVAR)
    assert len(forests._KNOWN) == 2


@pytest.mark.parametrize("seed", [None, np.random.RandomState(0)])
def test_without_a_seed_that_can_be_repeated_nothing_is_remembered(seed, grown):
    a, b = (ImportanceFraction(n_estimators=5, random_state=seed).fit(WINE, CULTIVAR) for _ in range(2))
    assert len(grown) == 2
    assert not np.array_equal(a.importances_, b.importances_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 0.0}, r"fraction=0\.0; use a share of the importance, above 0 and up to 1"),
        ({"fraction": "half"}, "fraction='half'; use"),
        ({"task": "ranking"}, "task='ranking'; use 'auto', 'classification' or 'regression'"),
    ],
)
def test_a_parameter_that_makes_no_sense(options, message):
    with pytest.raises(ArgumentError, match=message):
        ImportanceFraction(**options).fit(WINE, CULTIVAR)


def test_a_target_is_needed():
    with pytest.raises(TypeError, match="y"):
        ImportanceFraction().fit(WINE)
    with pytest.raises(ValueError, match="Unknown label type"):
        ImportanceFraction(task="classification").fit(DIABETES, PROGRESSION + 0.5)

"""TunedSVC and TunedSVR on many rows, with small thresholds in the place of large tables."""

import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from scipy.sparse import csr_matrix
from sklearn.datasets import make_classification, make_moons
from sklearn.model_selection import KFold

from spotsvm import TunedSVC, TunedSVR
from spotsvm.errors import DataWarning
from spotsvm.luck.draws import sample_rows
from spotsvm.tuned import base, training_rows
from spotsvm.tuned.many_rows import Rounds

X2, Y2 = make_moons(600, noise=0.25, random_state=0)
X2_NEW, Y2_NEW = make_moons(2000, noise=0.25, random_state=1)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Take some hundred rows for many."""
    for name, value in {"_MANY_ROWS": 250, "_HELD_FROM": 300, "_FIRST_ROWS": 80, "_GRID_ROWS": 90}.items():
        monkeypatch.setattr(training_rows, name, value)
    monkeypatch.setattr(base, "_MOST_ROWS", 200)
    monkeypatch.setattr(base, "LANDMARKS_FROM", 350)
    monkeypatch.setattr(base, "EXACT", Rounds(((100, 3), (200, 2), (480, 1)), 2.2, 200, landmarks=False))
    monkeypatch.setattr(base, "LANDMARKS", Rounds(((20, 2), (50, 1), (100, 1)), 1.8, 50, landmarks=True))


def quick(**parameters):
    return TunedSVC(**{"budget": 3, "random_state": 0, **parameters})


@pytest.fixture
def moons(small):
    return quick().fit(X2, Y2)


def test_rounds_of_exact_models_and_of_landmarks_are_judged_on_held_out_rows(moons):
    held = np.isfinite(moons.oof_predict_proba_[:, 0])
    assert held.sum() == 120
    frame = moons.settings_
    assert set(frame.loc[frame["landmarks"] == 0, "rows"]) == {100, 200}
    assert set(frame.loc[frame["landmarks"] > 0, "landmarks"]) == {20, 50}
    assert set(frame.loc[frame["landmarks"] > 0, "rows"]) == {480}
    assert moons.n_rows_ == moons.members_["rows"].max()
    assert moons.complete_
    assert 1 <= len(moons.members_) <= 5
    assert moons.members_["weight"].sum() == pytest.approx(1)
    # what is kept of the held-out rows is what the model gives for them
    assert moons.predict_proba(X2[held]) == pytest.approx(moons.oof_predict_proba_[held], abs=1e-4)
    accuracy = moons.score(X2_NEW, Y2_NEW)
    low, high = moons.expected_score_.interval
    assert low <= accuracy <= high
    assert accuracy > 0.9
    assert {moons.default_score_.covers, moons.constant_score_.covers} == {"the sampling of the held-out rows"}
    assert pickle.loads(pickle.dumps(moons)).predict_proba(X2_NEW[:50]) == pytest.approx(moons.predict_proba(X2_NEW[:50]))


def test_no_model_has_seen_the_held_out_rows(moons):
    held = np.isfinite(moons.oof_predict_proba_[:, 0])
    flipped = np.where(held, 1 - Y2, Y2)
    other = quick().fit(X2, flipped)
    if (np.isfinite(other.oof_predict_proba_[:, 0]) == held).all():  # rows are drawn by class
        assert other.expected_score_.value < 0.5
    rows = sample_rows(600, 50, 0, Y2, np.arange(600) // 10, np.flatnonzero(held))
    assert not held[rows].any()


def test_the_result_is_the_same_for_any_number_of_jobs_and_elsewhere(moons):
    expected = moons.predict_proba(X2_NEW)
    assert (quick(n_jobs=2).fit(X2, Y2).predict_proba(X2_NEW) == expected).all()
    distributed = pytest.importorskip("distributed")
    with (
        distributed.Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address="127.0.0.1:0") as client,
        parallel_config("dask"),
    ):
        assert client.status == "running"
        assert quick(n_jobs=2).fit(X2, Y2).predict_proba(X2_NEW) == pytest.approx(expected, abs=1e-9)


def test_several_classes_regression_weights_sparse_rows_and_frames():
    X, y = make_classification(500, 6, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    model = quick(families=["rbf"], budget=2).fit(X, y)
    assert model.score(X, y) > 0.6
    assert (model.settings_["landmarks"] > 0).any()
    assert quick(families=["rbf"], budget=2).fit(csr_matrix(X), y).score(csr_matrix(X), y) > 0.6
    regression = TunedSVR(families=["rbf"], budget=2, random_state=0).fit(X2, X2[:, 0] * X2[:, 1])
    assert regression.score(X2_NEW, X2_NEW[:, 0] * X2_NEW[:, 1]) > 0.95
    low, high = regression.predict_interval(X2_NEW, coverage=0.9).T
    assert 0.8 < np.mean((low <= X2_NEW[:, 0] * X2_NEW[:, 1]) & (X2_NEW[:, 0] * X2_NEW[:, 1] <= high)) < 1
    frame = pd.DataFrame({"a": X2[:, 0], "b": np.where(X2[:, 1] > 0.25, "up", "down"), "c": X2[:, 1]})
    assert quick(budget=2).fit(frame, Y2).score(frame, Y2) > 0.85
    weights = np.where(np.arange(600) % 3 == 0, 0.0, 1.0 + (np.arange(600) % 2))
    spoiled = np.where(weights > 0, Y2, 1 - Y2)
    model = quick().fit(X2, spoiled, sample_weight=weights)
    assert model.score(X2_NEW, Y2_NEW) > 0.88
    assert not np.isfinite(model.oof_predict_proba_[weights == 0]).any()


def test_a_single_model_has_support_vectors():
    with pytest.warns(DataWarning) as caught:
        model = quick(average=False).fit(X2, Y2)
    (notice,) = caught[0].message.notices
    assert notice.sentence == f"the model is fitted to {model.n_rows_} of 600 training rows, and 120 others judged its candidates"
    assert notice.share == 1.0 - model.n_rows_ / 600
    assert len(model.members_) == 1
    assert not model.settings_["landmarks"].any()
    assert (X2[model.support_] == model.support_vectors_).all()
    assert model.dual_coef_.shape == (1, len(model.support_))
    assert not np.isfinite(model.oof_predict_proba_[model.support_]).any()


def test_groups_are_held_out_and_drawn_as_wholes():
    groups = np.arange(600) // 10
    judged = np.isfinite(quick().fit(X2, Y2, groups=groups).oof_predict_proba_[:, 0]).reshape(60, 10)
    assert (judged.all(axis=1) == judged.any(axis=1)).all()
    assert judged.sum() == 120
    drawn = np.bincount(groups[sample_rows(600, 95, 0, Y2, groups)], minlength=60)
    assert set(drawn) == {0, 10}
    assert drawn.sum() == 100
    huge = np.minimum(np.arange(600) // 5, 6)
    assert len(sample_rows(600, 50, 0, Y2, huge)) <= 100
    # with few groups, or a splitter that says what is new, the folds judge
    for parameters in ({"groups": np.arange(600) // 40}, {}):
        with pytest.warns(DataWarning, match="parameters were tuned on 90, and the model is fitted to 200, of 600 training rows"):
            model = quick(cv=5 if parameters else KFold(3)).fit(X2, Y2, **parameters)
        assert "landmarks" not in model.settings_
        assert model.n_rows_ == 200


def test_a_rare_class_is_fitted():
    y = np.where(np.arange(600) == 7, 2, Y2)
    model = quick(families=["rbf"], budget=1).fit(X2, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert not np.isfinite(model.oof_predict_proba_[7]).any()
    assert model.score(X2_NEW, Y2_NEW) > 0.85


def test_whenever_the_time_ends_there_is_a_model():
    model = quick(timeout=1e-6).fit(X2, Y2)
    assert not model.complete_
    assert len(model.members_) >= 1
    assert model.score(X2_NEW, Y2_NEW) > 0.8
    long = quick(timeout=1000, budget=1).fit(X2, Y2)
    assert long.settings_["rows"].max() == 480
    assert long.settings_["landmarks"].max() == 100


@pytest.mark.filterwarnings("ignore:the model is fitted to:spotsvm.errors.DataWarning")
def test_a_constant_target_has_no_support_vectors():
    model = TunedSVR(families=["rbf"], budget=1, random_state=0, average=False).fit(X2, np.full(600, 3.0))
    assert model.predict(X2_NEW[:9]) == pytest.approx(3.0)
    assert len(model.support_) == 0


@pytest.mark.filterwarnings("ignore:the model is fitted to:spotsvm.errors.DataWarning")
def test_the_support_of_one_setting_is_its_own():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6200, 2))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=6200) > 0).astype(int)
    model = TunedSVC(families=["rbf"], budget=1, average=False, random_state=0).fit(X, y)
    assert np.abs(model.dual_coef_).max() == pytest.approx(model.best_params_["C"])  # a row within the margin has C

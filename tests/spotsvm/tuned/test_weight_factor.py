"""A common factor of all weights changes nothing: C is tuned, and everything else knows the ratios alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_classification

from spotsvm import TunedSVC, TunedSVR
from spotsvm.common.targets import with_mean_1
from spotsvm.tuned import base, training_rows
from spotsvm.tuned.many_rows import Rounds

X, Y = make_classification(120, 4, n_informative=3, n_redundant=0, weights=[0.7], random_state=0)
TARGET = X[:, 0] ** 2 + X[:, 1]
WEIGHT = np.random.default_rng(0).choice([0.2, 1.0, 3.0], 120)
FACTORS = [1 / 168.0, 1e6, 1e-9]


def classifier(**parameters):
    return TunedSVC(**{"budget": 2, "random_state": 0, "cv": 3, **parameters})


def regressor(**parameters):
    return TunedSVR(**{"budget": 2, "random_state": 0, "cv": 3, **parameters})


def told(model, rows):
    """All that a fit gives, as numbers."""
    scores = [model.expected_score_, model.default_score_, model.constant_score_, model.verdict_]
    numbers = [number for one in scores for number in (one.value, one.error, *one.interval)]
    numbers += [*model.settings_["weight"], *model.settings_["score"], *model.settings_["C"]]
    if hasattr(model, "classes_"):
        answers = [model.predict_proba(rows), model.oof_predict_proba_, model.predict_set(rows, 0.8)]
    else:
        answers = [model.predict(rows), model.average_oof_, model.predict_interval(rows, 0.8)]
    return np.concatenate([numbers, *(np.ravel(np.asarray(one, dtype=float)) for one in answers)])


CASES = {
    "classes": (classifier(), X, Y),
    "balanced": (classifier(class_weight="balanced", scoring="neg_log_loss"), X, Y),
    "weights of classes": (classifier(class_weight={0: 1.0, 1: 4.0}, average=False), X, Y),
    "sparse": (classifier(), sparse.csr_matrix(np.where(np.abs(X) < 0.5, 0.0, X)), Y),
    "numbers": (regressor(), X, TARGET),
    "absolute errors": (regressor(scoring="neg_mean_absolute_error"), X, TARGET),
}


@pytest.mark.parametrize("case", CASES)
def test_a_common_factor_of_weights_changes_nothing(case):
    model, rows, y = CASES[case]
    expected = told(model.fit(rows, y, sample_weight=WEIGHT), rows)
    for factor in FACTORS[: 3 if case == "classes" else 1]:
        found = told(model.fit(rows, y, sample_weight=factor * WEIGHT), rows)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_equal_weights_are_no_weights(tmp_path):
    for model in (classifier(path=tmp_path / "c.db"), regressor(path=tmp_path / "r.db")):
        y = Y if isinstance(model, TunedSVC) else TARGET
        expected = told(model.fit(X, y), X)
        # the record of a fit is that of the other
        assert told(model.fit(X, y, sample_weight=np.full(120, 1 / 120)), X).tolist() == expected.tolist()
    doubled = [classifier(class_weight={0: factor, 1: 2 * factor}).fit(X, Y).predict_proba(X) for factor in (1.0, 1e-4)]
    assert doubled[1] == pytest.approx(doubled[0], abs=1e-4)


def test_a_common_factor_changes_nothing_on_many_rows(monkeypatch):
    for name, value in {"_MANY_ROWS": 60, "_HELD_FROM": 80, "_FIRST_ROWS": 50, "_GRID_ROWS": 50}.items():
        monkeypatch.setattr(training_rows, name, value)
    for name, value in {"_MOST_ROWS": 60, "LANDMARKS_FROM": 70}.items():
        monkeypatch.setattr(base, name, value)
    monkeypatch.setattr(base, "EXACT", Rounds(((40, 2), (60, 1)), 2.2, 60, landmarks=False))
    monkeypatch.setattr(base, "LANDMARKS", Rounds(((10, 2), (20, 1)), 1.8, 20, landmarks=True))
    for model, y in ((classifier(budget=1), Y), (regressor(budget=1), TARGET)):
        expected = told(model.fit(X, y, sample_weight=WEIGHT), X)
        assert (model.settings_["landmarks"] > 0).any()
        np.testing.assert_allclose(told(model.fit(X, y, sample_weight=1e-6 * WEIGHT), X), expected, rtol=1e-4, atol=1e-4)


@given(st.floats(1e-200, 1e200), st.lists(st.sampled_from([0.0, 1e-3, 0.1, 1.0, 7.0, 123.456]), min_size=2, max_size=9))
@settings(max_examples=200)
def test_weights_of_mean_1_have_no_factor(factor, weights):
    weights = np.array([*weights, 1.0])
    found = with_mean_1(factor * weights)
    assert found == pytest.approx(with_mean_1(weights), rel=2e-7)
    assert found[weights > 0].mean() == pytest.approx(1.0, rel=1e-6)
    assert (found[weights == 0] == 0).all()

"""Accuracy and R^2 to the last digit as scikit-learn gives them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import accuracy_score, check_scoring, make_scorer, r2_score

from spotsvm.cross_validation.shared_folds import FoldAnswer, is_own_score, own_score, ranks
from spotsvm.estimators.dual.one_vs_one import chosen_classes

SEEDS = st.integers(0, 10_000)


@settings(max_examples=80, deadline=None)
@given(SEEDS, st.sampled_from([np.float64, np.float32, np.int64]))
def test_r2(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 400))
    y = (100 * rng.standard_normal(n)).astype(kind)
    if seed % 10 == 0:
        y[:] = 3
    predicted = y + rng.standard_normal((n, 1)).T * 10.0 ** rng.uniform(-6, 3) if seed % 7 else y[None].astype(float)
    assert own_score(FoldAnswer(None, predicted.T, "ovr", False), predicted.T, y) == r2_score(y, predicted[0])


def test_r2_of_one_row():
    decisions = np.ones((1, 1))
    with pytest.warns(UndefinedMetricWarning):
        assert np.isnan(own_score(FoldAnswer(None, decisions, "ovr", False), decisions, np.ones(1)))


@settings(max_examples=60, deadline=None)
@given(SEEDS, st.integers(2, 4), st.booleans())
def test_accuracy(seed, n_classes, break_ties):
    rng = np.random.default_rng(seed)
    classes = np.array(["a", "bb", "c", "d"])[:n_classes]
    n = int(rng.integers(1, 60))
    decisions = rng.standard_normal((n, n_classes * (n_classes - 1) // 2))
    y = classes[rng.integers(n_classes, size=n)]
    expected = accuracy_score(y, classes[chosen_classes(decisions, n_classes, break_ties)])
    assert own_score(FoldAnswer(classes, decisions, "ovr", break_ties), decisions, y) == expected


def test_which_scorers_are_the_estimators_own():
    classifier, regressor = DummyClassifier(), DummyRegressor()
    assert is_own_score(check_scoring(classifier, None), False)
    assert is_own_score(check_scoring(classifier, "accuracy"), False)
    assert is_own_score(check_scoring(regressor, "r2"), True)
    others = ["balanced_accuracy", "roc_auc", make_scorer(accuracy_score, normalize=False)]
    others += [make_scorer(accuracy_score, greater_is_better=False)]
    for scoring in others:
        assert not is_own_score(check_scoring(classifier, scoring), False)
    for scoring in ("neg_mean_squared_error", make_scorer(r2_score, force_finite=False)):
        assert not is_own_score(check_scoring(regressor, scoring), True)
    assert ranks(check_scoring(classifier, "roc_auc"))
    assert not ranks(check_scoring(classifier, "accuracy"))
    assert not ranks(check_scoring(classifier, None))

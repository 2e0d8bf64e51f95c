import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, get_scorer_names
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from spotsvm import mean_class_accuracy, mean_class_accuracy_scorer
from spotsvm.errors import ArgumentError
from spotsvm.trials.metrics import metric_words, named_scorer


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30))
def test_it_is_scikit_learn_s_balanced_accuracy(rows):
    true, predicted = zip(*rows, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = balanced_accuracy_score(true, predicted)
    assert mean_class_accuracy(true, predicted) == pytest.approx(expected)


def test_equation_16_by_hand_and_with_weights_of_rows():
    """Each of the 70 rows of class 5 counts as much as 27 of the 1880 of class 3."""
    sizes = [228, 1528, 1880, 731, 70]
    right = [200, 1500, 1880, 0, 35]
    true = np.repeat(np.arange(1, 6), sizes)
    predicted = np.concatenate([np.repeat([k, k % 5 + 1], [r, n - r]) for k, r, n in zip(range(1, 6), right, sizes, strict=True)])
    by_hand = sum(r / n for r, n in zip(right, sizes, strict=True)) / 5
    assert mean_class_accuracy(true, predicted) == pytest.approx(by_hand)
    true, predicted = [0, 0, 1, 1, 2], [0, 1, 1, 0, 0]
    weights = np.array([3.0, 1.0, 1.0, 1.0, 2.0])
    assert mean_class_accuracy(true, predicted, sample_weight=weights) == pytest.approx((0.75 + 0.5 + 0) / 3)
    assert mean_class_accuracy(true, predicted, sample_weight=weights * [1, 1, 1, 1, 0]) == pytest.approx((0.75 + 0.5) / 2)
    assert mean_class_accuracy(["a", "a", "b"], ["c", "a", "b"]) == 0.75, "a class that only the predictions have is no warning"


def test_scorers_by_name():
    X, y = load_iris(return_X_y=True)
    X, y = X[rows := np.r_[0:50, 50:60, 100:140]], y[rows]
    scores = cross_val_score(SVC(), X, y, cv=3, scoring=mean_class_accuracy_scorer)
    np.testing.assert_allclose(scores, cross_val_score(SVC(), X, y, cv=3, scoring="balanced_accuracy"))
    assert named_scorer("mean_class_accuracy") is mean_class_accuracy_scorer
    assert "mean_class_accuracy" not in get_scorer_names()
    assert named_scorer("accuracy")._score_func([1, 0], [1, 1]) == 0.5
    with pytest.raises(ArgumentError, match="'mean_class_acuracy' is unknown; use mean_class_accuracy"):
        named_scorer("mean_class_acuracy")


def test_names_of_scores_as_words():
    names = ["neg_root_mean_squared_error", "roc_auc_ovr", "f1_macro"]
    assert [metric_words(name) for name in names] == ["negative root mean squared error", "ROC AUC ovr", "F1 macro"]

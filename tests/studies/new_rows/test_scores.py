import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, r2_score, roc_auc_score
from sklearn.svm import SVC, SVR

from spotsvm.studies.new_rows.scores import of_probabilities, scores
from spotsvm.studies.new_rows.sets import Split
from spotsvm.studies.new_rows.sources import CLASSIFICATION, REGRESSION


def data(classes=2, n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 2)), columns=["a", "b"])
    y = np.digitize(X["a"] + rng.standard_normal(n), np.linspace(-1, 1, classes + 1)[1:-1]) if classes else X["a"].to_numpy()
    return Split(X[:60], y[:60], X[60:], y[60:])


def test_scores_of_regression():
    split = data(0)
    model = SVR().fit(split.X, split.y)
    found = scores(model, REGRESSION, split)
    unexplained = 1 - r2_score(split.new_y, model.predict(split.new_X))
    assert found["error"] == pytest.approx(100 * unexplained)
    assert found["rmse"] == pytest.approx(np.sqrt(unexplained))
    assert np.isnan([found[name] for name in ("log_loss", "auc", "brier", "calibration_error")]).all()


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_of_probabilities(classes):
    split = data(classes)
    model = LogisticRegression().fit(split.X, split.y)
    given = model.predict_proba(split.new_X)
    found = scores(model, CLASSIFICATION, split)
    assert found["error"] == pytest.approx(100 * (1 - model.score(split.new_X, split.new_y)))
    assert found["log_loss"] == pytest.approx(log_loss(split.new_y, given))
    expected = roc_auc_score(split.new_y, given[:, 1] if classes == 2 else given, multi_class="ovr")
    assert found["auc"] == pytest.approx(expected)
    hot = split.new_y[:, None] == model.classes_
    assert found["brier"] == pytest.approx(((given - hot) ** 2).sum(axis=1).mean())
    if classes == 2:
        assert found["brier"] == pytest.approx(2 * brier_score_loss(split.new_y, given[:, 1]))


def test_scores_without_probabilities():
    split = data(2)
    model = SVC().fit(split.X, split.y)
    found = scores(model, CLASSIFICATION, split)
    assert found["auc"] == pytest.approx(roc_auc_score(split.new_y, model.decision_function(split.new_X)))
    assert np.isnan([found["log_loss"], found["brier"]]).all()


def test_a_class_that_the_model_does_not_know_has_probability_zero():
    split = data(3)
    known = split.y < 2
    model = DummyClassifier(strategy="prior").fit(split.X[known], split.y[known])
    found = scores(model, CLASSIFICATION, split)
    assert np.isfinite(list(found[name] for name in ("log_loss", "auc", "brier"))).all()
    assert found["log_loss"] > 5


def test_the_calibration_error_of_probabilities_whose_accuracy_is_known():
    classes, y = np.array([0, 1]), np.array([0, 0, 0, 1] * 25)
    sure = np.column_stack([np.full(100, 0.75), np.full(100, 0.25)])
    assert of_probabilities(sure, y, classes)["calibration_error"] == pytest.approx(0)
    too_sure = np.column_stack([np.full(100, 0.95), np.full(100, 0.05)])
    assert of_probabilities(too_sure, y, classes)["calibration_error"] == pytest.approx(0.2)
    # two bins, each 0.1 too sure
    two = np.column_stack([np.where(np.arange(100) % 4 < 2, 0.65, 0.85), np.where(np.arange(100) % 4 < 2, 0.35, 0.15)])
    right = np.where(np.arange(100) % 4 < 2, np.arange(100) % 8 < 4, True)
    found = of_probabilities(two, np.where(right, 0, 1), classes)["calibration_error"]
    assert found == pytest.approx((abs(0.65 - right[np.arange(100) % 4 < 2].mean()) + 0.15) / 2)

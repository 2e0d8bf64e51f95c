"""A threshold and class weights reach predictions, scores, the default model and the constant, out of fold and held out alike."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score
from sklearn.svm import SVC

from spotsvm import TunedSVC
from spotsvm.errors import ArgumentError


def rare(n, seed=0, labels=(0, 1)):
    rng = np.random.default_rng(seed)
    code = (rng.random(n) < 0.12).astype(int)
    return rng.normal(size=(n, 3)) + 1.2 * code[:, None], np.array(labels)[code]


X, Y = rare(180)
X_HELD, Y_HELD = rare(60, 1)
SCORES = {"accuracy": accuracy_score, "balanced_accuracy": balanced_accuracy_score, "f1": f1_score}


@pytest.fixture(scope="module", params=list(SCORES))
def by_threshold(request):
    return TunedSVC(scoring=request.param, threshold=0.12, budget=2, random_state=0).fit(X, Y)


def test_scores_count_the_predictions_by_the_threshold(by_threshold):
    model, score = by_threshold, SCORES[by_threshold.scoring]
    np.testing.assert_array_equal(model.predict(X_HELD), (model.predict_proba(X_HELD)[:, 1] > 0.12).astype(int))
    assert model.expected_score_.on_all_rows == pytest.approx(score(Y, model.oof_predict_proba_[:, 1] > 0.12))
    assert model.score(X_HELD, Y_HELD) == pytest.approx(score(Y_HELD, model.predict(X_HELD)))
    default = model.default_estimator().fit(X, Y)
    np.testing.assert_array_equal(default.predict(X_HELD), (default.predict_proba(X_HELD)[:, 1] >= 0.12).astype(int))
    model.add_held_out(X_HELD, Y_HELD, default)
    assert model.expected_score_.held_out == pytest.approx(score(Y_HELD, model.predict(X_HELD)))
    assert model.default_score_.held_out == pytest.approx(score(Y_HELD, default.predict(X_HELD)))
    share = np.mean(Y == 1)
    assert model.constant_score_.held_out == pytest.approx(score(Y_HELD, np.full(60, int(share >= 0.12))))
    words = "predicted to be of the class 1 if its probability is 0.12 or more"
    assert words in model.methods_section().markdown()


def test_the_threshold_is_that_of_the_positive_class():
    given = {"scoring": "balanced_accuracy", "budget": 1, "random_state": 0}
    second = TunedSVC(threshold=0.12, **given).fit(X, Y)
    labels = np.array(["ok", "ill"])[Y]  # the rare class comes first in the alphabet
    first = TunedSVC(threshold=0.12, pos_label="ill", **given).fit(X, labels)
    np.testing.assert_array_equal(first.predict(X_HELD) == "ill", first.predict_proba(X_HELD)[:, 0] >= 0.12)
    assert first.expected_score_.value == pytest.approx(second.expected_score_.value, abs=0.05)
    default = first.default_estimator().fit(X, labels)
    first.add_held_out(X_HELD, np.array(["ok", "ill"])[Y_HELD], default)
    assert first.verdict_.rows == {"out of fold": 180, "held out": 60}
    assert "of the class" not in first.fit_facts_.score_title


@pytest.mark.parametrize(
    ("given", "y", "message"),
    [
        ({"threshold": 1.0}, Y, "threshold=1.0; use a probability between 0 and 1, such as 0.2, or None"),
        ({"threshold": "low"}, Y, "threshold='low'; use a probability"),
        ({"threshold": 0.2}, np.arange(180) % 3, "threshold=0.2, and y has 3 classes; use it for two, or None"),
        ({"threshold": 0.2}, np.array(["no", "yes"])[Y], "threshold=0.2 is of the class 1, .*; pass pos_label='yes' as well"),
        ({"threshold": 0.2, "pos_label": 2}, Y, "pos_label=2 is no class of y, which has 0 and 1"),
        ({"threshold": 0.2, "space": {"class_weight__1": (1.0, 9.0)}}, Y, "which moves the threshold too; use one of them"),
    ],
)
def test_thresholds_that_cannot_be_used(given, y, message):
    with pytest.raises(ArgumentError, match=message):
        TunedSVC(budget=None if "space" in given else 1, random_state=0, **given).fit(X, y)


@pytest.mark.parametrize("weights", ["balanced", {0: 1.0, 1: 8.0}])
def test_the_default_has_the_class_weights_on_both_kinds_of_rows(weights):
    model = TunedSVC(scoring="balanced_accuracy", class_weight=weights, budget=1, random_state=0).fit(X, Y)
    default = model.default_estimator().fit(X, Y)
    assert default[-1].get_params() == SVC(class_weight=weights).get_params()
    plain = TunedSVC(scoring="balanced_accuracy", budget=1, random_state=0).fit(X, Y)
    assert model.default_score_.value > plain.default_score_.value
    model.add_held_out(X_HELD, Y_HELD, default)
    assert model.default_score_.held_out == balanced_accuracy_score(Y_HELD, default.predict(X_HELD))
    assert f"SVC(class_weight={weights!r})" in model.methods_section().markdown()


def test_the_probabilities_of_the_default_are_those_of_weighted_rows():
    """Without weights the calibration would undo the class weights: the probabilities would have the mean of the share."""
    means = []
    for weights in (None, "balanced"):
        model = TunedSVC(scoring="neg_log_loss", class_weight=weights, budget=1, random_state=0).fit(X, Y)
        default = model.default_estimator().fit(X, Y)
        means.append(default.predict_proba(X)[:, 1].mean())
    assert means[0] == pytest.approx(np.mean(Y), abs=0.03)
    assert means[1] > 0.25


def test_weights_of_held_out_rows_count_in_the_scores():
    model = TunedSVC(budget=1, random_state=0).fit(X, Y)
    default = model.default_estimator().fit(X, Y)
    weights = np.where(Y_HELD == 1, 5.0, 1.0)
    model.add_held_out(X_HELD, Y_HELD, default, sample_weight=weights)
    assert model.expected_score_.held_out == pytest.approx(accuracy_score(Y_HELD, model.predict(X_HELD), sample_weight=weights))
    with pytest.raises(ArgumentError, match="sample_weight has shape"):
        model.add_held_out(X_HELD, Y_HELD, default, sample_weight=weights[1:])

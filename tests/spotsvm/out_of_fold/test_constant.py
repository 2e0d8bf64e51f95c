"""The constant of a search and of a tuned model: one answer for the same rows, whatever the weights are."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC, SVR

from spotsvm import SpotSearchCV, TunedSVC, TunedSVR, tuning_verdict

X, CODE = make_classification(90, 3, n_informative=3, n_redundant=0, weights=[0.8], random_state=0)
Y = np.where(CODE, "ill", "well")
WEIGHT = np.random.default_rng(0).choice([0.5, 1.0, 2.0], 90)
SPLITS = list(StratifiedKFold(3, shuffle=True, random_state=2).split(X, Y))
#: a search draws its seed from its random state
SEED = int(np.random.RandomState(0).randint(2**31 - 1))


def numbers(score):
    return [score.value, *score.interval]


@pytest.mark.parametrize("weights", [None, "balanced", {"ill": 20.0, "well": 1.0}], ids=str)
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy"])
def test_weights_of_classes_do_not_weaken_it(weights, scoring):
    tuned = TunedSVC(budget=1, cv=SPLITS, class_weight=weights, scoring=scoring, random_state=SEED).fit(X, Y)
    search = SpotSearchCV(SVC(class_weight=weights), {"C": [1.0, 9.0]}, n_iter=2, cv=SPLITS, scoring=scoring, random_state=0)
    search.fit(X, Y)
    constant = get_scorer(scoring)(DummyClassifier().fit(X, Y), X, Y)
    for model in (tuned, search):
        assert model.constant_score_.value == pytest.approx(constant, abs=0.01)
    assert numbers(search.constant_score_) == pytest.approx(numbers(tuned.constant_score_), rel=1e-9)
    assert tuned.verdict_.over_constant.value == pytest.approx(tuned.expected_score_.value - tuned.constant_score_.value)
    gain = tuning_verdict(search, X, Y)
    assert gain.over_constant.value == pytest.approx(search.expected_score_.value - search.constant_score_.value)
    tuned.add_held_out(X, Y, tuned.default_estimator().fit(X, Y))
    assert tuned.constant_score_.held_out == pytest.approx(constant)


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_probabilities_are_the_shares_of_the_classes(weights):
    tuned = TunedSVC(budget=1, cv=SPLITS, class_weight=weights, scoring="neg_log_loss", random_state=SEED).fit(X, Y)
    shares = np.array([CODE.mean(), 1.0 - CODE.mean()])
    assert -tuned.constant_score_.value == pytest.approx(-(shares * np.log(shares)).sum(), abs=0.01)


@pytest.mark.parametrize("weights", [None, "balanced"])
def test_rows_count_as_in_the_scores(weights):
    tuned = TunedSVC(budget=1, cv=SPLITS, class_weight=weights, random_state=SEED).fit(X, Y, sample_weight=WEIGHT)
    with config_context(enable_metadata_routing=True):
        machine = SVC(class_weight=weights).set_fit_request(sample_weight=True)
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = SpotSearchCV(machine, {"C": [1.0, 9.0]}, n_iter=2, cv=SPLITS, scoring=scorer, random_state=0)
        search.fit(X, Y, sample_weight=WEIGHT)
    assert numbers(search.constant_score_) == pytest.approx(numbers(tuned.constant_score_), rel=1e-9)
    assert tuned.constant_score_.value == pytest.approx(np.average(CODE == 0, weights=WEIGHT), abs=0.01)


def test_it_is_the_mean_in_regression():
    y = X[:, 0] + 0.5 * X[:, 1] ** 2
    tuned = TunedSVR(budget=1, cv=SPLITS, random_state=SEED).fit(X, y)
    search = SpotSearchCV(SVR(), {"C": [1.0, 9.0]}, n_iter=2, cv=SPLITS, random_state=0).fit(X, y)
    assert numbers(search.constant_score_) == pytest.approx(numbers(tuned.constant_score_), rel=1e-6)

"""The choice among settings by their answers for judged rows, and the score to expect of it."""

import numpy as np
import pytest
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV, GroupKFold, KFold, RepeatedStratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from spotsvm import SpotSearchCV, expected_score
from spotsvm.errors import ArgumentError
from spotsvm.luck.drawn import expected_of
from spotsvm.luck.scores import score_of
from spotsvm.out_of_fold.combination import Rule, choose, combine
from spotsvm.out_of_fold.judged_rows import Answers, JudgedRows


class ProbabilityBeside(LogisticRegression):
    """Decisions and predictions that agree, and probabilities that do not, as of an SVC with probability=True."""

    def predict_proba(self, X):
        p = super().predict_proba(X)
        p[:, 1] *= 0.5
        p[:, 0] = 1.0 - p[:, 1]
        return p


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))


def combined(values, y, metric="accuracy", seed=0, classes=(0, 1), average=True):
    """The average of settings with these decisions, or the single best, for rows without weights."""
    rows = JudgedRows(y, y, np.array(classes), np.ones(len(y)), np.ones(len(y)))
    answers = Answers("decision_function", values)
    score = score_of(metric, np.array(classes))
    rule = Rule(score, average, 5)
    return combine(rows, answers, rule, choose(rows, answers, rule, seed), score)


def expected(combination, metric="accuracy"):
    return expected_of([combination.drawn], metric, "draws")


def test_repeated_folds_do_not_make_an_ensemble_of_one_candidate():
    flat = RNG.normal(size=(150, 5)), RNG.integers(2, size=150)
    cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
    rows, y = flat[0], np.where(RNG.random(150) < 0.3, flat[1], (flat[0][:, 0] > 0).astype(int))
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [None]}, cv=cv).fit(rows, y)
    once = list(cv.split(rows, y))[:5]
    assert expected_score(search, rows, y).value == pytest.approx(
        GridSearchCV(search.estimator, {"max_depth": [None]}, cv=once).fit(rows, y).best_score_, abs=0.02
    )


def test_a_single_candidate_is_judged_by_its_predictions():
    y = (X[:, 0] + RNG.normal(size=60) > 0).astype(int)
    cut = FixedThresholdClassifier(LogisticRegression(), threshold=0.9)
    for model in (cut, ProbabilityBeside()):
        search = GridSearchCV(model, {}, cv=KFold(4)).fit(X, y)
        assert expected_score(search, X, y).value == pytest.approx(search.best_score_, abs=0.02)


def test_f1_of_other_classes_is_judged_by_the_chosen_candidate():
    y = (X[:, 0] > 0) + 1
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, scoring="f1", cv=3).fit(X, y)
    assert expected_score(search, X, y).value == pytest.approx(search.best_score_, abs=0.1)


def test_what_expected_score_cannot_judge_is_an_error_that_says_why():
    y = (X[:, 0] > 0).astype(int)

    def search(**options):
        return GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, **({"cv": 3} | options)).fit(X, y)

    with pytest.raises(ArgumentError, match="search has refit=False, so it has no winner"):
        expected_score(search(refit=False), X, y)
    with pytest.raises(ArgumentError, match="several metrics and refit=<function .*; let refit name one of them"):
        expected_score(search(scoring=["accuracy", "roc_auc"], refit=lambda results: 0), X, y)
    with pytest.raises(ArgumentError, match="cv=generator, an exhausted iterator.*pass a list of splits"):
        expected_score(search(cv=KFold(3).split(X)), X, y)

    def own_score(estimator, X, y):
        return estimator.score(X, y)

    def of_columns(estimator, X, y):
        return (estimator.predict(X) == y)[X[:, 0] > 0].mean()

    for scorer in (own_score, of_columns):
        with pytest.raises(ArgumentError, match="cannot score drawn rows: .* Use a scorer of make_scorer"):
            expected_score(search(scoring=scorer), X, y)


def test_a_target_of_several_labels_and_groups_that_are_missing():
    rows, labels = make_multilabel_classification(60, n_classes=3, random_state=0)
    search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 4]}, cv=KFold(3)).fit(rows, labels)
    found = expected_score(search, rows, labels)
    # a row counts only if all its labels are right
    assert found.value == pytest.approx(search.best_score_, abs=0.1)
    assert found.known
    y, groups = (X[:, 0] > 0).astype(int), np.arange(60) // 3
    grouped = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=GroupKFold(3)).fit(X, y, groups=groups)
    assert expected_score(grouped, X, y, groups=groups).known
    with pytest.raises(
        ArgumentError, match=r"cv=GroupKFold draws whole groups; call expected_score\(search, X, y, groups=groups\)"
    ):
        expected_score(grouped, X, y)


@pytest.mark.parametrize("average", [False, True])
def test_the_score_to_expect_of_the_best_of_many_guesses_is_that_of_a_guess(average):
    naive, scores, covered = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, answers = rng.integers(2, size=100), rng.normal(size=(10, 100, 1))
        hits = ((answers[..., 0] > 0) == y).mean(axis=1)
        found = expected(combined(answers[np.argsort(-hits)], y, seed=seed, average=average))
        naive.append(hits.max())
        scores.append(found.value)
        covered.append(found.interval[0] <= 0.5 <= found.interval[1])
    assert np.mean(naive) > 0.56
    assert np.mean(scores) == pytest.approx(0.5, abs=0.05)  # the .632 rule keeps some of what is too high
    assert np.mean(covered) >= 0.9


def test_a_perfect_score_is_no_certainty_and_f1_is_of_class_one():
    y = np.arange(40) % 2
    perfect = (2.0 * y - 1.0)[None, :, None]
    found = expected(combined(perfect, y, average=False))
    assert found.value == 1.0
    assert 0.8 < found.interval[0] < found.interval[1] == 1.0
    assert expected(combined(-perfect, 1 - y, "f1", classes=(1, 2))).to_dict() == expected(combined(perfect, y, "f1")).to_dict()


def test_an_average_has_the_answers_that_predict_agrees_with():
    y = (X[:, 0] > 0).astype(int)
    strict = FixedThresholdClassifier(LogisticRegression(), threshold=0.9)

    def response(model, **options):
        space = {"estimator__C" if model is strict else "C": [0.5, 1.0]}
        search = SpotSearchCV(model, space, n_iter=2, cv=KFold(3), random_state=0, **{"refit": "average", **options}).fit(X, y)
        return search.out_of_fold_.responding

    assert response(LogisticRegression()) == "predict_proba"
    assert response(strict) == "predict"
    assert response(strict, scoring="neg_log_loss") == "predict_proba"
    assert response(ProbabilityBeside()) == "predict"  # the answers are probabilities, which predictions do not follow
    assert response(ProbabilityBeside(), calibrate=True) == "decision_function"
    assert response(ProbabilityBeside(), refit=True) == "predict"
    assert response(ProbabilityBeside(), scoring="roc_auc") == "decision_function"


def test_half_of_the_weight_comes_from_log_loss():
    """Two settings that predict the same classes differ in their probabilities; votes alone have no log loss."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    sure = (2.0 * y - 1.0) * np.where(rng.random(300) < 0.8, 1.0, -1.0)
    size = np.where(sure * (2.0 * y - 1.0) > 0, rng.uniform(1, 3, 300), rng.uniform(0.0, 0.5, 300))
    values = np.stack([sure, sure * size])[..., None].astype(np.float32)
    weights = {metric: combined(values, y, metric).weights for metric in ("accuracy", "neg_log_loss")}
    assert weights["accuracy"] == pytest.approx([0.25, 0.75], abs=0.08)  # equal by accuracy
    assert weights["neg_log_loss"] == pytest.approx([0.0, 1.0], abs=0.02)
    assert combined(values, y, average=False).weights.max() == 1.0

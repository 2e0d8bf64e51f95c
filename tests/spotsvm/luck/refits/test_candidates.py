"""Out-of-fold answers of candidates, and the score to expect of the choice among them."""

import numpy as np
import pytest
from scipy.stats import loguniform
from sklearn.datasets import make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from spotsvm import SpotSearchCV, expected_score
from spotsvm.cross_validation.fold_answers import common_responses, respond
from spotsvm.errors import ArgumentError
from spotsvm.luck.drawn import expected_of
from spotsvm.luck.refits import search_rows as module
from spotsvm.luck.refits.candidates import POOL, OutOfFold, as_decisions, combined, out_of_fold


class ProbabilityBeside(LogisticRegression):
    """Decisions and predictions that agree, and probabilities that do not, as of an SVC with probability=True."""

    def predict_proba(self, X):
        p = super().predict_proba(X)
        p[:, 1] *= 0.5
        p[:, 0] = 1.0 - p[:, 1]
        return p


RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.digitize(X[:, 0] + RNG.normal(size=60), [-0.5, 0.5])


def decided(answers, y, classes=(0, 1)):
    """Answers of classifiers without weights."""
    n, rows = len(y), np.ones(len(y))
    factors = np.ones((len(answers), len(classes)))
    everyone = list(range(len(answers)))
    return OutOfFold(everyone, "decision_function", answers, np.arange(n), y, np.array(classes), rows, rows, factors)


def test_a_class_that_a_fold_lacks_has_no_probability_and_the_lowest_decision():
    classes, two = np.array([0, 1, 2]), Y < 2
    p = respond(GaussianNB().fit(X[two], Y[two]), X, "predict_proba", classes)
    assert (p[:, 2] == 0).all()
    assert p.sum(axis=1) == pytest.approx(1.0)
    for model in (SVC().fit(X[two], Y[two]), SVC().fit(X, Y)):
        d = respond(model, X, "decision_function", classes)
        assert (classes[d.argmax(axis=1)] == model.predict(X)).mean() > 0.95
    one = respond(DummyClassifier().fit(X[Y == 1], Y[Y == 1]), X, "predict_proba", np.array([0, 1]))
    assert (one == 0.5).all()  # of two classes the second is certain
    assert respond(DecisionTreeClassifier().fit(X, Y), X, "predict", classes).sum() == 60


def test_probabilities_become_log_odds():
    assert as_decisions(np.array([[0.0], [0.25]]), "predict_proba") == pytest.approx(np.array([[0.0], [np.log(3.0)]]))
    assert as_decisions(np.array([[2.0]]), "decision_function").tolist() == [[2.0]]


def test_probabilities_are_averaged_where_all_have_them():
    tree, svc = DecisionTreeClassifier(), SVC()
    assert common_responses([tree, tree], 2) == ["predict_proba", "predict"]
    assert common_responses([svc, svc], 3) == ["decision_function", "predict"]
    assert common_responses([tree, svc], 2) == ["predict"]
    assert common_responses([SVC(decision_function_shape="ovo")], 3) == ["predict"]
    assert common_responses([SVC(decision_function_shape="ovo")], 2) == ["decision_function", "predict"]


def test_rows_in_several_test_sets_have_the_answer_of_the_first():
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = DecisionTreeRegressor(max_depth=2)
    out = out_of_fold([model, model], X, X[:, 0], list(cv.split(X)), classifier=False)
    first = cross_val_predict(model, X, X[:, 0], cv=list(cv.split(X))[:3])
    assert out.answers[1, :, 0] == pytest.approx(first)
    some = out_of_fold([model], X, X[:, 0], list(cv.split(X))[:1], classifier=False)
    assert len(some.rows) == 20
    drawn = list(ShuffleSplit(4, test_size=0.4, random_state=0).split(X))
    out = out_of_fold([model], X, X[:, 0], drawn, classifier=False)
    for row, answer in zip(out.rows, out.answers[0, :, 0], strict=True):
        train = next(train for train, test in drawn if row in test)
        assert answer == pytest.approx(model.fit(X[train], X[train, 0]).predict(X[[row]])[0])


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


def test_an_average_has_the_answers_that_predict_agrees_with():
    y, splits = (X[:, 0] > 0).astype(int), list(KFold(3).split(X))

    def response(model, metric="accuracy", **options):
        return out_of_fold([model, model], X, y, splits, classifier=True, metric=metric, **options).response

    assert response(LogisticRegression()) == "predict_proba"
    assert response(FixedThresholdClassifier(LogisticRegression(), threshold=0.9)) == "predict"
    assert response(FixedThresholdClassifier(LogisticRegression(), threshold=0.9), "neg_log_loss") == "predict_proba"
    assert response(FixedThresholdClassifier(LogisticRegression(), threshold=0.9), "average_precision") == "predict_proba"
    assert response(ProbabilityBeside()) == "decision_function"
    assert response(ProbabilityBeside(), calibrated=True) == "decision_function"
    assert response(ProbabilityBeside(), average=False) == "predict"
    assert response(ProbabilityBeside(), "roc_auc", average=False) == "decision_function"


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


def test_answers_that_are_known_need_no_fit():
    splits = list(KFold(3).split(X))
    known = [[np.full((20, 1), float(k)) for k in range(3)], None]
    out = out_of_fold([DecisionTreeRegressor(), DecisionTreeRegressor()], X, X[:, 0], splits, classifier=False, known=known)
    assert out.answers[0, :, 0].tolist() == np.repeat([0.0, 1.0, 2.0], 20).tolist()
    assert np.ptp(out.answers[1]) > 0


def expected(combination, metric="accuracy"):
    return expected_of([combination.drawn], metric, "draws")


@pytest.mark.parametrize("average", [False, True])
def test_the_score_to_expect_of_the_best_of_many_guesses_is_that_of_a_guess(average):
    naive, scores, covered = [], [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        y, answers = rng.integers(2, size=100), rng.normal(size=(10, 100, 1))
        hits = ((answers[..., 0] > 0) == y).mean(axis=1)
        found = expected(combined(decided(answers[np.argsort(-hits)], y), "accuracy", seed, average=average))
        naive.append(hits.max())
        scores.append(found.value)
        covered.append(found.interval[0] <= 0.5 <= found.interval[1])
    assert np.mean(naive) > 0.56
    assert np.mean(scores) == pytest.approx(0.5, abs=0.05)  # the .632 rule keeps some of what is too high
    assert np.mean(covered) >= 0.9


def test_a_perfect_score_is_no_certainty_and_f1_is_of_class_one():
    y = np.arange(40) % 2
    out = decided((2.0 * y - 1.0)[None, :, None], y)
    found = expected(combined(out, "accuracy", 0, average=False))
    assert found.value == 1.0
    assert 0.8 < found.interval[0] < found.interval[1] == 1.0
    assert combined(out, "f1", 0).drawn is not None
    same = expected(combined(decided(-out.answers, 1 - y, [1, 2]), "f1", 0))
    assert same == expected(combined(out, "f1", 0))
    assert combined(decided(out.answers, y, ["no", "yes"]), "f1", 0).drawn is None


@pytest.mark.parametrize(
    ("y", "estimator", "refit"),
    [
        (Y > 0, SVC(), True),
        (X[:, 0], SVR(), True),
        (Y, SVC(), True),
        (Y > 0, SVC(), "average"),
        (Y > 0, LogisticRegression(), True),
    ],
)
def test_all_candidates_take_part(y, estimator, refit, monkeypatch):
    """Of an average those that took part in its fit."""
    search = SpotSearchCV(estimator, {"C": loguniform(0.01, 100)}, n_iter=14, sweep=None, refit=refit, random_state=0).fit(X, y)
    compared = []

    def noting(out, *args, **options):
        compared.append(len(out.kept))
        return combined(out, *args, **options)

    monkeypatch.setattr(module, "combined", noting)
    expected_score(search, X, y)
    different = len({repr(params) for params in search.cv_results_["params"]})
    assert POOL < different
    assert compared == [POOL if refit == "average" else different]


def test_some_luck_is_taken_off_where_labels_are_coins():
    """Their accuracy on new rows is 0.5."""
    left, luck = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows, coins = rng.normal(size=(40, 8)), rng.permutation([0, 1] * 20)
        space = {"C": loguniform(0.1, 1000), "gamma": loguniform(1e-3, 10)}
        search = SpotSearchCV(SVC(), space, n_iter=12, random_state=0).fit(rows, coins)
        left.append(expected_score(search, rows, coins).value - 0.5)
        luck.append(search.best_score_ - 0.5)
    assert np.mean(left) < 0.75 * np.mean(luck)

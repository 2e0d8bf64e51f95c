import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.svm import SVC

from spotsvm.luck.drawn import unseen_score
from spotsvm.luck.draws import block_length
from spotsvm.luck.rows import _UNCHECKED, RememberedPredictions, Unseen
from spotsvm.trials.metrics import named_scorer

X, Y = load_iris(return_X_y=True, as_frame=True)
TRAIN, TEST = X.iloc[::2], X.iloc[1::2]
CLASSES, TRUTH = Y.iloc[::2], Y.iloc[1::2]


def score_with_error(scorer, unseen, seed):
    found = unseen_score(unseen, scorer, "score", seed)
    return found.value, found.error


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss"])
def test_the_score_is_the_scorer_s(scoring):
    fitted = LogisticRegression(max_iter=500).fit(TRAIN, CLASSES)
    score, error = score_with_error(get_scorer(scoring), Unseen.held_out(fitted, TEST, TRUTH), 0)
    assert score == pytest.approx(get_scorer(scoring)(fitted, TEST, TRUTH))
    assert error > 0


def test_scores_of_draws_without_checks_are_the_scorer_s():
    rng = np.random.default_rng(0)
    classes = Unseen.held_out(LogisticRegression().fit(TRAIN[["sepal width (cm)"]], CLASSES), TEST[["sepal width (cm)"]], TRUTH)
    numbers = Unseen.held_out(LinearRegression().fit(TRAIN, CLASSES), TEST, TRUTH)
    errors = ["neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error"]
    scorers = {name: named_scorer(name) for name in ["accuracy", "balanced_accuracy", "mean_class_accuracy", *errors]}
    assert {scorer._score_func for scorer in scorers.values()} == set(_UNCHECKED)
    for name, scorer in scorers.items():
        unseen = numbers if name in errors else classes
        for rows in rng.integers(75, size=(20, 12)):
            checked = unseen.score(scorer, rows)
            with config_context(assume_finite=True):
                assert unseen.score(scorer, rows) == pytest.approx(checked, rel=1e-12)


@pytest.mark.parametrize("columns", ["of the target", "of the predictions", "of both"])
def test_a_single_column_is_scored_as_a_vector(columns):
    class Column(LogisticRegression):
        def predict(self, X):
            found = super().predict(X)
            return found if columns == "of the target" else found[:, None]

    fitted = Column().fit(TRAIN, CLASSES)
    truth = TRUTH if columns == "of the predictions" else TRUTH.to_frame()
    unseen, plain = (Unseen.held_out(fitted, TEST, truth), Unseen.held_out(LogisticRegression().fit(TRAIN, CLASSES), TEST, TRUTH))
    np.testing.assert_array_equal(np.ravel(unseen.predictions), plain.predictions)
    rows = np.arange(10, 60)
    for name in ("accuracy", "balanced_accuracy", "neg_mean_absolute_error"):
        with config_context(assume_finite=True):
            assert unseen.score(get_scorer(name), rows) == plain.score(get_scorer(name), rows)


@pytest.mark.parametrize("name", ["neg_mean_absolute_error", "neg_mean_squared_error", "neg_root_mean_squared_error"])
def test_errors_of_unsigned_numbers_do_not_wrap_round(name):
    y = pd.Series([3, 1, 2, 0], dtype="uint8")
    X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]})

    class Two(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.full(len(X), 2, dtype="uint8")

    with config_context(assume_finite=True):
        drawn = Unseen.held_out(Two().fit(X, y), X, y).score(get_scorer(name), np.arange(4))
    assert drawn == get_scorer(name)(Two(), X, y)


def test_what_cannot_be_predicted_is_no_missing_score():
    fitted = SVC().fit(TRAIN, CLASSES)
    with pytest.raises(ValueError, match="contains NaN"):
        score_with_error(get_scorer("accuracy"), Unseen.held_out(fitted, TEST.mask(TEST > 6), TRUTH), 0)
    one_class = Unseen.held_out(LogisticRegression().fit(TRAIN, CLASSES), TEST[:20], TRUTH[:20])
    assert np.isnan(score_with_error(get_scorer("roc_auc_ovr"), one_class, 0)).all()


def test_remembered_responses_are_looked_up():
    fitted = SVC().fit(TRAIN, CLASSES)
    told = RememberedPredictions(fitted, TEST)
    rows = np.array([3, 3, 0])
    np.testing.assert_array_equal(told.predict(rows), fitted.predict(TEST.iloc[rows]))
    np.testing.assert_allclose(told.decision_function(rows), fitted.decision_function(TEST.iloc[rows]))
    fitted.predict = None  # each row has been predicted once
    np.testing.assert_array_equal(told.predict(rows[:1]), told.predict(rows)[:1])
    assert told.classes_.tolist() == [0, 1, 2]
    assert told.asked == {"predict", "decision_function"}
    assert not hasattr(told, "predict_proba")


def test_the_error_of_independent_rows_is_that_of_the_mean():
    rng = np.random.default_rng(0)
    x = pd.DataFrame({"x": rng.normal(size=400)})
    y = pd.Series(rng.normal(size=400))
    fitted = LinearRegression().fit(x[:200], y[:200])
    misses = abs(y[200:] - fitted.predict(x[200:]))
    _, error = score_with_error(get_scorer("neg_mean_absolute_error"), Unseen.held_out(fitted, x[200:], y[200:]), 0)
    assert error == pytest.approx(misses.std() / np.sqrt(200), rel=0.15)


def test_blocks_see_that_neighbours_depend_on_each_other():
    """Each value is there 20 times: 400 rows say as much as 20."""
    rng = np.random.default_rng(0)
    y = pd.Series(np.repeat(rng.normal(size=20), 20))
    x = pd.DataFrame({"x": np.zeros(400)})
    fitted = LinearRegression().fit(x, y * 0)
    scorer = get_scorer("neg_mean_absolute_error")
    truth = abs(y[::20]).std() / np.sqrt(20)
    alone, together = (score_with_error(scorer, Unseen.held_out(fitted, x, y, block=b), 0)[1] for b in (1, block_length(400)))
    assert alone < 0.3 * truth
    assert 0.6 * truth < together < 1.3 * truth


def test_blocks_have_as_many_rows():
    assert [block_length(n) for n in (1, 10, 400)] == [1, 3, 20]
    fitted = LinearRegression().fit(TRAIN, CLASSES)
    for n in (1, 2, 7, 10):
        score, _ = score_with_error(get_scorer("r2"), Unseen.held_out(fitted, TEST[:n], TRUTH[:n], block=4), 0)
        assert np.isnan(score) == (n == 1)


def test_rows_out_of_fold_are_predicted_as_scikit_learn_does():
    splits = list(StratifiedKFold(5, shuffle=True, random_state=3).split(X, Y))
    unseen = Unseen.out_of_fold(SVC(), X, Y, splits)
    order = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(unseen.predictions, cross_val_predict(SVC(), X, Y, cv=splits)[order])
    assert unseen.score(get_scorer("accuracy")) == pytest.approx(cross_val_score(SVC(), X, Y, cv=splits).mean())
    # R2 is that of all rows at once; probabilities of different models are compared within each
    straight = Unseen.out_of_fold(LinearRegression(), X, Y, splits)
    together = cross_val_predict(LinearRegression(), X, Y, cv=splits)
    r2 = 1 - ((Y - together) ** 2).sum() / ((Y - Y.mean()) ** 2).sum()
    assert straight.score(get_scorer("r2")) == pytest.approx(r2)
    logistic = LogisticRegression(max_iter=500)
    each = cross_val_score(logistic, X, Y, cv=splits, scoring="roc_auc_ovr")
    assert Unseen.out_of_fold(logistic, X, Y, splits).score(get_scorer("roc_auc_ovr")) == pytest.approx(each.mean())

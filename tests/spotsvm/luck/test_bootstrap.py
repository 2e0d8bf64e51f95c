"""The interval of the score to expect on new rows, against data of which the truth is known."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit
from sklearn.svm import SVC

from spotsvm import expected_score
from spotsvm.cross_validation.partitions import fresh_folds
from spotsvm.errors import ArgumentError
from spotsvm.luck.drawn import expected_of, unseen_score
from spotsvm.luck.intervals import score_interval
from spotsvm.luck.rows import Unseen


class Nearest(ClassifierMixin, BaseEstimator):
    """The class of the nearer mean: fitted and asked in microseconds."""

    def fit(self, X, y):
        self.classes_ = np.array([0, 1])
        means = np.array([X[y == k].mean(axis=0) for k in (0, 1)])
        self.direction_, self.middle_ = means[1] - means[0], means.mean(axis=0)
        return self

    def decision_function(self, X):
        return (X - self.middle_) @ self.direction_

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)


class Slope(RegressorMixin, BaseEstimator):
    """A straight line through 0."""

    def fit(self, X, y):
        self.slope_ = float(X[:, 0] @ y / (X[:, 0] @ X[:, 0]))
        return self

    def predict(self, X):
        return X[:, 0] * self.slope_


def classes(rng, n, each=1):
    """Two classes; of a group or block of `each` rows, all share most of what is random."""
    y = np.repeat(np.arange(n // each) % 2, each)
    noise = rng.normal(size=(n, 4)) if each == 1 else np.repeat(rng.normal(size=(n // each, 4)), each, axis=0)
    return noise + 0.8 * y[:, None], y


def line(rng, n, each=1):
    X = rng.normal(size=(n, 1))
    return X, X[:, 0] + np.repeat(rng.normal(size=n // each), each)


def expected(scorer, metric, out_of_fold, held_out, n_draws=200):
    parts = [
        unseen_score(unseen, scorer, metric, 0, kind, n_draws)
        for unseen, kind in ((out_of_fold, "out of fold"), (held_out, "held out"))
        if unseen is not None
    ]
    return expected_of(parts, metric, "rows")


def mae(model, rows, y):
    """As scikit-learn's scorer, which takes most of a millisecond."""
    return -float(np.mean(np.abs(y - model.predict(rows))))


def rmse(model, rows, y):
    return -float(np.sqrt(np.mean((y - model.predict(rows)) ** 2)))


def r2(model, rows, y):
    return 1 - float(((y - model.predict(rows)) ** 2).sum() / ((y - y.mean()) ** 2).sum())


def accuracy(model, rows, y):
    return float((model.predict(rows) == y).mean())


def auc(model, rows, y):
    values = model.decision_function(rows)
    ranks = np.argsort(np.argsort(values)) + 1.0
    n = y.sum()
    return float((ranks[y == 1].sum() - n * (n + 1) / 2) / (n * (len(y) - n))) if 0 < n < len(y) else float("nan")


@cache
def many(draw):
    return draw(np.random.default_rng(99), 20_000)


CASES = {
    "accuracy": (classes, Nearest(), accuracy, "accuracy", 1),
    "AUC": (classes, Nearest(), auc, "roc_auc", 1),
    "RMSE": (line, Slope(), rmse, "neg_root_mean_squared_error", 1),
    "R2": (line, Slope(), r2, "r2", 1),
    "groups": (classes, Nearest(), accuracy, "accuracy", 4),
    "series": (line, Slope(), mae, "neg_mean_absolute_error", 4),
}


@pytest.mark.parametrize("case", CASES)
def test_the_interval_covers_the_score_on_many_new_rows(case):
    """Of 40 tables of 60 training and 20 held-out rows nearly all intervals hold the truth; those of the folds' spread do not."""
    draw, model, scorer, metric, each = CASES[case]
    rng, hits, widths = np.random.default_rng(5), 0, []
    n, tables = 60 * each, 40
    groups = {"groups": np.arange(n) // each} if case == "groups" else {}
    block = 2 * each if case == "series" else 1
    folds = TimeSeriesSplit(5) if case == "series" else KFold(5)
    for _ in range(tables):
        (X, y), (X_held, y_held) = draw(rng, n, each), draw(rng, 20 * each, each)
        fitted = type(model)().fit(X, y)
        splits = list(folds.split(X)) if not groups else [(a, b) for a, b in KFold(5).split(X)]
        held = {"groups": np.arange(20 * each) // each} if groups else {}
        out_of_fold = Unseen.out_of_fold(model, X, y, splits, **groups, block=block)
        held_out = Unseen.held_out(fitted, X_held, y_held, **held, block=block)
        found = expected(scorer, metric, out_of_fold, held_out, 100)
        truth = scorer(fitted, *many(draw))
        hits += found.interval[0] <= truth <= found.interval[1]
        widths.append(found.interval[1] - found.interval[0])
    assert hits / tables >= 0.9
    # it is no interval of everything: about as wide as that of as many independent rows
    assert np.mean(widths) < (0.5 if metric in ("accuracy", "roc_auc") else 0.9)


def test_dependent_rows_say_less():
    rng = np.random.default_rng(0)
    X, y = classes(rng, 240, each=4)
    fitted = Nearest().fit(X, y)
    alone = expected(accuracy, "accuracy", None, Unseen.held_out(fitted, X, y))
    together = expected(accuracy, "accuracy", None, Unseen.held_out(fitted, X, y, np.arange(240) // 4))
    assert alone.value == together.value
    assert together.error > 1.6 * alone.error


def test_no_wrong_row_is_no_certainty():
    X, y = classes(np.random.default_rng(0), 40)
    fitted = Nearest().fit(X, X[:, 0] > 0)
    found = expected(accuracy, "accuracy", None, Unseen.held_out(fitted, X, fitted.predict(X)))
    assert found.value == 1.0
    assert found.interval == pytest.approx((1 / (1 + 2.0227**2 / 40), 1.0), rel=1e-3)  # Wilson, t of 39 degrees of freedom
    assert np.isnan(expected(rmse, "neg_root_mean_squared_error", None, Unseen.held_out(fitted, X[:1], y[:1])).interval).all()


@pytest.mark.parametrize("metric", ["accuracy", "r2", "neg_log_loss", "made_up"])
def test_an_interval_holds_its_score_and_stays_in_the_range(metric):
    least, most = {"accuracy": (0, 1), "r2": (-np.inf, 1), "neg_log_loss": (-np.inf, 0)}.get(metric, (-np.inf, np.inf))
    for score in (0.001, 0.5, 0.999):
        score = -score if metric == "neg_log_loss" else score
        low, high = score_interval(score, 0.04, 5, 12, 0.95, metric)
        assert least <= low < score < high <= most


def test_the_score_of_few_new_rows_is_less_certain():
    """Of 300 samples of 30 new rows about 95 % score within their interval."""
    rng = np.random.default_rng(1)
    hits = []
    for _ in range(30):
        (X, y), held = classes(rng, 80), classes(rng, 40)
        fitted = Nearest().fit(X, y)
        splits = list(KFold(5).split(X))
        found = expected(accuracy, "accuracy", Unseen.out_of_fold(Nearest(), X, y, splits), Unseen.held_out(fitted, *held))
        low, high = found.of_rows(30)
        assert low < found.interval[0] < found.interval[1] < high
        hits += [low <= accuracy(fitted, *classes(rng, 30)) <= high for _ in range(10)]
    assert 0.88 < np.mean(hits) <= 1.0


def hits(model, X, y):
    return float((model.predict(X) == y).mean())


def margins(model, X, y):
    return float((np.sign(model.decision_function(X)) == 2 * y - 1).mean())


@pytest.mark.parametrize("scorer", [hits, margins])
def test_the_rows_may_be_sparse_or_a_kernel_matrix(scorer):
    X, y = classes(np.random.default_rng(0), 80)
    expected = {}
    for kernel, rows in (("linear", X), ("linear", csr_matrix(X)), ("precomputed", X @ X.T)):
        search = GridSearchCV(SVC(kernel=kernel), {"C": [0.1, 1.0]}, scoring=scorer, cv=4).fit(rows, y)
        expected[kernel, type(rows)] = expected_score(search, rows, y).value
    assert list(expected.values()) == pytest.approx([expected["linear", np.ndarray]] * 3, abs=0.02)


def test_the_score_to_expect_of_a_search():
    X, y = load_diabetes(return_X_y=True)
    search = GridSearchCV(LinearRegression(), {"fit_intercept": [True, False]}, cv=KFold(4, shuffle=True, random_state=1))
    search.fit(X[:300], y[:300])
    found = expected_score(search, X[:300], y[:300])
    assert (found.metric, found.n_rows) == ("r2", 300)
    assert found.interval[0] < search.score(X[300:], y[300:]) < found.interval[1]
    assert found == expected_score(search, X[:300], y[:300])
    assert found.value == found.out_of_fold
    # the folds are others than those of the search, with which its score is that of the search
    given = list(search.cv.split(X[:300]))
    again = fresh_folds(search.cv, X[:300], y[:300], None, False, 0, given)
    assert not np.array_equal(given[0][1], again[0][1])
    several = GridSearchCV(LogisticRegression(), {"C": [1.0]}, scoring=["accuracy", "roc_auc"], refit="roc_auc")
    many_scores = expected_score(several.fit(*classes(np.random.default_rng(0), 80)), *classes(np.random.default_rng(0), 80))
    assert many_scores.metric == "roc_auc"
    assert many_scores.value > 0.7
    with pytest.raises(ArgumentError, match="confidence=2 is not between 0 and 1"):
        expected_score(search, X, y, confidence=2)

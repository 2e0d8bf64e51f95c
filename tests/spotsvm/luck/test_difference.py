import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer

from spotsvm.luck.difference import Difference, paired_difference, share_interval
from spotsvm.luck.rows import Unseen


class Told:
    """A fitted machine that answers what it was told; a column of X has its answers."""

    def __init__(self, column, kind="regressor"):
        self.column, self._estimator_type, self.classes_ = column, kind, np.array([0, 1])

    def predict(self, X):
        return X[self.column].to_numpy()

    def __sklearn_tags__(self):
        tags = DummyClassifier().__sklearn_tags__()
        tags.estimator_type = self._estimator_type
        return tags

    def fit(self, X, y):
        return self


def compare(X, y, scoring, kind, shares=False, **options):
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    first, second = ([Unseen.held_out(Told(column, kind), X, y, **options)] for column in "ab")
    found = paired_difference(scorer, first, second, 0, shares=shares)
    return found.value, found.error, found.interval


def root_mean_square(machine, rows, y):
    """As scikit-learn's scorer, which takes most of a millisecond."""
    return -float(np.sqrt(np.mean((y.to_numpy() - machine.predict(rows)) ** 2)))


def shares(rng, n, gains, loses):
    """Rows on which both machines, one or none are right; the second one is right by `gains` - `loses` more."""
    which = rng.choice(4, size=n, p=[gains, loses, 0.5, 0.5 - gains - loses])
    first, second = np.isin(which, [1, 2]), np.isin(which, [0, 2])
    return pd.DataFrame({"a": first.astype(int), "b": second.astype(int)}), pd.Series(np.ones(n, dtype=int))


@pytest.mark.parametrize(("n", "gains", "loses"), [(20, 0.1, 0.1), (40, 0.2, 0.1), (60, 0.05, 0.02), (150, 0.1, 0.05)])
def test_the_interval_of_a_difference_of_shares_covers_it(n, gains, loses):
    """The truth is known; of 2000 data sets the interval holds it in 95 %, or a little more where few rows differ."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(n, [gains, loses, 1 - gains - loses], size=2000)
    ends = np.array([share_interval(more, less, n)[1] for more, less, _ in counts])
    covered = ((ends[:, 0] <= gains - loses) & (gains - loses <= ends[:, 1])).mean()
    assert 0.93 < covered <= 1.0


def test_with_nothing_to_gain_the_interval_is_above_0_in_few_data_sets():
    rng = np.random.default_rng(0)
    counts = rng.multinomial(50, [0.15, 0.15, 0.7], size=2000)
    assert np.mean([share_interval(more, less, 50)[1][0] > 0 for more, less, _ in counts]) < 0.035


def test_shares_are_counted_by_row():
    X, y = shares(np.random.default_rng(0), 80, 0.3, 0.1)
    difference, error, interval = compare(X, y, "accuracy", "classifier", shares=True)
    assert difference == pytest.approx(X["b"].mean() - X["a"].mean())
    assert (error, interval) == share_interval(int((X["b"] > X["a"]).sum()), int((X["a"] > X["b"]).sum()), 80)
    drawn = compare(X, y, "accuracy", "regressor")
    assert drawn[:2] == pytest.approx((difference, error), rel=0.15)


@pytest.mark.parametrize("depend", ["rows", "groups", "blocks"])
def test_the_interval_of_other_scores_covers_the_truth(depend):
    """Two machines with errors of known sizes; of groups or blocks, all rows have the same error."""
    rng = np.random.default_rng(1)
    n, each, covered, n_sets = 60, 1 if depend == "rows" else 4, 0, 50
    options = {"groups": {"groups": np.arange(n) // each}, "blocks": {"block": each}}.get(depend, {})
    y = pd.Series(np.zeros(n))
    for _ in range(n_sets):
        errors = np.repeat(rng.normal(size=(n // each, 2)) * [1.0, 0.6], each, axis=0)
        _, _, (low, high) = compare(pd.DataFrame(errors, columns=["a", "b"]), y, root_mean_square, "regressor", **options)
        covered += low <= 0.4 <= high
    assert covered / n_sets >= 0.85


def test_dependent_rows_say_less():
    rng = np.random.default_rng(0)
    errors = pd.DataFrame(np.repeat(rng.normal(size=(15, 2)), 20, axis=0), columns=["a", "b"])
    y = pd.Series(np.zeros(300))
    alone = compare(errors, y, "neg_mean_absolute_error", "regressor")[1]
    together = compare(errors, y, "neg_mean_absolute_error", "regressor", groups=np.arange(300) // 20)[1]
    assert together > 2.5 * alone
    right = (errors.abs() < 1).astype(int)
    said = [
        compare(right, y.astype(int) + 1, "accuracy", "regressor", shares=True, **groups)[1]
        for groups in ({}, {"groups": np.arange(300) // 20})
    ]
    assert said[1] > 2 * said[0]


def test_no_interval_where_there_is_none():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    y = pd.Series([0.5, 0.5])
    assert np.isnan(compare(X, y, "neg_mean_absolute_error", "regressor", groups=np.zeros(2))[1:][0])
    difference, error, interval = compare(X, y, "neg_mean_absolute_error", "regressor")
    assert (difference, error) == (0.0, 0.0)
    assert np.isnan(interval).all()
    assert np.isnan(compare(X[:1], y[:1], "r2", "regressor")[:2]).all()


def test_folds_and_held_out_rows_are_compared_together():
    """Of one machine that is right by 0.3 more on all rows, the interval is narrower than by the held-out rows alone."""
    rng = np.random.default_rng(2)
    (X, y), (X_held, y_held) = shares(rng, 200, 0.35, 0.05), shares(rng, 60, 0.35, 0.05)
    folds = [(np.setdiff1d(np.arange(200), test), test) for test in np.array_split(np.arange(200), 5)]

    def sets(column):
        told = Told(column)
        tests = [test for _, test in folds]
        out_of_fold = Unseen([told] * 5, tests, [X.iloc[test] for test in tests], y, overlap=2.25)
        return [out_of_fold, Unseen.held_out(told, X_held, y_held)]

    scorer = get_scorer("accuracy")
    together = paired_difference(scorer, sets("a"), sets("b"), 0, shares=True)
    alone = paired_difference(scorer, sets("a")[1:], sets("b")[1:], 0, shares=True)
    assert together.interval[0] <= 0.3 <= together.interval[1]
    assert together.error < 0.8 * alone.error
    drawn = paired_difference(scorer, sets("a"), sets("b"), 0)
    assert (drawn.value, drawn.error) == (pytest.approx(together.value), pytest.approx(together.error, rel=0.15))


@pytest.mark.parametrize(
    ("interval", "code"),
    [
        ((0.01, 0.03), "helped"),
        ((-0.03, -0.01), "did not help"),
        ((-0.01, 0.03), "no difference seen"),
        ((0.0, 0.0), "no difference seen"),  # both models decide alike for all rows
        ((-0.03, 0.0), "no difference seen"),
        ((float("nan"), float("nan")), "no difference seen"),
    ],
)
def test_verdict_follows_from_the_interval(interval, code):
    assert Difference(sum(interval) / 2, interval, 0.01).decision == code

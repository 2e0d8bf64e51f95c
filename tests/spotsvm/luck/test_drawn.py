"""Scores of rows of both kinds, out of fold and held out, which count alike; and the verdict on tuning that they give."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t
from sklearn.dummy import DummyClassifier
from sklearn.metrics import get_scorer

from spotsvm.luck.difference import Difference, difference_of, judged, tuning_gain
from spotsvm.luck.drawn import Drawn, Evidence, expected_of, left_out, pooled, unseen_score
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


def compare(X, y, scoring, kind, **options):
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    first, second = ([unseen_score(Unseen.held_out(Told(column, kind), X, y, **options), scorer, "score", 0)] for column in "ab")
    return difference_of(second, first, "score", "held out")


def root_mean_square(machine, rows, y):
    """As scikit-learn's scorer, which takes most of a millisecond."""
    return -float(np.sqrt(np.mean((y.to_numpy() - machine.predict(rows)) ** 2)))


def shares(rng, n, gains, loses):
    """Rows on which both machines, one or none are right; the second one is right by `gains` - `loses` more."""
    which = rng.choice(4, size=n, p=[gains, loses, 0.5, 0.5 - gains - loses])
    first, second = np.isin(which, [1, 2]), np.isin(which, [0, 2])
    y = np.arange(n) % 2
    return pd.DataFrame({"a": np.where(first, y, 1 - y), "b": np.where(second, y, 1 - y)}), pd.Series(y)


def drawn(value, spread, n=100, kind="out of fold", seed=0):
    scores = value + spread * np.random.default_rng(seed).normal(size=200)
    return Drawn(value, scores, n, float(n), kind, kind == "out of fold")


def test_the_error_of_a_share_is_that_of_a_share():
    X, y = shares(np.random.default_rng(0), 80, 0.3, 0.1)
    found = compare(X, y, "accuracy", "classifier")
    gain = 1.0 * (X["b"] == y) - (X["a"] == y)
    assert found.value == pytest.approx(gain.mean())
    assert found.error == pytest.approx(gain.std() / np.sqrt(80), rel=0.15)


@pytest.mark.parametrize("depend", ["rows", "groups", "blocks"])
def test_the_interval_of_other_scores_covers_the_truth(depend):
    """Two machines with errors of known sizes; of groups or blocks, all rows have the same error."""
    rng = np.random.default_rng(1)
    n, each, covered, n_sets = 60, 1 if depend == "rows" else 4, 0, 40
    options = {"groups": {"groups": np.arange(n) // each}, "blocks": {"block": each}}.get(depend, {})
    y = pd.Series(np.zeros(n))
    for _ in range(n_sets):
        errors = np.repeat(rng.normal(size=(n // each, 2)) * [1.0, 0.6], each, axis=0)
        low, high = compare(pd.DataFrame(errors, columns=["a", "b"]), y, root_mean_square, "regressor", **options).interval
        covered += low <= 0.4 <= high
    assert covered / n_sets >= 0.85


def test_no_interval_where_there_is_none():
    X = pd.DataFrame({"a": [0.0, 1.0], "b": [0.0, 1.0]})
    y = pd.Series([0.5, 0.5])
    assert np.isnan(compare(X, y, "neg_mean_absolute_error", "regressor", groups=np.zeros(2)).error)
    same = compare(X, y, "neg_mean_absolute_error", "regressor")
    assert (same.value, same.error, same.known) == (0.0, 0.0, False)
    assert np.isnan(compare(X[:1], y[:1], "r2", "regressor").value)


def test_a_row_counts_the_same_whatever_its_kind():
    first, second = drawn(0.9, 0.02, 300), drawn(0.8, 0.03, 100, "held out", 1)
    found = pooled([first, second])
    assert found.value == pytest.approx((300 * first.value + 100 * second.value) / 400)
    assert found.error == pytest.approx(np.hypot(300 * first.error, 100 * second.error) / 400)
    assert second.error == pytest.approx(second.scores.std(ddof=1) * np.sqrt(100 / 99))
    assert (found.n_rows, found.units) == (400, 400.0)
    # a kind without an error is left out, unless there is no other
    unknown = Drawn(0.9, np.full(200, np.nan), 50, 50.0, "held out", False)
    assert pooled([first, unknown]) == pooled([first])
    assert (pooled([unknown]).value, pooled([unknown]).units) == (0.9, 0.0)
    expected = expected_of([first, second], "accuracy", "draws")
    assert (expected.value, expected.n_rows) == (pytest.approx(found.value), 400)
    assert (expected.out_of_fold, expected.held_out) == (pytest.approx(first.value), pytest.approx(second.value))
    assert expected.interval[0] < expected.value < expected.interval[1]


def test_the_verdict_is_a_t_interval_of_the_mean_gain_over_all_rows():
    tuned = [drawn(0.9, 0.02, 300), drawn(0.85, 0.03, 100, "held out", 1)]
    default = [drawn(0.88, 0.02, 300, seed=2), drawn(0.84, 0.03, 100, "held out", 3)]
    constant = [drawn(0.5, 0.02, 300, seed=4), drawn(0.5, 0.03, 100, "held out", 5)]
    found = tuning_gain(tuned, default, constant, "accuracy")
    gains = [a.scores - b.scores for a, b in zip(tuned, default, strict=True)]
    value = 0.75 * 0.02 + 0.25 * 0.01
    half = t.ppf(0.975, 399) * np.hypot(0.75 * gains[0].std(ddof=1), 0.25 * gains[1].std(ddof=1) * np.sqrt(100 / 99))
    assert found.value == pytest.approx(value)
    assert found.interval == pytest.approx((value - half, value + half))
    assert found.on_training_rows.value == pytest.approx(0.02)
    assert found.on_held_out_rows.value == pytest.approx(0.01)
    assert found.rows == {"out of fold": 300, "held out": 100}
    assert found.beats_constant
    assert "over 300 training rows out of fold and 100 held-out rows, accuracy of the tuned model less" in found.sentence
    all_three = judged([Evidence(*one) for one in zip(tuned, default, constant, strict=True)], "accuracy")
    assert all_three.gain == found
    assert all_three.default.value == pytest.approx(0.75 * default[0].value + 0.25 * default[1].value)
    assert (all_three.tuned.how, all_three.default.how) == ("draws", "rows")


@pytest.mark.parametrize(("n", "held"), [(60, 0), (60, 20)])
def test_where_nothing_is_to_gain_it_seldom_says_helped(n, held):
    """A tuned model whose rows are right as often as the default's: of 600 tables at most some 2.5 % are said to have gained."""
    rng = np.random.default_rng(0)
    said = []
    for _ in range(600):
        evidence = []
        for size, kind in ((n, "out of fold"), (held, "held out")):
            if not size:
                continue
            right = rng.random((2, size)) < 0.8
            shared = rng.random(size) < 0.7  # rows that both models decide alike
            right[1] = np.where(shared, right[0], right[1])
            counts = rng.multinomial(size, np.full(size, 1 / size), size=60)
            judged_rows = counts == 0 if kind == "out of fold" else counts
            scores = [(judged_rows @ one) / judged_rows.sum(axis=1) for one in right * 1.0]
            parts = [
                Drawn(one.mean(), s, size, float(size), kind, kind == "out of fold")
                for s, one in zip(scores, right * 1.0, strict=True)
            ]
            evidence.append(parts)
        tuned, default = ([one[k] for one in evidence] for k in (0, 1))
        said.append(tuning_gain(tuned, default, default, "accuracy").decision)
    assert said.count("helped") / len(said) <= 0.03
    assert said.count("did not help") / len(said) <= 0.03


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
def test_the_decision_follows_from_the_interval(interval, code):
    assert Difference(sum(interval) / 2, interval, 0.01).decision == code


def test_scores_of_left_out_rows_are_moved_by_the_rule_of_632():
    found = left_out(np.array([0.7, 0.8, 0.9]), 0.9, "accuracy", 30, 30.0)
    assert found.scores == pytest.approx([0.7368, 0.8368, 0.9368])
    assert (found.kind, found.left_out) == ("out of fold", True)


def test_a_few_far_draws_do_not_decide_the_error_of_a_score_with_a_best_value():
    scores = 1.0 - np.exp(0.2 * np.random.default_rng(0).normal(size=200))  # distances from 1 of about 1
    far = np.append(scores[:-2], [-9.0, -15.0])
    errors = {metric: left_out(far, far.mean(), metric, 60, 60.0).error for metric in ("r2", "neg_mean_squared_error", "made_up")}
    plain = left_out(scores, scores.mean(), "r2", 60, 60.0).error
    assert plain == pytest.approx(0.2, rel=0.15)
    assert errors["r2"] < 2.0 * plain
    assert errors["made_up"] > 5.0 * plain  # the standard deviation of the scores
    # the .632 rule moves the value, and not the spread of the logarithms
    moved = left_out(scores, scores.mean() + 0.5, "r2", 60, 60.0)
    assert moved.error / (1.0 - moved.value) == pytest.approx(plain / (1.0 - scores.mean()))
    # a draw at the best value, or beyond it, has no logarithm
    assert left_out(np.append(scores, 1.0), 0.0, "r2", 60, 60.0).error == pytest.approx(np.append(scores, 1.0).std(ddof=1))
    # shares have the standard deviation, and differences too
    share = np.random.default_rng(1).beta(80, 20, 200)
    assert left_out(share, 0.8, "accuracy", 60, 60.0).error == pytest.approx(share.std(ddof=1))
    gain = left_out(scores, 0.0, "r2", 60, 60.0).less(left_out(far, 0.0, "r2", 60, 60.0))
    assert gain.error == pytest.approx((scores - far).std(ddof=1))

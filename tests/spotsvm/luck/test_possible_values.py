"""Intervals stay within the possible values of their score, and a score that the rows are too few for has a code."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import uniform
from sklearn.datasets import load_diabetes
from sklearn.metrics import get_scorer_names
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVR

from spotsvm import ExpectedScore, SpotSearchCV, Study, expected_score, oversearching
from spotsvm.luck.bootstrap import mean_score
from spotsvm.luck.difference import Difference, tuning_gain
from spotsvm.luck.drawn import Drawn, expected_of
from spotsvm.luck.estimate import Estimate
from spotsvm.luck.intervals import difference_range, score_interval, score_range
from spotsvm.luck.verdict import Verdict
from spotsvm.reports.view import StudyView

METRICS = [name for name in get_scorer_names() if score_range(name) != (None, None)]


@given(st.sampled_from(METRICS), st.floats(0, 1), st.floats(1e-9, 1e3), st.integers(2, 500), st.floats(0.5, 0.999))
def test_intervals_of_scores_are_possible(metric, place, error, n, confidence):
    least, most = score_range(metric)
    low, high = -np.inf if least is None else least, np.inf if most is None else most
    score = max(low, -50.0) + place * (min(high, 50.0) - max(low, -50.0))
    ends = score_interval(score, error**2, float(n), n - 1.0, confidence, metric)
    expected = ExpectedScore.of(score, error, units=float(n), degrees=n - 1.0, metric=metric, confidence=confidence, n_rows=n)
    for interval in (ends, expected.interval, expected.of_rows(5), expected.at(0.9).interval):
        if np.isfinite(interval).all():
            assert low <= interval[0] <= score + 1e-9 * max(1.0, abs(score))
            assert score - 1e-9 * max(1.0, abs(score)) <= interval[1] <= high


def test_every_score_of_scikit_learn_with_an_end_has_it():
    """Losses are at most 0, shares between 0 and 1, and all others are known to have no such end."""
    none = {"neg_negative_likelihood_ratio", "positive_likelihood_ratio", "mutual_info_score"}
    for name in get_scorer_names():
        least, most = score_range(name)
        if name.startswith("neg_"):
            assert most == 0.0, name
        elif name not in none:
            assert most == 1.0, name
    assert score_range("neg_brier_score") == (-2.0, 0.0)
    assert score_range("matthews_corrcoef") == (-1.0, 1.0)
    assert score_range("of_my_own") == (None, None)


@given(st.sampled_from(["accuracy", "f1_macro", "neg_brier_score", "matthews_corrcoef", "r2"]), st.floats(-1, 1), st.floats(0, 3))
def test_differences_are_possible(metric, value, half):
    least, most = difference_range(metric)
    found = Difference(value, (value - half, value + half), metric=metric)
    if found.known and least is not None:
        assert least <= found.interval[0] <= found.interval[1] <= most
    elif found.known:
        assert found.interval == (value - half, value + half)
    assert found.turned().interval == pytest.approx((-found.interval[1], -found.interval[0]), nan_ok=True)


def of_draws(scores, on_all_rows, n=60):
    return expected_of([Drawn(mean_score(scores), scores, n, float(n), apparent=on_all_rows)], "accuracy", "draws")


def test_an_interval_reaches_what_all_rows_have_where_none_is_wrong_or_right():
    rng = np.random.default_rng(0)
    for draws, on_all, end in ((0.97 + 0.01 * rng.random(200), 1.0, 1), (0.01 + 0.01 * rng.random(200), 0.0, 0)):
        found = of_draws(draws, on_all)
        assert found.interval[end] == on_all
        assert of_draws(draws, 0.98).interval[end] != on_all
        assert ExpectedScore.from_dict(found.to_dict()) == found
    for share in (0.0, 1.0):
        assert share in score_interval(share, 0.0, 37.0, 36.0, 0.95, "accuracy")


def test_records_of_0_2_0_are_read():
    """They know neither of the two fields."""
    names = ["value", "error", "confidence", "n_rows", "row_error", "units", "degrees", "out_of_fold", "out_of_fold_error"]
    old = dict.fromkeys(names, 0.9) | {"metric": "accuracy", "how": "rows", "interval": [0.85, 0.94]}
    old |= {"held_out": None, "held_out_error": None}
    found = ExpectedScore.from_dict(old)
    assert found.value == 0.9
    assert not found.too_few
    assert np.isnan(found.on_all_rows)
    assert Estimate.from_dict({name: old[name] for name in ("value", "interval", "error", "confidence", "metric", "how")}).known


def test_a_code_says_that_rows_are_too_few_for_r2():
    huge = Estimate(-5.7e9, (-1e10, 0.9), 4e9, metric="r2")
    assert (huge.too_few, huge.known, str(huge)) == (True, False, "unknown: the rows are too few for R2")
    assert Estimate.from_dict(huge.to_dict()).too_few
    for metric, error in (("neg_mean_squared_error", 4e9), ("r2", 0.3), ("accuracy", 0.2)):
        assert not Estimate(-0.5, error=error, metric=metric).too_few
    rng = np.random.default_rng(0)
    three = [[Drawn(scores.mean(), scores, 9, 9.0)] for scores in -1e6 * rng.random((3, 200))]
    gain = tuning_gain(*three, "r2")
    assert gain.too_few
    assert str(gain) == (
        "No difference can be seen between the tuned and the default model: 9 training rows out of fold are too few for R2."
    )
    expected = ExpectedScore(-5.7e9, error=1e10, metric="r2", n_rows=9)
    verdict = Verdict("r2", gain, "tuned", None, {}, expected, expected)
    assert str(gain)[:-1] in verdict.sentence
    assert verdict.expectation == "On new rows the R2 of the tuned SVM is unknown: 9 rows are too few for R2."


def test_estimates_of_searches_on_few_rows_say_so():
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:16], np.where(np.arange(16) < 2, y[:16], 100.0 + 1e-4 * X[:16, 0])
    search = SpotSearchCV(SVR(), {"C": [1.0, 10.0]}, n_iter=2, cv=KFold(2), refit="average", random_state=0).fit(X, y)
    found = GridSearchCV(SVR(), {"C": [1.0, 10.0]}, cv=KFold(2)).fit(X, y)
    for expected in (search.expected_score_, expected_score(search, X, y), expected_score(found, X, y)):
        assert str(expected) == "unknown: 16 rows are too few for R2"
    luck = oversearching(found, X, y, outer=KFold(4), random_state=0)
    assert luck.too_few
    assert "e+" not in luck.summary()
    assert luck.summary().startswith("The optimism of the tuned R2 of ")


def test_a_predicted_share_is_one():
    """A Kriging model of scores near 1 predicts more than 1."""
    space = {"x": uniform(0, 1)}
    study = Study(space, "random", 0, direction="maximize", noise=True)
    rng = np.random.default_rng(0)
    for _ in range(12):
        trial = study.ask()
        folds = np.clip(1.0 - 0.02 * trial.params["x"] + rng.normal(0, 0.01, 3), 0, 1)
        scores = {f"split{k}_test_accuracy": fold for k, fold in enumerate(folds)}
        study.tell(trial, {"value": float(folds.mean()), **scores})
    view = StudyView(study)
    assert view.recommended.value <= 1.0
    assert view.possible(np.array([0.5, 1.01])).tolist() == [0.5, 1.0]

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from spotsvm.errors import ArgumentError
from spotsvm.luck.intervals import (
    bounded,
    check_confidence,
    corrected_factor,
    is_too_uncertain,
    jackknife_variance,
    nadeau_bengio,
    repeated_variance,
    side_of_zero,
    t_interval,
)

FOLDS = 5


def left_out(scores, outer):
    """Return what jackknife_variance takes, from the scores of fold k's winner on the rows of fold c."""
    folds = len(outer)
    return np.array([[np.mean(np.delete(scores[k], [k, b])) for b in range(folds)] for k in range(folds)])


def test_students_interval_and_the_papers_factor():
    values = np.random.default_rng(0).normal(size=12)
    interval = ttest_1samp(values, 0).confidence_interval(0.9)
    assert nadeau_bengio(values, 0.0, 0.9) == pytest.approx(tuple(interval))
    values = [0.91, 0.93, 0.89, 0.94, 0.90]
    low, high = nadeau_bengio(values, 1 / 4)
    plain = ttest_1samp(values, 0).confidence_interval(0.95)
    assert (high - low) / (plain.high - plain.low) == pytest.approx(np.sqrt((1 / 5 + 1 / 4) / (1 / 5)))
    assert corrected_factor(100, 1 / 9) == pytest.approx(0.01 + 1 / 9)  # 10 x 10 folds, Bouckaert and Frank 2004


@pytest.mark.parametrize(
    "interval",
    [
        nadeau_bengio([1.0, 1.0, 1.0], 0.25),
        nadeau_bengio([0.3], 0.25),
        t_interval(0.5, 0.0, 4, 0.95),
        t_interval(0.0, float("nan"), 4, 0.95),
    ],
)
def test_values_without_a_spread_have_no_interval(interval):
    assert np.isnan(interval).all()


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=8))
def test_what_is_easy_about_rows_cancels(easy):
    # every machine scores the same on the rows of a fold, so that the mean optimism is 0 whatever the rows
    easy = np.array(easy)
    scores = np.tile(easy, (len(easy), 1))
    assert jackknife_variance(left_out(scores, easy), easy) == pytest.approx(0.0, abs=1e-12)


def test_variances_of_outer_scores_and_repeats():
    outer = np.random.default_rng(1).normal(size=FOLDS)
    assert jackknife_variance(np.zeros((FOLDS, FOLDS)), outer) == pytest.approx(outer.var(ddof=1) / FOLDS)
    assert np.isnan(jackknife_variance(np.zeros((2, 2)), [0.1, 0.2]))
    assert repeated_variance([0.04], [0.5]) == 0.04
    means = [0.1, 0.2, 0.3]
    assert repeated_variance([0.04] * 3, means) == pytest.approx(0.04 - 2 / 3 * np.var(means, ddof=1))
    # never below what the means themselves tell
    assert repeated_variance([0.0] * 3, means) == pytest.approx(np.var(means, ddof=1) / 3)


def test_the_jackknife_covers_where_the_corrected_interval_is_too_wide():
    rng = np.random.default_rng(2)
    covered, wider, variances, means = [], [], [], []
    for _ in range(2000):
        easy, selection, noise = rng.normal(size=FOLDS), rng.normal(size=FOLDS), 0.5 * rng.normal(size=(FOLDS, FOLDS))
        scores = easy[None, :] + 0.5 * selection[:, None] + noise
        outer = easy + 0.5 * rng.normal(size=FOLDS)
        without = left_out(scores, outer)
        gaps = np.diag(without) - outer
        variances.append(jackknife_variance(without, outer))
        means.append(gaps.mean())
        low, high = t_interval(gaps.mean(), variances[-1], FOLDS - 1, 0.95)
        covered.append(low <= 0 <= high)
        corrected = nadeau_bengio(gaps, 1 / (FOLDS - 1))
        wider.append((corrected[1] - corrected[0]) / (high - low))
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.median(wider) > 1.5
    # Efron and Stein 1981: not too small on average
    assert 0.95 * np.var(means) < np.mean(variances) < 1.5 * np.var(means)


@pytest.mark.parametrize("confidence", [0, 1, 95, "high", True, None])
def test_a_confidence_is_between_0_and_1(confidence):
    with pytest.raises(ArgumentError, match="confidence="):
        check_confidence(confidence)


@pytest.mark.parametrize(
    ("interval", "scores", "metric", "cut"),
    [
        ((0.9, 1.1), [0.95, 1.0], "accuracy", (0.9, 1.0)),
        ((-0.1, 0.4), [0.1, 0.2], "f1_macro", (0.0, 0.4)),
        ((-0.1, 1.4), [0.1, 0.2], "r2_score", (-0.1, 1.0)),
        ((-3.0, 1.0), [-1.0, -1.0], "neg_max_error", (-3.0, 0.0)),
        ((0.9, 1.1), [0.95, 1.0], "score", (0.9, 1.0)),
        # scores outside the range of their metric, and a metric of unknown range
        *(((-9.0, 99.0), scores, "score", (-9.0, 99.0)) for scores in ([50.0, 60.0], [-2.0, -1.0])),
        ((-9.0, 99.0), [2.0], "accuracy", (-9.0, 99.0)),
        ((-9.0, 99.0), [0.5], "profit", (-9.0, 99.0)),
    ],
)
def test_an_interval_ends_at_the_lowest_and_highest_score(interval, scores, metric, cut):
    assert bounded(interval, scores, metric) == cut


@pytest.mark.parametrize(("interval", "side"), [((0.01, 0.04), 1), ((-0.04, -0.01), -1), ((0.0, 0.0), 0), ((np.nan, np.nan), 0)])
def test_the_side_of_an_interval(interval, side):
    assert side_of_zero(interval) == side


def test_r2_of_rows_without_spread_is_too_uncertain():
    assert is_too_uncertain("r2", -5.7e9, 1e10)
    assert not is_too_uncertain("r2", 0.4, 0.2)

"""The bootstrap of out-of-fold decisions, on candidates whose score on new rows is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.luck.bootstrap import corrected, left_out_scores, mean_score, spread
from spotsvm.luck.drawn import Drawn, expected_of
from spotsvm.luck.draws import draw_rows, sample_rows, unit_sums
from spotsvm.luck.intervals import score_interval
from spotsvm.luck.scores import score_called

ACCURACY = score_called("accuracy", ("accuracy",))


def of_draws(scores, n):
    return expected_of([Drawn(mean_score(scores), scores, n, float(n))], "accuracy", "draws")


def best_in_draws(decisions, y, counts):
    hits = (decisions[..., 0] > 0) == (y == 1)
    return np.eye(len(decisions))[(counts @ hits.T.astype(float)).argmax(axis=1)]


def test_groups_are_drawn_together_and_left_out_together():
    groups = np.repeat(["a", "b", "c", "d"], [1, 2, 3, 4])
    counts = draw_rows(10, 50, np.random.default_rng(0), groups).counts
    for name in "abcd":
        of = counts[:, groups == name]
        assert (of == of[:, :1]).all()
    assert (counts == 0).any()
    assert (counts > 1).any()


def test_sums_over_units():
    values = np.arange(8.0).reshape(2, 4)
    assert unit_sums(values, np.array([0, 1, 0, 1])).tolist() == [[2, 4], [10, 12]]
    assert unit_sums(values, np.arange(4)) is values


def test_the_draws_of_a_fixed_candidate_are_its_scores_on_the_rows_left_out():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=40)
    decisions = rng.normal(size=(1, 40, 1))
    draws = draw_rows(40, 7, rng)
    found = left_out_scores(decisions, y, np.ones(40), ACCURACY, draws, np.ones((7, 1)))
    hits = (decisions[0, :, 0] > 0) == y
    assert found == pytest.approx([hits[np.setdiff1d(np.arange(40), drawn)].mean() for drawn in draws.drawn])


def test_calibration_sees_the_rows_of_the_draw_alone():
    y = np.arange(20) % 2
    draws = draw_rows(20, 5, np.random.default_rng(0))
    seen = []

    def calibrate(average, counts, shares):
        seen.append((counts, shares))
        return average

    chosen = np.random.default_rng(1).dirichlet(np.ones(3), 5)
    left_out_scores(np.zeros((3, 20, 1)), y, 2 * np.ones(20), ACCURACY, draws, chosen, calibrate)
    assert (np.concatenate([counts for counts, _ in seen]) == draws.counts).all()
    assert (np.concatenate([shares for _, shares in seen]) == chosen).all()


@pytest.mark.parametrize("n_candidates", [1, 60])
def test_the_score_of_the_best_of_many_guesses_is_that_of_a_guess(n_candidates):
    """All candidates guess: the best out-of-fold accuracy of 60 is far above 0.5, the estimate is not."""
    n, naive, estimate, covered = 100, [], [], []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = rng.integers(2, size=n)
        decisions = rng.normal(size=(n_candidates, n, 1))
        draws = draw_rows(n, 100, rng)
        chosen = best_in_draws(decisions, y, draws.counts)
        scores = left_out_scores(decisions, y, np.ones(n), ACCURACY, draws, chosen)
        naive.append(((decisions[..., 0] > 0) == y).mean(axis=1).max())
        estimate.append(scores.mean())
        low, high = of_draws(scores, n).interval
        covered.append(low <= 0.5 <= high)
    assert np.mean(estimate) == pytest.approx(0.5, abs=0.02)
    assert np.mean(naive) == pytest.approx(0.5, abs=0.02) if n_candidates == 1 else np.mean(naive) > 0.6
    assert np.mean(covered) >= 0.9


def test_the_correction_moves_the_mean_alone():
    scores = np.array([0.5, 0.7, np.nan])
    moved = corrected(scores, 0.8)
    assert np.nanmean(moved) == pytest.approx(0.632 * 0.6 + 0.368 * 0.8)
    assert moved[1] - moved[0] == pytest.approx(0.2)
    assert np.isnan(moved[2])
    assert np.isnan([mean_score(moved[2:]), spread(moved[1:])]).all()
    assert not of_draws(moved[2:], 3).known
    # equal scores have Wilson's interval of as many rows
    equal = np.array([0.1 + 0.2, 0.3, 0.3])
    assert of_draws(equal, 30).interval == score_interval(equal.mean(), 0.0, 30.0, 29.0, 0.95, "accuracy")


@given(st.integers(0, 99), st.integers(6, 60), st.integers(1, 4), st.integers(1, 6), st.integers(5, 100))
def test_a_sample_of_groups_has_whole_groups_of_each_class(seed, n_groups, n_classes, least, size):
    rng = np.random.default_rng(seed)
    groups = rng.integers(n_groups, size=300)
    classes = rng.integers(n_classes, size=n_groups)[groups] if seed % 2 else rng.integers(n_classes, size=300)
    rows = sample_rows(300, size, seed, classes, groups, least=least)
    assert (np.diff(rows) > 0).all()
    whole = np.isin(groups, groups[rows]).sum() == len(rows)
    drawn = {c: set(groups[rows][classes[rows] == c]) for c in np.unique(classes)}
    for c, of_class in drawn.items():  # few rows of huge groups have `least` rows of a class, whole groups `least` groups
        possible = len(set(groups[classes == c]))
        assert len(of_class) >= min(least, possible) if whole else (classes[rows] == c).sum() >= min(least, possible)
    assert whole or size <= len(rows) <= max(size, least * n_classes)
    assert len(rows) >= min(size, 300)


def test_a_sample_of_groups_keeps_the_shares_of_classes():
    groups = np.arange(2000) // 2
    classes = (np.arange(2000) < 100).astype(int)
    assert [classes[sample_rows(2000, 200, seed, classes, groups)].sum() for seed in range(20)] == [10] * 20

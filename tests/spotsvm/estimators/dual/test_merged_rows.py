import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.estimators.dual.merged_rows import MergedRows

ROWS = st.lists(st.tuples(st.integers(-1, 1), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=20)


def arrays(rows):
    x, y, weights = np.array(rows, dtype=float).T
    return x[:, None], y, weights


@settings(max_examples=30)
@given(ROWS)
def test_groups_are_the_different_rows_and_carry_all_weight(rows):
    X, y, weights = arrays(rows)
    merged = MergedRows.of(X, y, weights)
    assert {(x, t) for x, t, w in rows if w} == set(zip(X[merged.first, 0], y[merged.first], strict=True))
    assert len(merged.first) == len({(x, t) for x, t, w in rows if w})
    assert merged.group_weights.sum() == weights.sum()


@settings(max_examples=30)
@given(ROWS)
def test_a_row_s_share_is_in_proportion_to_its_weight(rows):
    X, y, weights = arrays(rows)
    merged = MergedRows.of(X, y, weights)
    shares = merged.expand(merged.group_weights, len(X))
    np.testing.assert_allclose(shares, weights, rtol=1e-15)


@settings(max_examples=30)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, random):
    X, y, weights = arrays(rows)
    shuffled = list(rows)
    random.shuffle(shuffled)
    X2, y2, weights2 = arrays(shuffled)
    a, b = MergedRows.of(X, y, weights), MergedRows.of(X2, y2, weights2)
    np.testing.assert_array_equal(X[a.first], X2[b.first])
    np.testing.assert_array_equal(y[a.first], y2[b.first])
    np.testing.assert_array_equal(a.group_weights, b.group_weights)


def test_minus_zero_is_zero():
    assert len(MergedRows.of(np.array([[0.0], [-0.0]]), np.zeros(2), np.ones(2)).first) == 1


@pytest.mark.parametrize("weights", [np.ones(3), np.array([1.0, 0.0, 2.0])])
def test_without_merging(weights):
    merged = MergedRows.of(np.zeros((3, 3)), np.zeros(3), weights, merge=False)
    np.testing.assert_array_equal(merged.first, np.flatnonzero(weights))
    np.testing.assert_array_equal(merged.expand(merged.group_weights, 3), weights)

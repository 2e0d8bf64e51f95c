import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import ArgumentError
from spotsvm.estimators.class_entries import (
    LEAST_CUTOFF,
    balanced_weights,
    class_cutoffs,
    class_names,
    class_weights,
    known_classes,
    with_entries,
)

FIVE = np.arange(5)
SHARES = st.lists(st.floats(0.01, 0.4), min_size=4, max_size=5)


@settings(max_examples=40)
@given(SHARES)
def test_scaled_cutoffs_keep_their_ratios_and_sum_to_1_at_most(given_):
    cutoffs = class_cutoffs(given_, FIVE, "scale")
    assert 0 < cutoffs.sum() <= 1 + 1e-9
    np.testing.assert_allclose(cutoffs[:4] / cutoffs[0], np.array(given_[:4]) / given_[0])
    if len(given_) == 4:
        np.testing.assert_allclose(cutoffs[4] / cutoffs[0], max(1 - sum(given_), LEAST_CUTOFF) / given_[0])


@settings(max_examples=40)
@given(st.lists(st.floats(0.01, 1.0), min_size=5, max_size=5))
def test_cutoffs_by_name_are_those_in_order(values):
    for keys in (FIVE.tolist(), class_names(FIVE), list(FIVE)):
        named = dict(zip(keys, values, strict=True))
        np.testing.assert_array_equal(class_cutoffs(named, FIVE, "scale"), class_cutoffs(values, FIVE, "scale"))
        np.testing.assert_array_equal(class_weights(named, FIVE), values)


@pytest.mark.parametrize(
    ("given_", "excess", "cutoffs"),
    [
        (None, "raise", [0.2] * 5),  # as R has it
        ({}, "raise", [0.2] * 5),
        ([0.1, 0.2, 0.3, 0.1], "raise", [0.1, 0.2, 0.3, 0.1, 0.3]),
        ([0.1, 0.2, 0.3, 0.1], "scale", [0.1, 0.2, 0.3, 0.1, 0.3]),
        ({0: 0.4}, "raise", [0.4] + [0.15] * 4),
        ([0.1] * 5, "raise", [0.1] * 5),  # only their ratios matter
        ([0.4] * 4, "scale", np.array([0.4, 0.4, 0.4, 0.4, 0.01]) / 1.61),
    ],
)
def test_cutoffs_that_are_left_out_share_the_rest(given_, excess, cutoffs):
    np.testing.assert_allclose(class_cutoffs(given_, FIVE, excess), cutoffs)


def test_sums_that_miss_1_by_rounding_are_no_excess():
    assert class_cutoffs([0.1] * 3 + [0.7], np.arange(4)).sum() <= 1
    assert class_cutoffs([0.7, 0.2, 0.1 + 1e-12], np.arange(3)).sum() <= 1


def test_known_classes():
    assert known_classes(np.array(["b", "a", "b"]), None).tolist() == ["a", "b"]
    assert known_classes(np.array([2, 1]), [3, 2, 1]).tolist() == [1, 2, 3]
    assert known_classes(np.array([2.0, 1.0]), (1, 2)).tolist() == [1, 2]
    with pytest.raises(ArgumentError, match="y holds the class 'c', which is not among classes='a', 'b'"):
        known_classes(np.array(["a", "c"]), ["a", "b"])


def test_balanced_weights_are_1_for_absent_classes():
    assert balanced_weights(np.array([0, 0, 0, 2]), 3) == pytest.approx([2 / 3, 1, 2])


def test_entries_are_named_by_the_text_of_classes():
    assert with_entries("cutoff", {1: 0.5, 2: 0.1}, {"2": 0.2, "3": 0.1}, None) == {1: 0.5, 2: 0.2, "3": 0.1}

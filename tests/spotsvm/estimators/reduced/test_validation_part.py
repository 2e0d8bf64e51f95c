import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.estimators.reduced.reduction import given_part, held_out_part


@given(st.lists(st.integers(2, 20), min_size=2, max_size=4), st.floats(0.01, 0.99), st.integers(0, 1000))
@settings(max_examples=100, deadline=None)
def test_each_class_is_in_both_parts(counts, fraction, seed):
    code = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    X = np.arange(len(code), dtype=float)[:, None]
    part = held_out_part(X, code, np.arange(len(counts)), fraction, seed)
    held_out = part.X[:, 0].astype(int)
    assert sorted([*part.training, *held_out]) == list(range(len(code)))
    np.testing.assert_array_equal(part.code, code[held_out])
    for c, count in enumerate(counts):
        there = int((part.code == c).sum())
        assert 1 <= there <= count - 1
        assert abs(there - fraction * count) <= 1


def test_the_seed_chooses():
    code, X = np.repeat([0, 1], 50), np.arange(100.0)[:, None]
    one, same, other = (held_out_part(X, code, np.arange(2), 0.3, seed).training for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_part_that_is_given():
    part = given_part((np.ones((3, 2)), ["b", "a", "c"]), np.array(["a", "b", "c"]), 7, 2)
    assert part.code.tolist() == [1, 0, 2]
    assert part.training.tolist() == list(range(7))

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.search.alternating import VectorGenetics


def every_other(subset):
    return subset[::2]


def near_zero(X):
    return lambda subset, rng: lambda rows: -np.square(X[rows]).sum(axis=1)


@st.composite
def cases(draw):
    """Rows in the plane, classes in any order, a K that they allow, and a seed."""
    counts = draw(st.lists(st.integers(2, 12), min_size=2, max_size=4))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    classes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(len(classes), 2))
    size = draw(st.integers(1, min(counts)))
    return X, VectorGenetics(X, classes, size, 0.0, support=every_other, gains=near_zero(X)), rng


@given(cases())
@settings(max_examples=30, deadline=None)
def test_children_hold_k_rows_of_each_class_and_with_itself_a_parent_keeps_its_support_vectors(case):
    _, genetics, rng = case
    one, other = genetics.initial(2, rng)
    child = genetics.cross(one, other, rng)
    assert (np.diff(child) > 0).all()
    assert np.bincount(genetics.classes[child]).tolist() == [genetics.n_per_class] * genetics.n_classes
    assert set(every_other(one)) <= set(genetics.cross(one, one, rng))


def test_each_side_of_the_hyperplane_is_of_one_parent():
    # in one dimension: two classes at each place, all rows are support vectors, and no place is left
    X, classes = np.repeat(np.arange(40.0), 2)[:, None], np.tile([0, 1], 40)
    genetics = VectorGenetics(X, classes, 10, support=lambda subset: subset, gains=near_zero(X))
    better, worse = np.arange(0, 80, 4), np.arange(1, 80, 4)
    better, worse = np.sort(np.r_[better[:10], better[:10] + 1]), np.sort(np.r_[better[10:], better[10:] + 1])
    assert not set(better) & set(worse)
    mixed = 0
    for seed in range(20):
        child = genetics.cross(better, worse, np.random.default_rng(seed))
        # the better one is on the left: where that side is its own, nothing of the worse one is between its rows
        of_better, of_worse = X[np.intersect1d(child, better)], X[np.intersect1d(child, worse)]
        if len(of_better) and len(of_worse):
            mixed += 1
            assert of_better.max() < of_worse.min()
    assert mixed


def test_places_that_are_left_go_to_the_most_useful_rows():
    # so few rows that all are drawn
    X, classes = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    for gains, expected in ((lambda rows: -X[rows, 0], [0, 1, 4, 5]), (lambda rows: X[rows, 0], [2, 3, 6, 7])):
        genetics = VectorGenetics(X, classes, 2, support=lambda subset: subset[:0], gains=lambda subset, rng, gains=gains: gains)
        children = [genetics.cross(np.array([0, 2, 4, 6]), np.array([1, 3, 5, 7]), np.random.default_rng(k)) for k in range(30)]
        # each of the two places is won among the half of the rows that it is given
        assert all(expected[k] in child for child in children for k in ((0, 2) if expected[0] == 0 else (1, 3)))

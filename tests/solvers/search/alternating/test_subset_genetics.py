import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.solvers.search.alternating import SubsetGenetics


@st.composite
def cases(draw):
    """Classes in any order, a K that they allow, the chances and a seed."""
    counts = draw(st.lists(st.integers(1, 9), min_size=2, max_size=4))
    seed = draw(st.integers(0, 10**6))
    classes = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    share = draw(st.sampled_from([0.0, 0.2, 0.55, 1.0]))
    return SubsetGenetics(classes, draw(st.integers(1, min(counts))), 1.0, share), np.random.default_rng(seed)


def assert_valid(genetics, subset, n_per_class):
    assert len(np.unique(subset)) == len(subset)
    assert (np.diff(subset) > 0).all()
    assert np.bincount(genetics.classes[subset], minlength=genetics.n_classes).tolist() == [n_per_class] * genetics.n_classes


@given(cases())
@settings(max_examples=40, deadline=None)
def test_sets_hold_k_different_rows_of_each_class(case):
    genetics, rng = case
    one, other = genetics.initial(2, rng)
    child = genetics.cross(one, other, rng)
    for subset in (one, other, child, genetics.mutate(child, rng)):
        assert_valid(genetics, subset, genetics.n_per_class)
        assert genetics.length(subset) == genetics.n_per_class
    assert set(child) <= set(one) | set(other)


@given(cases(), st.integers(1, 9))
@settings(max_examples=40, deadline=None)
def test_other_sizes(case, size):
    genetics, rng = case
    size = min(size, genetics.smallest_class)
    one, other = genetics.initial(2, rng)
    child = genetics.cross_to(one, other, size, rng)
    assert_valid(genetics, child, size)
    union = set(one) | set(other)
    if all(sum(genetics.classes[row] == c for row in union) >= size for c in range(genetics.n_classes)):
        assert set(child) <= union
    larger = max(size, genetics.n_per_class)
    enlarged = genetics.enlarge(one, larger, rng)
    assert_valid(genetics, enlarged, larger)
    assert set(one) <= set(enlarged)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0, 1], 2), "n_per_class=2; the smallest class has 1 rows"),
        (([0, 0, 2], 1), "smallest class has 0 rows"),
        (([], 1), "smallest class has 0 rows"),
        (([0, 1], 0), "n_per_class=0"),
        (([0, 1], 1, -0.1), "mutation_probability=-0.1"),
        (([0, 1], 1, 0.1, 1.5), "mutated_share=1.5"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(SolverError, match=message):
        SubsetGenetics(*arguments)


def test_every_row_is_drawn_equally_often():
    genetics = SubsetGenetics(np.repeat([0, 1], [5, 10]), 2)
    drawn = np.bincount(np.concatenate(genetics.initial(4000, np.random.default_rng(0))), minlength=15)
    np.testing.assert_allclose(drawn[:5], 4000 * 2 / 5, rtol=0.1)
    np.testing.assert_allclose(drawn[5:], 4000 * 2 / 10, rtol=0.15)

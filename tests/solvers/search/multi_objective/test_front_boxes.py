import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pymoo.indicators.hv import HV

from spotsvm.solvers.search.multi_objective.front_boxes import Boxes


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(0, 12), st.booleans())
def test_what_a_point_adds_is_the_difference_of_two_hypervolumes(seed, m, n, tied):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 6, (n, m)) / 4 if tied else 1.3 * rng.random((n, m))
    new, reference = 1.3 * rng.random((5, m)), np.ones(m)
    volume = HV(ref_point=reference)
    before = volume(values) if n else 0.0
    added = [volume(np.vstack([values, one])) - before for one in new]
    np.testing.assert_allclose(Boxes.of(values, reference).added(new), added, atol=1e-12)


def test_boxes_are_disjoint_and_as_few_as_strips_for_two_objectives():
    front = np.array([[0.1, 0.8], [0.3, 0.5], [0.7, 0.2], [0.8, 0.8]])
    boxes = Boxes.of(front, np.ones(2))
    assert len(boxes.low) == 4
    grid = np.random.default_rng(0).random((500, 2))
    first, second = boxes.levels
    inside = np.zeros(len(grid), dtype=int)
    for low, high in zip(boxes.low, boxes.high, strict=True):
        starts = [-np.inf if k < 0 else levels[k] for k, levels in zip(low, boxes.levels, strict=True)]
        inside += ((starts <= grid) & (grid < [first[high[0]], second[high[1]]])).all(axis=1)
    dominated = (front[:, None] <= grid).all(axis=2).any(axis=0)
    np.testing.assert_array_equal(inside, ~dominated)


@pytest.mark.parametrize(("m", "n"), [(2, 999), (3, 43), (4, 16), (5, 9)])
def test_of_a_large_front_the_points_farthest_apart_are_used(m, n):
    angles = np.random.default_rng(1).normal(size=(1100, m))
    front = 1 - np.abs(angles) / np.linalg.norm(angles, axis=1, keepdims=True)
    boxes = Boxes.of(front, np.full(m, 1.1))
    assert {len(levels) - 1 for levels in boxes.levels} == {n}
    assert len(boxes.low) <= 1000
    assert np.isclose(boxes.levels[0][0], front[:, 0].min())
    assert max(np.diff(boxes.levels[0][:-1])) < (0.02 if m == 2 else 0.4)

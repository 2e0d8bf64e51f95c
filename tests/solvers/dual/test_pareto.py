import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from solvers.dual.pareto import hypervolume, knee, non_dominated

points = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=20).map(lambda p: np.array(p, float))


def dominated(a, b):
    return (b <= a).all() and (b < a).any()


@given(points)
def test_what_is_kept_is_what_nothing_dominates(objectives):
    kept = non_dominated(objectives)
    truth = {tuple(a) for a in objectives if not any(dominated(a, b) for b in objectives)}
    assert {tuple(a) for a in objectives[kept]} == truth
    assert len(kept) == len(truth)
    assert (np.diff(objectives[kept, 0]) > 0).all()


@given(points)
def test_hypervolume_is_the_number_of_dominated_cells(objectives):
    cells = sum(any(x <= i and y <= j for x, y in objectives) for i in range(6) for j in range(6))
    assert hypervolume(objectives, (6.0, 6.0)) == cells


def test_points_without_value_are_on_no_front():
    assert non_dominated(np.array([[np.inf, 0.0], [1.0, np.nan], [2.0, 2.0]])).tolist() == [2]


def test_the_knee_is_below_the_line_between_the_ends():
    front = np.array([[1.0, 9.0], [2.0, 8.0], [3.0, 2.0], [9.0, 1.0]])
    assert knee(front) == 2
    assert knee(front * [1e-6, 1e6]) == 2
    assert knee(front[:1]) == 0
    assert knee(np.array([[0.0, 1.0], [0.9, 0.9], [1.0, 0.0]])) == 0

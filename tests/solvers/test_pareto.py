import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.solvers.pareto import knee, non_dominated

points, triples = (
    st.lists(st.tuples(*[st.integers(0, 5)] * m), min_size=1, max_size=20).map(lambda p: np.array(p, float)) for m in (2, 3)
)


def dominated(a, b):
    return (b <= a).all() and (b < a).any()


@given(points | triples)
def test_what_is_kept_is_what_nothing_dominates_once(objectives):
    kept = non_dominated(objectives)
    truth = [k for k, a in enumerate(objectives) if not any(dominated(a, b) for b in objectives)]
    first = [k for k in truth if not (objectives[:k] == objectives[k]).all(axis=1).any()]
    assert sorted(kept) == first
    assert (np.diff(objectives[kept, 0]) >= 0).all()
    constant = np.column_stack([objectives, np.ones(len(objectives))])  # one more objective changes nothing
    assert np.array_equal(non_dominated(constant), kept)


def test_of_one_objective_the_smallest_is_the_front():
    assert non_dominated(np.array([[3.0], [1.0], [np.nan], [1.0]])).tolist() == [1]
    for m in (1, 2, 3):
        assert non_dominated(np.zeros((0, m))).tolist() == []


def test_rounding_puts_nothing_on_the_front():
    up, down = 1 + 1e-13, 1 - 1e-13
    front = np.array([[1e-8, 3.0], [1e-8 * up, 2.0], [1e-8 * down, 3.0 * up], [5.0, 2.0 * down], [6.0, 2.0 * (1 - 1e-11)]])
    assert non_dominated(front).tolist() == [1, 4]
    assert non_dominated(np.array([[1.0, 0.0], [down, 0.0], [up, 0.0]])).tolist() == [0]
    assert non_dominated(np.array([[1.0, 1e-9], [2.0, 0.0]])).tolist() == [0, 1]
    assert non_dominated(np.array([[1.0, 3.0, 2.0], [down, 3.0 * up, 2.0], [1.0, 3.0, 1.0]])).tolist() == [2]


def test_points_without_value_are_on_no_front():
    assert non_dominated(np.array([[np.inf, 0.0], [1.0, np.nan], [2.0, 2.0]])).tolist() == [2]


def test_the_knee_is_below_the_line_between_the_ends():
    front = np.array([[1.0, 9.0], [2.0, 8.0], [3.0, 2.0], [9.0, 1.0]])
    assert knee(front) == 2
    assert knee(front * [1e-6, 1e6]) == 2
    assert knee(front[:1]) == 0
    assert knee(np.array([[0.0, 1.0], [0.9, 0.9], [1.0, 0.0]])) == 0

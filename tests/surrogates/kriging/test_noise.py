import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.surrogates.kriging.noise import aggregate, judge_noise, needs_second_look


@pytest.mark.parametrize(
    ("points", "values", "verdict"),
    [
        ([0.1], [1.0], "unknown"),
        ([0.1, 0.2, 0.3], [1.0, 1.0, 2.0], "unknown"),
        ([0.1, 0.2, 0.1], [1.0, 5.0, 1.0], "deterministic"),
        ([0.1, 0.2, 0.1], [1.0, 5.0, 1.0 + 1e-15], "noisy"),
        ([0.1, 0.2, 0.1, 0.1], [1.0, 5.0, 1.0, 1.1], "noisy"),
    ],
)
def test_verdict(points, values, verdict):
    assert judge_noise(np.array(points)[:, None], np.array(values)) == verdict


def test_ties_ask_for_a_second_look():
    points = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.1])[:, None]
    assert not needs_second_look(points, np.array([1.0, 2.0, 3.0, 4.0, 9.0, 1.0]))
    assert needs_second_look(points, np.array([1.0, 1.0, 1.0, 2.0, 9.0, 1.0]))
    assert not needs_second_look(points, np.array([1.0, 9.0, 9.0, 9.0, 9.0, 1.0]))
    again = np.append(points, [[0.2]], axis=0)
    assert not needs_second_look(again, np.array([1.0, 1.0, 1.0, 2.0, 9.0, 1.0, 1.0]))


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e3, 1e3)), min_size=1, max_size=30))
def test_means_counts_and_scatter(rows):
    X = np.array([[float(k)] for k, _ in rows])
    y = np.array([v for _, v in rows])
    a = aggregate(X, y)
    assert a.count.sum() == len(y)
    assert np.array_equal(a.X[a.index], X)
    for k, point in enumerate(a.X):
        mine = y[(point == X).all(axis=1)]
        assert np.isclose(a.mean[k], mine.mean(), atol=1e-9)
    assert np.isclose(a.within, sum(((y[a.index == k] - y[a.index == k].mean()) ** 2).sum() for k in range(len(a.X))), atol=1e-6)


def test_points_keep_the_order_of_their_first_appearance():
    assert aggregate(np.array([[3.0], [1.0], [3.0], [2.0]]), np.arange(4.0)).X.ravel().tolist() == [3.0, 1.0, 2.0]
    alone = aggregate(np.array([[2.0], [0.0], [1.0]]), np.array([0.1, 0.2, 0.3]))
    assert (alone.mean.tolist(), alone.within) == ([0.1, 0.2, 0.3], 0.0)

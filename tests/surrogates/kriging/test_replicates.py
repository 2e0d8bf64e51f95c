import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spotsvm.surrogates.kriging.replicates import aggregate


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

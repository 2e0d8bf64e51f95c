import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from spotsvm.solvers.kernels import squared_distances

FEATURES = [1, 3, 4, 5, 40]  # differences up to 4, products beyond


@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("shift", [0.0, 1e6, -1e12])
def test_distances_keep_their_digits_far_from_the_origin(d, shift):
    rng = np.random.default_rng(d)
    X, Z = rng.normal(size=(300, d)) + shift, rng.normal(size=(150, d)) + shift
    np.testing.assert_allclose(squared_distances(X, Z), cdist(X, Z, "sqeuclidean"), rtol=1e-11)
    np.testing.assert_allclose(squared_distances(X), cdist(X, X, "sqeuclidean"), rtol=1e-11)


@pytest.mark.parametrize("d", FEATURES)
def test_clusters_far_apart_equal_rows_and_overflow(d):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(200, d)) * 1e-3 + 1e5 * rng.integers(0, 3, size=200)[:, None]
    np.testing.assert_allclose(squared_distances(X), cdist(X, X, "sqeuclidean"), rtol=1e-10)
    X = rng.normal(size=(50, d)).repeat(4, axis=0)
    same = np.arange(200)[:, None] // 4 == np.arange(200) // 4
    np.testing.assert_array_equal(squared_distances(X) == 0, same)
    assert (squared_distances(X, X[::4])[same[:, ::4]] == 0).all()
    D = squared_distances(np.outer([0.0, 1e200, -1e200], np.ones(d)))
    np.testing.assert_array_equal(D, np.where(np.eye(3), 0.0, np.inf))


@settings(max_examples=50, deadline=None)
@given(
    st.tuples(st.integers(1, 12), st.integers(1, 7)).flatmap(
        lambda shape: arrays(np.float64, shape, elements=st.floats(-1e6, 1e6, allow_subnormal=False))
    )
)
def test_symmetric_not_negative_zero_diagonal(X):
    D = squared_distances(X)
    assert (D == D.T).all()
    assert (D >= 0).all()
    assert (np.diag(D) == 0).all()

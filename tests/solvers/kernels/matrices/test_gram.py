import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels import KERNELS, kernel_matrix, squared_distances

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(300, 6)), RNG.normal(size=(70, 6))
NAMED = [Kernel(name, 0.2, 0.5, 3) for name in KERNELS if name != "precomputed"]


@pytest.mark.parametrize("kernel", NAMED, ids=lambda k: k.name)
@pytest.mark.parametrize("max_bytes", [1, 50_000])
def test_blocks_change_nothing(kernel, max_bytes):
    K = gram_matrix(kernel, X, max_bytes=max_bytes)
    assert (K == K.T).all()
    np.testing.assert_allclose(K, kernel_matrix(kernel, X, X.copy()), rtol=1e-11, atol=1e-13)
    cross = kernel_matrix(kernel, X, Z, max_bytes=max_bytes)
    np.testing.assert_allclose(cross, kernel_matrix(kernel, X, Z), rtol=1e-11, atol=1e-13)


def test_gammas_and_distances_at_the_ends_of_their_range():
    far = np.array([np.zeros(6), [1e200, 0, 0, 0, 0, 0]])
    for gamma in (0.0, 1e-320, 1e-300):
        assert (gram_matrix(Kernel("rbf", gamma), X) == 1.0).all()
    for gamma in (1e5, 1e200, 1e308):
        np.testing.assert_allclose(gram_matrix(Kernel("rbf", gamma), X), np.eye(len(X)), atol=1e-30)
        np.testing.assert_array_equal(gram_matrix(Kernel("epanechnikov", gamma), X), np.eye(len(X)))
    for gamma in (0.0, 1.0):
        assert gram_matrix(Kernel("rbf", gamma), far)[0, 1] == pytest.approx(1.0 - gamma, abs=1e-30)


def too_small(a, b):
    return (a @ b.T)[:-1]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (too_small, r"kernel: the callable too_small returned shape \(299, 300\) for arrays of shapes \(300, 6\) and"),
        (lambda a, b: 1.0, r"returned shape \(\) .* it must return the matrix of kernel values, \(300, 300\)"),
        (lambda a, b: None, r"returned shape \(\)|returned no matrix"),
        (lambda a, b: "matrix", "returned no matrix of numbers"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "gives nan"),
        (lambda a, b: np.full((len(a), len(b)), -np.inf), "gives -inf"),
    ],
)
def test_a_callable_that_returns_something_else(function, message):
    with pytest.raises(SolverError, match=message):
        gram_matrix(Kernel(function), X)
    np.testing.assert_array_equal(gram_matrix(Kernel(lambda a, b: csr_array(a @ b.T)), X), X @ X.T)
    with pytest.raises(SolverError, match=r"returned shape \(300, 300\) .* return the matrix of kernel values, \(300, 70\)"):
        kernel_matrix(Kernel(lambda a, b: a @ a.T), X, Z)


@pytest.mark.parametrize(
    ("kernel", "data", "message"),
    [
        (Kernel("rbf"), [[1.0, np.nan]], r"X\[0, 1\] is nan; use finite numbers"),
        (Kernel("rbf"), [[1.0], [-np.inf]], r"X\[1, 0\] is -inf; use finite numbers"),
        (Kernel("rbf"), [1.0, 2.0], r"X has shape \(2,\); it must be a matrix with at least one row and one column"),
        (Kernel("rbf"), np.empty((0, 3)), r"X has shape \(0, 3\)"),
        (Kernel("rbf"), np.empty((3, 0)), r"X has shape \(3, 0\)"),
        (Kernel("precomputed"), X, r"kernel='precomputed' and X has shape \(300, 6\); a kernel matrix is square"),
        (Kernel("poly", degree=9), X * 1e30, "kernel: 'poly' with gamma=1, coef0=0, degree=9 gives inf; scale the data, or use"),
        (Kernel("linear"), X * 1e200, "kernel: 'linear' gives"),
        (Kernel("rbf"), [["a"]], "X must be a matrix of numbers"),
    ],
)
def test_bad_data(kernel, data, message):
    with pytest.raises(SolverError, match=message):
        gram_matrix(kernel, data)


FEATURES = [1, 3, 4, 5, 40]  # differences up to 4, products beyond


@pytest.mark.parametrize("d", FEATURES)
@pytest.mark.parametrize("shift", [0.0, -1e12])
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

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels import GramCache
from spotsvm.solvers.kernels.matrices import gram as module

X = np.random.default_rng(0).normal(size=(300, 6))
KERNELS = [
    Kernel("linear"),
    Kernel("poly", 0.1, 1.0, 2),
    Kernel("rbf", 0.1),
    Kernel("rbf", 10.0),
    Kernel("laplacian", 0.1),
    Kernel("laplacian", 10.0),
    Kernel("epanechnikov", 0.1),
    Kernel("sigmoid", 0.1),
    Kernel(lambda a, b: a @ b.T),
]


@pytest.fixture
def computed(monkeypatch):
    """Count how often distances or products are computed."""
    calls = []
    real = module.base_values
    monkeypatch.setattr(module, "base_values", lambda *arguments: calls.append(1) or real(*arguments))
    return calls


@pytest.mark.parametrize("max_bytes", [0, 8 * 300**2, 10**9])
def test_the_matrices_are_those_of_gram_matrix(max_bytes):
    cache = GramCache(X, max_bytes)
    for kernel in KERNELS:
        np.testing.assert_array_equal(cache.gram(kernel), gram_matrix(kernel, X, max_bytes=max_bytes))
    assert cache.kept_bytes <= max_bytes


def test_one_matrix_of_distances_serves_all_gammas(computed):
    cache = GramCache(X)
    for gamma in (0.01, 0.1, 1.0):
        cache.gram(Kernel("rbf", gamma))
        cache.gram(Kernel("epanechnikov", gamma))
    assert len(computed) == 1
    cache.gram(Kernel("linear"))
    cache.gram(Kernel("poly"))
    assert len(computed) == 2
    assert cache.kept_bytes == 2 * 8 * 300**2
    small = GramCache(X, max_bytes=8 * 300**2 - 1)
    small.gram(Kernel("rbf"))
    assert (small.kept_bytes, len(computed)) == (0, 3)


def test_returned_matrices_can_be_changed_and_a_precomputed_one_is_itself():
    cache = GramCache(X)
    for kernel in (Kernel("linear"), Kernel("rbf", 0.3)):
        first = cache.gram(kernel).copy()
        cache.gram(kernel).fill(0.0)
        np.testing.assert_array_equal(cache.gram(kernel), first)
    K = gram_matrix(Kernel("rbf"), X)
    assert GramCache(K).gram(Kernel("precomputed")) is K


def test_matrices_in_single_precision_and_of_sparse_rows():
    rows = X * (np.abs(X) > 0.5)
    single, sparse = (GramCache(one, dtype=np.float32) for one in (rows, csr_matrix(rows)))
    for kernel in (
        Kernel("linear"),
        Kernel("poly", 0.1, 1.0, 2),
        Kernel("rbf", 0.1),
        Kernel("rbf", 1e6),
        Kernel("laplacian", 0.1),
    ):
        expected = gram_matrix(kernel, rows)
        found = single.gram(kernel)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, expected, rtol=2e-6, atol=2e-6)
        if kernel.name != "laplacian":
            np.testing.assert_allclose(sparse.gram(kernel), expected, rtol=2e-6, atol=2e-6)
    assert single.kept_bytes == 3 * 4 * 300**2


def test_bad_arguments():
    with pytest.raises(SolverError, match="max_bytes=-1 is not a number of bytes; use 0 or more"):
        GramCache(X, -1)
    with pytest.raises(SolverError, match=r"X\[0, 0\] is nan"):
        GramCache([[np.nan]])

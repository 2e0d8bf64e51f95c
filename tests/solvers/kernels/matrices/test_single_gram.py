import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels import squared_distances
from spotsvm.solvers.kernels.matrices.single_gram import SingleGram

X = np.random.default_rng(0).standard_normal((300, 5))
GAMMAS = [0.0, 1e-12, 1e-8, 1e-3, 0.2, 7.0, 1e6, 1e30]
OTHERS = [Kernel("linear"), Kernel("poly", 0.2, 1.0, 3), Kernel("sigmoid", 0.1, -1.0), Kernel("epanechnikov", 0.05)]


@pytest.mark.parametrize(
    "kernel", [*(Kernel(name, g) for name in ("rbf", "laplacian") for g in GAMMAS), *OTHERS], ids=lambda k: k.label
)
def test_the_matrix_and_the_constant_are_the_gram_matrix(kernel):
    K, offset = SingleGram(X).matrix(kernel)
    assert K.dtype == np.float32
    assert K.flags.c_contiguous
    assert (K == K.T).all()
    expected = gram_matrix(kernel, X - X.mean(axis=0) if kernel.name == "linear" else X)
    np.testing.assert_allclose(K.astype(np.float64) + offset, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("gamma", [1e-14, 1e-4, 0.5, 8.0])
def test_small_and_large_gammas_keep_the_digits_of_small_values(gamma):
    K, offset = SingleGram(X).matrix(Kernel("rbf", gamma))
    assert offset == (1.0 if gamma < 0.5 else 0.0)
    exponents = np.maximum(-gamma * squared_distances(X, X), -80.0)
    expected, rtol = (np.expm1(exponents), 3e-7) if offset else (np.exp(exponents), 2e-5)  # of single precision distances
    np.testing.assert_allclose(K, expected, rtol=rtol, atol=gamma * 1e-12 if offset else 0.0)
    assert (np.diag(K) == 1.0 - offset).all()


@pytest.mark.parametrize(
    ("rows", "kernel", "message"),
    [
        ([[1e200], [1.0]], Kernel("linear"), "'linear'"),
        (1e10 * np.eye(3), Kernel("poly", 1.0, 0.0, 3), "'poly'"),  # (1e20)^3 = 1e60 is fine in double precision
        (1e25 * np.arange(3.0)[:, None], Kernel("rbf", 1.0), "squared distances up to"),
        (1e-20 * np.arange(3.0)[:, None], Kernel("rbf", 1.0), "squared distances up to"),
        (1e39 * np.arange(3.0)[:, None], Kernel("laplacian", 1.0), "Manhattan distances up to"),
        (X, Kernel("precomputed"), r"shape \(300, 5\)"),
    ],
)
def test_what_single_precision_cannot_hold_is_an_error_each_time(rows, kernel, message):
    gram = SingleGram(rows)
    for _ in range(2):
        with pytest.raises(SolverError, match=message):
            gram.matrix(kernel)
    with pytest.raises(SolverError, match="nan"):
        SingleGram([[1.0, np.nan]])


def test_distances_are_computed_once_and_the_same_kernel_not_at_all(monkeypatch):
    calls = []
    original = Kernel.base.fget
    gram = SingleGram(X)
    one, _ = gram.matrix(Kernel("rbf", 0.5))
    monkeypatch.setattr("spotsvm.solvers.kernels.matrices.single_gram.base_values", lambda *a: calls.append(a))
    monkeypatch.setattr(Kernel, "base", property(lambda k: calls.append(k) or original(k)))
    same, _ = gram.matrix(Kernel("rbf", 0.5))
    assert same is one
    other, offset = gram.matrix(Kernel("rbf", 0.1))
    assert other is one  # overwritten
    np.testing.assert_allclose(other[0, 1] + offset, np.exp(-0.1 * ((X[0] - X[1]) ** 2).sum()), rtol=1e-6)
    assert not any(isinstance(call, tuple) for call in calls)


def test_precomputed_callable_and_far_linear_kernels():
    K = X @ X.T
    found, offset = SingleGram(K).matrix(Kernel("precomputed"))
    np.testing.assert_array_equal(found, K.astype(np.float32))
    assert offset == 0.0
    called, _ = SingleGram(X).matrix(Kernel(lambda A, B: A @ B.T))
    np.testing.assert_array_equal(called, found)
    near, _ = SingleGram(X).matrix(Kernel("linear"))
    far, _ = SingleGram(X + 1e6).matrix(Kernel("linear"))
    np.testing.assert_allclose(far, near, atol=1e-6)


@settings(max_examples=10, deadline=None)
@given(
    st.lists(
        st.sampled_from([Kernel("rbf", 0.3), Kernel("rbf", 1e-5), Kernel("laplacian", 0.2), Kernel("linear"), OTHERS[1]]),
        max_size=6,
    ),
    st.booleans(),
)
def test_one_after_the_other_each_is_as_from_new(kernels, keep):
    gram = SingleGram(X[:50], keep)
    for kernel in kernels:
        found, offset = gram.matrix(kernel)
        fresh, same_offset = SingleGram(X[:50]).matrix(kernel)
        np.testing.assert_array_equal(found, fresh)
        assert offset == same_offset

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual.problem.spectrum import SMALLEST_EIGENVALUE, clipping, matrix_state


def with_eigenvalues(values, seed=0):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values), len(values))))
    K = (Q * values) @ Q.T
    return (K + K.T) / 2


@settings(max_examples=40)
@given(st.integers(0, 1000), st.integers(1, 30), st.floats(-14, 2), st.floats(-120, 120), st.booleans())
def test_the_state_is_that_of_the_eigenvalues(seed, n, exponent, size, negative):
    rng = np.random.default_rng(seed)
    values = rng.random(n) + 0.01
    smallest = (-1 if negative else 1) * 10.0**exponent
    values[0] = smallest
    K = with_eigenvalues(values, seed) * 10.0**size
    ratio = values.min() / values.max() if values.max() > 0 else -np.inf
    if abs(ratio - SMALLEST_EIGENVALUE) < 1e-10:
        return
    assert matrix_state(K) == ("semidefinite" if ratio >= SMALLEST_EIGENVALUE else "indefinite")


@pytest.mark.parametrize("n", [5, 200])
@pytest.mark.parametrize(("ratio", "state"), [(-2e-8, "indefinite"), (-5e-9, "semidefinite"), (0.0, "semidefinite")])
def test_the_margin_is_that_of_the_largest_eigenvalue(n, ratio, state):
    """With equal ones the norm is far above the largest, the shift between them, and no Cholesky factor decides."""
    for others in (np.linspace(0.1, 3.0, n), np.ones(n)):
        others[0] = others[-1] * ratio
        assert matrix_state(with_eigenvalues(others)) == state


def test_what_is_no_kernel_matrix():
    K = np.eye(20)
    for wrong in (np.nan, np.inf, -np.inf, 1e200):
        bad = K.copy()
        bad[3, 4] = bad[4, 3] = wrong
        assert matrix_state(bad) == "not finite"
    for i, j in ((0, 1), (18, 19)):
        bad = K.copy()
        bad[i, j] = 0.1
        assert matrix_state(bad) == "asymmetric"
    assert matrix_state(K + 1e-10 * np.triu(np.ones((20, 20)))) == "semidefinite"


def test_small_and_empty_matters():
    assert matrix_state(np.zeros((3, 3))) == "semidefinite"
    assert matrix_state(np.array([[2.0]])) == "semidefinite"
    assert matrix_state(np.array([[-2.0]])) == "indefinite"
    assert matrix_state(-np.eye(4)) == "indefinite"
    assert matrix_state(np.ones((4, 4)) - np.eye(4)) == "indefinite"
    K = with_eigenvalues(np.array([0.5, 1.0, 2.0]))
    np.testing.assert_allclose(clipping(K)[0], K, atol=1e-12)


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 20))
def test_clipping_is_a_projection_that_new_rows_can_take(seed, n):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n)
    K = with_eigenvalues(values, seed)
    clipped, A = clipping(K)
    np.testing.assert_allclose(np.linalg.eigvalsh(clipped), np.sort(np.maximum(values, 0.0)), atol=1e-10)
    np.testing.assert_allclose(K @ A, clipped, atol=1e-10)
    np.testing.assert_allclose(A @ A, A, atol=1e-10)
    # the nearest: the rest is negative semidefinite and has nothing in common with it
    assert np.linalg.eigvalsh(K - clipped).max() < 1e-10
    np.testing.assert_allclose(clipped @ (K - clipped), 0.0, atol=1e-9)

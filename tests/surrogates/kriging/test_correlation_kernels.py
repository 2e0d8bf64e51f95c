import numpy as np
import pytest
from scipy.spatial.distance import pdist

from spotsvm.surrogates.kriging._correlation_kernels import correlate, exponentials, factor_upper, solve_lower, solve_upper
from spotsvm.surrogates.kriging.correlation import CORRELATIONS

RNG = np.random.default_rng(2)


def test_exponentials_are_correct_to_the_last_digit_but_one():
    x = -np.concatenate([RNG.uniform(0, 700, 4000), 10 ** RNG.uniform(-20, 0, 2000), [0.0]])
    out = np.empty_like(x)
    exponentials(x, out)
    assert np.allclose(out, np.exp(x), rtol=5e-16, atol=0)
    exponentials(np.array([-np.inf, -800.0]), out)
    assert (out[:2] < 1e-300).all()


@pytest.mark.parametrize("name", CORRELATIONS)
def test_correlations(name):
    r2 = np.append(RNG.uniform(0, 20, 500), [0.0, 1e-18])
    out = np.empty_like(r2)
    correlate(name == "matern52", r2, out)
    assert np.allclose(out, CORRELATIONS[name].value(r2), rtol=2e-15)


@pytest.mark.parametrize("n", [1, 3, 30, 200])
def test_factor_and_solutions(n):
    """On both sides of the size from which LAPACK takes over."""
    R = np.eye(n)
    R[np.triu_indices(n, 1)] = np.exp(-pdist(RNG.random((n, 3))))
    U = R.copy()
    full = np.triu(R) + np.triu(R, 1).T
    assert factor_upper(U)
    U = np.triu(U)
    assert np.allclose(U.T @ U, full, atol=1e-13)
    b = RNG.normal(size=n)
    x = b.copy()
    solve_lower(U, x)
    assert np.allclose(U.T @ x, b)
    solve_upper(U, x)
    assert np.allclose(full @ x, b)


@pytest.mark.parametrize("n", [4, 200])
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_what_will_not_factor(n, wrong):
    U = np.eye(n)
    U[1, 2] = wrong if wrong != -1.0 else 1.5
    assert not factor_upper(U)

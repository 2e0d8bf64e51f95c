"""Models with landmarks against kernel ridge regression, and against the same by plain matrices."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_diabetes
from sklearn.kernel_ridge import KernelRidge

from spotsvm.errors import OutOfTimeError
from spotsvm.solvers.kernels import base_matrix
from spotsvm.tuned import landmarks
from spotsvm.tuned.families import kernel_of
from spotsvm.tuned.landmarks import fit_landmarks

X, Y = load_diabetes(return_X_y=True)
X, Y = X[:90] / X.std(), (Y[:90] - Y.mean())[:, None] / Y.std()
RNG = np.random.default_rng(0)
RBF = kernel_of("rbf", 10.0, 0.0)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear"])
def test_sums_over_blocks_are_a_weighted_least_squares_problem(kernel, monkeypatch):
    monkeypatch.setattr(landmarks, "_BLOCK", 130)
    weights = RNG.random(90)
    kernel = kernel_of(kernel, 10.0, 0.0)
    b, c = fit_landmarks(kernel, X.__getitem__, X[:12], Y, weights, [1e-3, 0.1])
    K, own = (kernel.of(base_matrix(kernel.base, A, X[:12])) for A in (X, X[:12]))
    for ridge, coefficients, constant in zip([1e-3, 0.1], b, c, strict=True):
        residual = K @ coefficients.T + constant - Y
        assert (weights @ residual) == pytest.approx(0, abs=1e-6)
        slope = K.T @ (weights[:, None] * residual) + ridge * weights.sum() * own @ coefficients.T
        assert np.abs(slope).max() < 1e-6 * weights.sum()


def test_with_all_rows_as_landmarks_it_is_kernel_ridge_regression():
    target = Y - Y.mean()
    b, c = fit_landmarks(RBF, X.__getitem__, X, target, np.ones(90), [0.01])
    K = RBF.of(base_matrix(RBF.base, X))
    centered = K - K.mean(axis=0)  # a constant of its own, which is not in the norm
    reference = KernelRidge(kernel="precomputed", alpha=0.9).fit(K, target)
    assert np.corrcoef((K @ b[0].T + c[0]).ravel(), reference.predict(K).ravel())[0, 1] > 0.99
    expected = np.linalg.solve(centered.T @ centered + 0.9 * K, centered.T @ target)
    assert b[0].T == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_sparse_rows_equal_rows_and_time():
    dense = fit_landmarks(RBF, X.__getitem__, X[:9], Y, np.ones(90), [0.1])
    sparse = fit_landmarks(RBF, csr_matrix(X).__getitem__, csr_matrix(X[:9]), Y, np.ones(90), [0.1])
    assert sparse[0] == pytest.approx(dense[0], abs=1e-8)
    b, _ = fit_landmarks(RBF, X.__getitem__, X[[0, 0, 1, 1, 2]], Y, np.ones(90), [1e-7])
    assert np.isfinite(b).all()
    with pytest.raises(OutOfTimeError):
        fit_landmarks(RBF, X.__getitem__, X[:9], Y, np.ones(90), [0.1], lambda: True)

"""The derivatives of every kernel against those of its values."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel
from spotsvm.solvers.kernels import kernel_matrix
from spotsvm.solvers.kernels.derivatives import (
    difference_steps,
    expansion_gradient,
    gradient_by_differences,
    kernel_metric,
    tensor_by_differences,
)

RNG = np.random.default_rng(0)
X, Z = 0.8 * RNG.normal(size=(6, 3)), 0.8 * RNG.normal(size=(9, 3))
COEFFICIENTS = RNG.normal(size=(2, 9))
KERNELS = {
    "linear": Kernel("linear"),
    "poly": Kernel("poly", 0.4, 0.7, 3),
    "poly, odd": Kernel("poly", -0.4, -0.7, 4),
    "poly 0": Kernel("poly", 0.4, 0.7, 0),
    "poly 1": Kernel("poly", 0.4, 0.7, 1),
    "rbf": Kernel("rbf", 0.6),
    "sigmoid": Kernel("sigmoid", 0.3, -0.2),
    "epanechnikov": Kernel("epanechnikov", 0.2),
    "multiquadric": Kernel("multiquadric", 0.5, -1.2),
    "negative multiquadric": Kernel("negative_multiquadric", 0.5, 1.2),
}
STEPS = difference_steps(Z)


def as_callable(kernel):
    """Return the same kernel without a name."""
    return Kernel(lambda a, b: kernel_matrix(kernel, a, b))


@pytest.mark.parametrize("name", KERNELS)
def test_gradients_of_sums(name):
    kernel = KERNELS[name]
    found = expansion_gradient(kernel, X, Z, COEFFICIENTS)
    assert found.shape == (6, 2, 3)
    for i, x in enumerate(X):
        for p, row in enumerate(COEFFICIENTS):
            slope = approx_fprime(x, lambda at, row=row: (kernel_matrix(kernel, at[None], Z) @ row)[0], 1e-7)
            np.testing.assert_allclose(found[i, p], slope, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(expansion_gradient(as_callable(kernel), X, Z, COEFFICIENTS, STEPS), found, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_the_metric_is_that_of_difference_quotients(name):
    kernel = KERNELS[name]
    found, numeric = kernel_metric(kernel, X), kernel_metric(as_callable(kernel), X, STEPS)
    for one, other in zip(found, numeric, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(found.value, kernel_matrix(kernel, X, X).diagonal(), rtol=1e-12)


def test_the_metric_of_the_paper_and_of_inner_products():
    sigma = 0.5
    found = kernel_metric(Kernel("rbf", gamma=1 / (2 * sigma**2)), X)
    np.testing.assert_allclose(found.tensor, np.broadcast_to(np.eye(3) / sigma**2, (6, 3, 3)))  # eq. 10
    assert (found.value == 1.0).all()
    assert not found.gradient.any()
    np.testing.assert_array_equal(kernel_metric(Kernel("linear"), X).tensor, np.broadcast_to(np.eye(3), (6, 3, 3)))
    squared = kernel_metric(Kernel("poly", 1.0, 0.0, 2), X)  # of <x, z>^2: 2 |x|^2 I + 2 x x'
    norms = (X**2).sum(axis=1)
    by_hand = 2 * norms[:, None, None] * np.eye(3) + 2 * X[:, :, None] * X[:, None, :]
    np.testing.assert_allclose(squared.tensor, by_hand)
    np.testing.assert_allclose(squared.gradient, 2 * norms[:, None] * X)


def test_a_kernel_that_is_not_smooth_has_no_metric():
    assert np.isnan(kernel_metric(Kernel(laplacian_kernel), X, STEPS).tensor).all()
    assert np.isnan(kernel_metric(Kernel("multiquadric", 1.0, 0.0), X).tensor).all()


@pytest.mark.parametrize("function", [lambda k: kernel_metric(k, X), lambda k: expansion_gradient(k, X, Z, COEFFICIENTS)])
def test_what_cannot_be_differentiated(function):
    with pytest.raises(SolverError, match="kernel='precomputed' is given by its values, which have no derivatives"):
        function(Kernel("precomputed"))
    with pytest.raises(SolverError, match="kernel='laplacian' has no derivatives where a column of two rows is equal"):
        function(Kernel("laplacian"))
    with pytest.raises(SolverError, match="steps=None; a callable kernel is differentiated by difference quotients"):
        function(Kernel(polynomial_kernel))


def test_steps_follow_the_columns_and_differences_are_of_fourth_order():
    data = np.column_stack([np.arange(5.0), np.full(5, -7.0), np.zeros(5)])
    np.testing.assert_allclose(difference_steps(data), 1e-3 * np.array([np.sqrt(2), 7.0, 1.0]))
    x, steps = np.array([0.3, -0.7]), np.array([1e-2, 2e-2])
    found = gradient_by_differences(lambda rows: np.sin(rows @ [[2.0], [1.0]]), x[None], steps)[0, 0]
    np.testing.assert_allclose(found, np.cos(-0.1) * np.array([2.0, 1.0]), rtol=1e-6)
    found = tensor_by_differences(lambda rows: np.exp(rows @ rows.T), x, steps)
    np.testing.assert_allclose(found, np.exp(x @ x) * (np.eye(2) + np.outer(x, x)), rtol=1e-6)

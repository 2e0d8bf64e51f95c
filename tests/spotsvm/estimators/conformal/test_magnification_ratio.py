"""The ratio of magnified metrics."""

from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons

from spotsvm import ConformalSVC
from spotsvm.estimators.conformal.magnification import general_ratio
from spotsvm.solvers.kernels import kernel_matrix
from spotsvm.solvers.kernels.derivatives import KernelMetric, kernel_metric

paper = partial(ConformalSVC, kappa="auto", bias=True)
X, Y = make_moons(80, noise=0.25, random_state=0)
NEW = np.random.default_rng(1).uniform(-1.0, 2.0, size=(12, 2))
KERNELS = {
    "rbf": {"sigma": 0.5},
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "degree": 3, "gamma": 0.5, "coef0": 1.0},
    "sigmoid": {"kernel": "sigmoid", "gamma": 0.1, "coef0": 0.1},
    "epanechnikov": {"kernel": "epanechnikov", "gamma": 0.05},
    "callable": {"kernel": lambda a, b: (0.5 * a @ b.T + 1.0) ** 2 + np.exp(-cdist(a, b, "sqeuclidean"))},
}


def metric_by_differences(kernel, x, h=1e-3):
    """Return the derivatives of a function of two rows by both, at x."""
    d = len(x)
    tensor = np.empty((d, d))
    for i, one in enumerate(h * np.eye(d)):
        for j, other in enumerate(h * np.eye(d)):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            tensor[i, j] = sum(a * b * kernel(x + a * one, x + b * other) for a, b in signs) / (4 * h * h)
    return tensor


def magnified_kernel(machine):
    """Return K~(x, z) = D(x) K(x, z) D(z) of a fitted machine of two classes."""

    def kernel(x, z):
        D_x, D_z = machine.conformal_factor(np.array([x, z]))
        return D_x * kernel_matrix(machine.kernel_, x[None], z[None])[0, 0] * D_z

    return kernel


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize(("n_passes", "bias", "factor"), [(2, False, "boundary"), (3, True, "boundary"), (3, False, "support")])
def test_the_ratio_of_the_metrics_by_finite_differences(name, n_passes, bias, factor):
    machine = paper(C=5.0, kappa=0.4, n_passes=n_passes, bias=bias, factor=factor, **KERNELS[name]).fit(X, Y)
    kernel = magnified_kernel(machine)
    metric_ratio = []
    for x in NEW:
        base = metric_by_differences(lambda a, b: kernel_matrix(machine.kernel_, a[None], b[None])[0, 0], x)
        metric_ratio.append(np.sqrt(np.linalg.det(metric_by_differences(kernel, x)) / np.linalg.det(base)))
    np.testing.assert_allclose(machine.magnification(NEW), metric_ratio, rtol=2e-3, atol=1e-6)


def test_the_general_formula_is_that_of_the_determinants():
    rng = np.random.default_rng(0)
    machine = paper(**KERNELS["poly"]).fit(X, Y)
    value, k, g = metric = kernel_metric(machine.kernel_, NEW)
    u = rng.normal(size=(12, 2))
    cross = k[:, :, None] * u[:, None, :]
    changed = g + value[:, None, None] * u[:, :, None] * u[:, None, :] + cross + cross.transpose(0, 2, 1)  # eq. 6 by D^2
    by_hand = np.sqrt(np.linalg.det(changed) / np.linalg.det(g))
    np.testing.assert_allclose(general_ratio(metric, u), by_hand, rtol=1e-9)


def test_rows_whose_derivatives_are_not_finite():
    metric = KernelMetric(np.ones(2), np.zeros((2, 2)), np.broadcast_to(np.eye(2), (2, 2, 2)))
    gradient = np.array([[np.nan, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(general_ratio(metric, gradient), [np.nan, np.sqrt(26.0)])
    assert np.isnan(general_ratio(metric, np.full((2, 2), np.nan))).all()

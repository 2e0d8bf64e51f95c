"""The values of kernels."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise
from sklearn.svm import SVC

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix
from spotsvm.solvers.kernels import KERNELS, kernel_matrix, make_kernel, resolve_gamma

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(30, 6)), RNG.normal(size=(20, 6))
REFERENCES = {
    "linear": (Kernel("linear"), pairwise.linear_kernel),
    "poly": (Kernel("poly", 0.3, 0.7, 3), lambda a, b: pairwise.polynomial_kernel(a, b, 3, 0.3, 0.7)),
    "poly 7": (Kernel("poly", 0.3, -0.7, 7), lambda a, b: pairwise.polynomial_kernel(a, b, 7, 0.3, -0.7)),
    "poly 0": (Kernel("poly", 0.3, 0.7, 0), lambda a, b: np.ones((len(a), len(b)))),
    "rbf": (Kernel("rbf", 0.3), lambda a, b: pairwise.rbf_kernel(a, b, 0.3)),
    "laplacian": (Kernel("laplacian", 0.3), lambda a, b: pairwise.laplacian_kernel(a, b, 0.3)),
    "rbf, sigma": (make_kernel("rbf", sigma=1.7), lambda a, b: np.exp(-(cdist(a, b) ** 2) / (2 * 1.7**2))),
    "sigmoid": (Kernel("sigmoid", -0.3, 0.7), lambda a, b: np.tanh(-0.3 * a @ b.T + 0.7)),
    "epanechnikov": (Kernel("epanechnikov", 0.1), lambda a, b: np.maximum(0, 1 - 0.1 * cdist(a, b) ** 2)),
    "multiquadric": (Kernel("multiquadric", 0.1, -2.0), lambda a, b: np.sqrt(0.1 * cdist(a, b) ** 2 + 4)),
    "negative": (Kernel("negative_multiquadric", 0.1, 2.0), lambda a, b: -np.sqrt(0.1 * cdist(a, b) ** 2 + 4)),
    "callable": (Kernel(lambda a, b: (a @ b.T + 1) ** 2), lambda a, b: pairwise.polynomial_kernel(a, b, 2, 1.0, 1.0)),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_values(name):
    kernel, reference = REFERENCES[name]
    np.testing.assert_allclose(kernel_matrix(kernel, X, Z), reference(X, Z), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(gram_matrix(kernel, X), reference(X, X), rtol=1e-11, atol=1e-12)


def test_the_values_of_a_precomputed_kernel_are_the_data():
    K = X @ X.T
    assert gram_matrix(Kernel("precomputed"), K) is K
    np.testing.assert_array_equal(kernel_matrix(Kernel("precomputed"), Z @ X.T, X), Z @ X.T)


DEFINITE = [k for k in (*(r[0] for r in REFERENCES.values()), *(Kernel(n, 0.5, 1.0) for n in KERNELS)) if k.positive_semidefinite]


@pytest.mark.parametrize("kernel", DEFINITE, ids=lambda k: k.label)
def test_what_is_called_positive_semidefinite_is(kernel):
    eigenvalues = np.linalg.eigvalsh(gram_matrix(kernel, X))
    assert eigenvalues[0] >= -1e-12 * eigenvalues[-1]


@pytest.mark.parametrize(
    "kernel",
    [
        Kernel("sigmoid", -1.0, 1.0),
        Kernel("epanechnikov", 0.15),
        Kernel("multiquadric", 1.0, 1.0),
        Kernel("negative_multiquadric", 1.0, 1.0),
        Kernel("poly", 1.0, -3.0, 2),
    ],
    ids=lambda k: k.label,
)
def test_the_indefinite_examples_are_indefinite(kernel):
    assert not kernel.positive_semidefinite
    eigenvalues = np.linalg.eigvalsh(gram_matrix(kernel, X))
    assert eigenvalues[0] < -1e-3
    assert eigenvalues[-1] > 1e-3


def test_make_kernel_hands_on_parameters_and_sigma_to_rbf_alone():
    assert make_kernel("poly", X, gamma=0.25, coef0=0.5, degree=2) == Kernel("poly", 0.25, 0.5, 2)
    kernel = Kernel("rbf", 2.0)
    assert make_kernel(kernel, X, gamma=1.0) is kernel
    with pytest.raises(SolverError, match="sigma=1.0 is the width of the kernel 'rbf'; the kernel 'poly' has none"):
        make_kernel("poly", X, sigma=1.0)
    with pytest.raises(SolverError, match="kernel='gauss' is not known"):
        make_kernel("gauss", X, sigma=1.0)


def test_kernels_without_gamma_need_no_data_for_it():
    for name in ("linear", "precomputed", lambda a, b: a @ b.T):
        assert make_kernel(name).gamma == make_kernel(name, X * 1e300).gamma == 1.0
        with pytest.raises(SolverError, match="gamma='wide'"):
            make_kernel(name, gamma="wide")


def test_values_of_gamma_are_those_of_svc():
    rows = np.random.default_rng(0).normal(3.0, 2.0, size=(40, 5))
    for gamma in ("scale", "auto", 0.3, 2, np.float32(0.5)):
        assert resolve_gamma(gamma, rows) == pytest.approx(SVC(gamma=gamma).fit(rows, rows[:, 0] > 3)._gamma, rel=1e-14)
    assert resolve_gamma("scale", np.full((3, 2), 7.0)) == 1.0
    assert (resolve_gamma(sigma=0.5), resolve_gamma(sigma=3)) == (2.0, pytest.approx(1 / 18))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("wide", X), {}, "gamma='wide'; use 'scale', 'auto' or a number"),
        (("scale",), {}, "gamma='scale' depends on the data; give X"),
        ((None, X), {}, "gamma=None; use 'scale', 'auto' or a finite number"),
        ((np.nan, X), {}, "gamma=nan; use"),
        ((True, X), {}, "gamma=True; use"),
        ((0.5, X), {"sigma": 1.0}, r"sigma=1.0 and gamma=0.5 are both given; use one, gamma is 1 / \(2 sigma\^2\)"),
        (("scale", X), {"sigma": 0.0}, "sigma=0.0; use a positive number, from 1e-150"),
        (("scale", X), {"sigma": np.inf}, "sigma=inf; use a positive number"),
        (("scale", X), {"sigma": 1e-200}, "sigma=1e-200; use a positive number, from 1e-150"),
        (("scale", X), {"sigma": "1"}, "sigma='1'; use a positive number"),
        (("scale", X * 1e200), {}, "gamma='scale' needs the variance of X, which overflows; scale X"),
        (("scale", X * 1e-160), {}, "gamma='scale' is infinite, since X varies by only .*; scale X"),
    ],
)
def test_bad_gamma_and_sigma(arguments, options, message):
    with pytest.raises(SolverError, match=message):
        resolve_gamma(*arguments, **options)

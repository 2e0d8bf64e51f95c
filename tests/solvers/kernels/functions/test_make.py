import numpy as np
import pytest

from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.kernels import Kernel, make_kernel

X = np.random.default_rng(0).normal(size=(10, 4))


def test_parameters_are_handed_on():
    assert make_kernel("poly", X, gamma="auto", coef0=0.5, degree=2) == Kernel("poly", 0.25, 0.5, 2)


def test_a_kernel_is_given_back():
    kernel = Kernel("rbf", 2.0)
    assert make_kernel(kernel, X, gamma=1.0) is kernel


@pytest.mark.parametrize("name", ["linear", "precomputed", lambda a, b: a @ b.T])
def test_kernels_without_gamma_need_no_data_for_it(name):
    assert make_kernel(name).gamma == 1.0
    assert make_kernel(name, X * 1e300).gamma == 1.0
    with pytest.raises(SolverError, match="gamma='wide'"):
        make_kernel(name, gamma="wide")


def test_sigma_is_for_rbf():
    with pytest.raises(SolverError, match="sigma=1.0 is the width of the kernel 'rbf'; the kernel 'poly' has none"):
        make_kernel("poly", X, sigma=1.0)


def test_an_unknown_kernel():
    with pytest.raises(SolverError, match="kernel='gauss' is not known"):
        make_kernel("gauss", X, sigma=1.0)

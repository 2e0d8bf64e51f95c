from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.errors import SolverError
from spotsvm.kernels import Kernel, gram_matrix

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(30, 6)), RNG.normal(size=(20, 6))


def test_what_is_definite_by_its_parameters():
    centre = np.eye(30) - 1 / 30
    assert np.linalg.eigvalsh(centre @ gram_matrix(Kernel("negative_multiquadric", 1.0, 1.0), X) @ centre)[0] > -1e-12
    assert not Kernel("precomputed").positive_semidefinite
    assert not Kernel(lambda a, b: a @ b.T).positive_semidefinite
    assert Kernel("poly", -1.0, -1.0, 0).positive_semidefinite


@settings(max_examples=40)
@given(st.integers(1, 12), st.fractions(-2, 2, max_denominator=64))
def test_powers(degree, value):
    exact = float(Fraction(value) ** degree)
    assert Kernel("poly", 1.0, 0.0, degree).of(np.array([float(value)]))[0] == pytest.approx(exact, rel=1e-13, abs=1e-300)


def test_no_value_of_rbf_is_denormal():
    K = gram_matrix(Kernel("rbf", 1e6), X)
    assert K[K < 1].max() < 1e-30
    assert K.min() > np.finfo(np.float32).tiny


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "RBF"}, "kernel='RBF' is not known; use one of 'linear', 'poly'"),
        ({"name": 3}, "kernel=3 is not known"),
        ({"name": "rbf", "gamma": -1.0}, r"gamma=-1.0; it scales a squared distance in the kernel 'rbf': use 0 or more"),
        ({"name": "poly", "gamma": np.nan}, "gamma=nan; use a finite number"),
        ({"name": "poly", "gamma": "scale"}, "gamma='scale'; use a finite number"),
        ({"name": "poly", "gamma": True}, "gamma=True; use a finite number"),
        ({"name": "poly", "coef0": np.inf}, "coef0=inf; use a finite number"),
        ({"name": "poly", "degree": 2.5}, "degree=2.5; the power of a polynomial kernel is a whole number, 0 or more"),
        ({"name": "poly", "degree": -1}, "degree=-1; the power"),
        ({"name": "poly", "degree": True}, "degree=True; the power"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(SolverError, match=message):
        Kernel(**options)

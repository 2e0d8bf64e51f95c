import numpy as np
import pytest
from sklearn.svm import SVC

from spotsvm.solvers.errors import SolverError
from spotsvm.solvers.kernels import resolve_gamma

X = np.random.default_rng(0).normal(3.0, 2.0, size=(40, 5))


@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3, 2, np.float32(0.5)])
def test_gamma_is_that_of_svc(gamma):
    assert resolve_gamma(gamma, X) == pytest.approx(SVC(gamma=gamma).fit(X, X[:, 0] > 3)._gamma, rel=1e-14)


def test_constant_data_have_scale_1_as_in_svc():
    assert resolve_gamma("scale", np.full((3, 2), 7.0)) == 1.0


def test_sigma_is_the_width_of_a_gaussian():
    assert resolve_gamma(sigma=0.5) == 2.0
    assert resolve_gamma(sigma=3) == pytest.approx(1 / 18)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("wide", X), {}, "gamma='wide'; use 'scale', 'auto' or a number"),
        (("scale",), {}, "gamma='scale' depends on the data; give X"),
        ((None, X), {}, "gamma=None; use 'scale', 'auto' or a finite number"),
        ((np.nan, X), {}, "gamma=nan; use"),
        ((True, X), {}, "gamma=True; use"),
        ((0.5, X), {"sigma": 1.0}, r"sigma=1.0 and gamma=0.5 are both given; use one, gamma is 1 / \(2 sigma\^2\)"),
        (("scale", X), {"sigma": 0.0}, "sigma=0.0; use a positive number whose square is one too"),
        (("scale", X), {"sigma": np.inf}, "sigma=inf; use a positive number"),
        (("scale", X), {"sigma": 1e-200}, "sigma=1e-200; use a positive number whose square is one too"),
        (("scale", X), {"sigma": "1"}, "sigma='1'; use a positive number"),
        (("scale", X * 1e200), {}, "gamma='scale' needs the variance of X, which overflows; scale X"),
        (("scale", X * 1e-160), {}, "gamma='scale' is infinite, since X varies by only .*; scale X"),
    ],
)
def test_bad_gamma_and_sigma(arguments, options, message):
    with pytest.raises(SolverError, match=message):
        resolve_gamma(*arguments, **options)

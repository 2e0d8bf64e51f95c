import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from spotsvm.errors import SurrogateError
from spotsvm.surrogates.kriging.correlation import CORRELATIONS, get_correlation


@pytest.mark.parametrize(("name", "peer", "scale"), [("gaussian", RBF(1.0), 0.5), ("matern52", Matern(1.0, nu=2.5), 1.0)])
def test_values_are_those_of_scikit_learn(name, peer, scale):
    x = np.linspace(0, 3, 50)[:, None]
    assert np.allclose(get_correlation(name).value(scale * x.ravel() ** 2), peer(x, [[0.0]]).ravel(), rtol=1e-13)


@pytest.mark.parametrize("name", sorted(CORRELATIONS))
def test_slope_is_the_derivative(name):
    correlation = get_correlation(name)
    r2 = np.linspace(0.05, 9, 40)
    numeric = (correlation.value(r2 + 1e-6) - correlation.value(r2 - 1e-6)) / 2e-6
    assert np.allclose(correlation.slope(r2), numeric, rtol=1e-6, atol=1e-10)
    assert np.isfinite(correlation.slope(np.zeros(1))).all()
    assert correlation.value(np.zeros(1))[0] == 1.0
    with pytest.raises(SurrogateError, match="correlation='cubic' is unknown; use one of gaussian, matern52"):
        get_correlation("cubic")

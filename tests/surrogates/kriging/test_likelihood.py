import numpy as np
import pytest
from kriging_algebra import fitted, gaussian
from scipy.optimize import check_grad
from scipy.spatial.distance import squareform

from spotsvm.errors import NotPositiveDefiniteError
from spotsvm.surrogates.kriging.correlation import CORRELATIONS, Embedding, Gaussian
from spotsvm.surrogates.kriging.likelihood import Response, factor, gradient, profile
from spotsvm.surrogates.responses import aggregate

RNG = np.random.default_rng(0)
X = RNG.random((25, 3))
Y = np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.normal(size=25)


def distances(points):
    embedding = Embedding.of(points)
    return embedding.pair_distances(embedding.transform(points))


@pytest.mark.parametrize("correlation", CORRELATIONS.values(), ids=lambda c: c.name)
@pytest.mark.parametrize("nugget", [0.0, 1e-3, 0.7])
def test_profile_is_equations_6_to_8(correlation, nugget):
    theta = np.array([4.0, 1.0, 0.3])
    p = profile(correlation, theta @ distances(X), nugget, Response.single(Y))
    R = correlation.value(squareform(theta @ distances(X))) + nugget * np.eye(25)
    assert np.allclose((p.log_likelihood, p.mu, p.sigma2), fitted(R, Y), rtol=1e-7)


def test_replicates_have_the_likelihood_of_all_responses():
    points = np.vstack([X, X[:6], X[:2]])
    y = np.concatenate([Y, Y[:6] + 0.1, Y[:2] - 0.2])
    a = aggregate(points, y)
    theta, nugget = np.array([4.0, 1.0, 0.3]), 0.05
    p = profile(Gaussian(), theta @ distances(a.X), nugget, Response(a.mean, a.count, a.within))
    R = gaussian(points, points, theta) + nugget * np.eye(len(y))
    assert np.allclose((p.log_likelihood, p.mu, p.sigma2), fitted(R, y), rtol=1e-9)


@pytest.mark.parametrize("correlation", CORRELATIONS.values(), ids=lambda c: c.name)
@pytest.mark.parametrize("replicated", [False, True])
def test_gradient(correlation, replicated):
    points = np.vstack([X, X[:6]]) if replicated else X
    a = aggregate(points, np.append(Y, Y[:6] + 0.3) if replicated else Y)
    response, pairs = Response(a.mean, a.count, a.within), distances(a.X)

    def value(phi):
        return gradient(correlation, pairs, np.exp(phi[:3]), np.exp(phi[3]), response)[0]

    def slope(phi):
        return np.append(*gradient(correlation, pairs, np.exp(phi[:3]), np.exp(phi[3]), response)[1:])

    for phi in RNG.normal(size=(5, 4)) - [0, 0, 0, 2]:
        assert check_grad(value, slope, phi) < 1e-4 * max(1, np.abs(slope(phi)).max())


def test_jitter_grows_until_the_matrix_factors():
    _, none = factor(Gaussian(), np.ones(3), 3)
    _, some = factor(Gaussian(), np.zeros(3), 3)
    assert none == 0.0
    assert 0.0 < some <= 1e-10
    with pytest.raises(NotPositiveDefiniteError, match="3 points"):
        factor(Gaussian(), np.full(3, np.nan), 3)

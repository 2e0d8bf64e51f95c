import numpy as np
import pytest
from sklearn.gaussian_process.kernels import RBF, Matern

from spotsvm.errors import SurrogateError
from spotsvm.surrogates.kriging.correlation import CORRELATIONS, Embedding, get_correlation


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


X = np.array([[0.0, 1.2, 7.0], [2.0, 0.8, 3.0], [2.0, 3.0, 7.0]])


def test_pair_distances_are_squared_differences_of_numbers_and_mismatches_of_names():
    embedding = Embedding.of(X, integer=[1], categorical=[2], scale=[2.0, 1.0, 1.0])
    got = embedding.pair_distances(embedding.transform(X))
    pairs = [(0, 1), (0, 2), (1, 2)]
    want = [
        [((X[i, 0] - X[j, 0]) / 2) ** 2 for i, j in pairs],
        [(round(X[i, 1]) - round(X[j, 1])) ** 2 for i, j in pairs],
        [float(X[i, 2] != X[j, 2]) for i, j in pairs],
    ]
    assert np.allclose(got, want)


def test_an_unknown_name_is_as_far_from_all():
    embedding = Embedding.of(X, categorical=[2])
    known, new = embedding.transform(X), embedding.transform(np.array([[0.0, 1.2, 99.0]]))
    columns = embedding.owner == 2
    assert np.allclose(((known - new)[:, columns] ** 2).sum(axis=1), 1.0)


def test_tiny_differences_survive():
    x = np.array([[0.5], [0.5 + 1e-12]])
    embedding = Embedding.of(x)
    assert np.isclose(embedding.pair_distances(embedding.transform(x))[0, 0], 1e-24, rtol=1e-3)

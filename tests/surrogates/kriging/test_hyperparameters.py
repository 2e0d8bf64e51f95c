import math

import numpy as np
from scipy.stats import kstest, norm

from spotsvm.surrogates.kriging.correlation import Gaussian
from spotsvm.surrogates.kriging.embedding import Embedding
from spotsvm.surrogates.kriging.hyperparameters import Hyperposterior, Prior, slice_update
from spotsvm.surrogates.kriging.likelihood import Response, profile
from spotsvm.surrogates.kriging.response_warp import ResponseWarp

RNG = np.random.default_rng(5)
X = RNG.random((15, 2))
Y = 3 + np.sin(4 * X[:, 0]) + 0.1 * RNG.normal(size=15)


def posterior(y=Y, warped=True, index=None):
    embedding = Embedding.of(X)
    pairs = embedding.pair_distances(embedding.transform(X))
    index = np.arange(len(y)) if index is None else index
    return Hyperposterior(Gaussian(), pairs, y, index, ResponseWarp.of(y), warped, Prior())


def test_slice_sampling_samples_the_density():
    """Two correlated normal coordinates; thinned samples must pass Kolmogorov and Smirnov."""
    rng = np.random.default_rng(0)

    def density(phi):
        return -0.5 * (phi[0] ** 2 + (phi[1] - 0.8 * phi[0]) ** 2 / 0.36)

    phi, value, kept = np.zeros(2), 0.0, []
    for k in range(12_000):
        phi, value = slice_update(density, phi, value, k % 2, rng)
        assert value == density(phi)
        if k % 12 == 11:
            kept.append(phi)
    samples = np.array(kept)
    assert kstest(samples[:, 0], norm.cdf).pvalue > 0.01
    assert kstest(samples[:, 1], norm.cdf).pvalue > 0.01
    assert abs(np.corrcoef(samples.T)[0, 1] - 0.8) < 0.05


def test_density_is_prior_times_likelihood():
    p = posterior(warped=False)
    phi = np.array([-0.5, 0.3, -4.0])
    mean, sd = Prior().moments(2, False)
    assert np.allclose(mean[:2], math.log(0.5) + 0.5 * math.log(2))
    theta = np.exp(-2 * phi[:2])
    z = (Y - Y.min()) / np.median(Y - Y.min())
    likelihood = profile(Gaussian(), theta @ p.pair_distances, math.exp(-4.0), Response.single(z)).log_likelihood
    assert np.isclose(p(phi), likelihood - 0.5 * (((phi - mean) / sd) ** 2).sum())


def test_the_warp_is_judged_by_its_jacobian():
    """Responses that are the exponential of a smooth function are likelier warped, a smooth function itself is not."""
    smooth = np.sin(3 * X[:, 0]) + X[:, 1]
    strengths = np.linspace(-6, 6, 13)

    def best(y):
        return strengths[np.argmax([posterior(y)(np.array([0.0, 0.0, -12.0, s])) for s in strengths])]

    assert best(np.exp(4 * smooth)) > 1
    assert best(smooth) < 0


def test_replicates_are_aggregated_after_the_warp():
    y = np.append(Y, Y[:3] + 0.2)
    p = posterior(y, index=np.append(np.arange(15), [0, 1, 2]))
    response = p.response(np.array([0.0, 0.0, -3.0, 1.0]))
    z = p.warp.forward(y, 1.0)
    assert np.isclose(response.mean[1], (z[1] + z[16]) / 2)
    assert np.isclose(response.within, sum((z[k] - z[15 + k]) ** 2 / 2 for k in range(3)))


def test_outside_the_bounds_there_is_nothing():
    p = posterior()
    for phi in ([9.0, 0, -4, 0], [0, -6.0, -4, 0], [0, 0, 5.0, 0], [0, 0, -4, 12.0]):
        assert p(np.array(phi, dtype=float)) == -math.inf

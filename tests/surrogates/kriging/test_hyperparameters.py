import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from spotsvm.surrogates.kriging.correlation import CORRELATIONS, Embedding, Gaussian
from spotsvm.surrogates.kriging.hyperparameters import Hyperposterior, Prior, ResponseWarp
from spotsvm.surrogates.kriging.likelihood import profile

RNG = np.random.default_rng(5)
X = RNG.random((15, 2))
Y = 3 + np.sin(4 * X[:, 0]) + 0.1 * RNG.normal(size=15)


def posterior(y=Y, warped=True, index=None, correlation=Gaussian()):  # noqa: B008
    embedding = Embedding.of(X)
    pairs = embedding.pair_distances(embedding.transform(X))
    index = np.arange(len(y)) if index is None else index
    return Hyperposterior(correlation, pairs, y, index, ResponseWarp.of(y), warped, Prior())


def density(p, phi):
    """The posterior in plain numpy: the prior, the warp's Jacobian and the likelihood of `profile`."""
    mean, sd = p.moments()
    r2 = np.exp(-2 * phi[: p.d]) @ p.pair_distances
    likelihood = profile(p.correlation, r2, math.exp(phi[p.d]), p.response(phi)).log_likelihood
    return likelihood - 0.5 * (((phi - mean) / sd) ** 2).sum() + p.warp.log_jacobian(p.y, p.log_strength(phi))


def slice_update(density, phi, j, rng, width=1.0):
    """Move coordinate j of phi by one step of slice sampling, in plain Python."""

    def at(x):
        return density(np.where(np.arange(len(phi)) == j, x, phi))

    level = density(phi) + math.log(1 - rng.random())
    low = phi[j] - width * rng.random()
    high = low + width
    for _ in range(4):
        if at(low) <= level:
            break
        low -= width
    for _ in range(4):
        if at(high) <= level:
            break
        high += width
    for _ in range(30):
        x = low + rng.random() * (high - low)
        if at(x) > level:
            return np.where(np.arange(len(phi)) == j, x, phi)
        low, high = (x, high) if x < phi[j] else (low, x)
    return phi


def test_slice_sampling_samples_the_density():
    """Two correlated normal coordinates; thinned samples must pass Kolmogorov and Smirnov."""
    rng = np.random.default_rng(0)
    phi, kept = np.zeros(2), []
    for k in range(12_000):
        phi = slice_update(lambda phi: -0.5 * (phi[0] ** 2 + (phi[1] - 0.8 * phi[0]) ** 2 / 0.36), phi, k % 2, rng)
        if k % 12 == 11:
            kept.append(phi)
    samples = np.array(kept)
    assert kstest(samples[:, 0], norm.cdf).pvalue > 0.01
    assert kstest(samples[:, 1], norm.cdf).pvalue > 0.01
    assert abs(np.corrcoef(samples.T)[0, 1] - 0.8) < 0.05


@pytest.mark.parametrize("correlation", CORRELATIONS.values(), ids=CORRELATIONS)
@pytest.mark.parametrize(("warped", "replicates"), [(True, 3), (False, 0)])
def test_compiled_chains_are_those_of_plain_python(correlation, warped, replicates):
    y, index = np.append(Y, Y[:replicates] + 0.1), np.append(np.arange(15), np.arange(replicates))
    p = posterior(y, warped, index, correlation)
    mean, sd = p.moments()
    for phi in mean + sd * RNG.normal(size=(10, len(mean))):
        assert np.isclose(p(phi), density(p, phi), rtol=1e-9)
    chains = mean + 0.3 * RNG.normal(size=(2, len(mean)))
    moves = RNG.permutation(chains.size)
    plain, rng, again = chains.copy(), np.random.default_rng(3), np.random.default_rng(3)
    for c, j in zip(*np.divmod(moves, len(mean)), strict=True):
        plain[c] = slice_update(lambda phi: density(p, phi) if p(phi) > -math.inf else -math.inf, plain[c], j, rng)
    assert np.allclose(p.sweep(chains, moves, again), plain, rtol=1e-12)
    assert rng.random() == again.random()


def test_a_chain_at_an_impossible_place_goes_back_to_the_prior():
    p = posterior()
    moved = p.sweep(np.array([[0.0, 0.0, 99.0, 0.0]]), np.array([0]), np.random.default_rng(0))
    assert np.array_equal(moved[0, 1:], p.moments()[0][1:])


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


SKEWED = np.array([3.0, 1.0, 2.0, 8.0, 1e6])


@pytest.mark.parametrize("strength", [-math.inf, -4.0, 0.0, 3.0])
def test_backward_undoes_forward_and_slope_and_jacobian_are_its_derivatives(strength):
    warp, h = ResponseWarp.of(SKEWED), 1e-5
    z = warp.forward(SKEWED, strength)
    assert np.allclose(warp.low + warp.unit * warp.backward(z, strength), SKEWED)
    numeric = (warp.backward(z + h, strength) - warp.backward(z - h, strength)) / (2 * h)
    assert np.allclose(np.exp(warp.log_slope(z, strength)), numeric, rtol=1e-5)
    assert np.isclose(warp.log_jacobian(SKEWED, strength), -np.log(numeric).sum(), atol=1e-4)


@settings(max_examples=50)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(-9, 9))
@example([0.0, 2.2e-313, 1.0], 0.0)
def test_order_is_kept(values, strength):
    y = np.array(values)
    z = ResponseWarp.of(y).forward(y, strength)
    assert np.isfinite(z).all()
    assert (np.diff(z[np.argsort(y)]) >= 0).all()


@pytest.mark.parametrize("y", [[2.0, 2.0], [1.0, 1.0, 1.0, 5.0]])
def test_ties_at_the_best_response(y):
    assert ResponseWarp.of(np.array(y)).unit > 0

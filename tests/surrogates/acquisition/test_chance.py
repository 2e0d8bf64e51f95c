from math import erf, sqrt

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime
from scipy.spatial.distance import pdist

from spotsvm.surrogates.acquisition._improvement_kernels import log_cdf
from spotsvm.surrogates.acquisition.chance import Chance, _evidence, caution, stacked
from spotsvm.surrogates.kriging.correlation import Embedding

RNG = np.random.default_rng(0)
POINTS = RNG.random((60, 2))


def border(points):
    return points[:, 0] < 0.6 + 0.1 * np.sin(6 * points[:, 1])


def of_success(points, succeeded, power=1.0):
    return Chance.of_success(Embedding.of(points), points, succeeded, power)


def test_both_outcomes_at_one_point():
    points = np.vstack([POINTS[:20], POINTS[:20]])
    succeeded = np.arange(40) % 20 < 15
    succeeded[:5] = False
    chance = of_success(points, succeeded).at(POINTS[:20])
    assert chance[:5].mean() < chance[5:15].mean()
    assert chance[15:].mean() < chance[:5].mean()


def test_evidence_of_one_label_and_of_none():
    """Of one point the evidence is a closed form, Phi(mu / sqrt(1 + variance)), which propagation finds exactly."""
    value, _ = _evidence(np.empty((2, 0)), np.array([0.0, 0.0, 0.7, 0.4]), np.ones(1), np.zeros((2, 1)))
    z = 0.4 / sqrt(1.0 + np.exp(1.4))
    assert np.isclose(value, np.log(0.5 * (1 + erf(z / sqrt(2)))))


def test_evidence_of_two_labels_against_quadrature():
    phi, away = np.array([0.0, 0.5, 0.2]), 0.3
    value, _ = _evidence(np.array([[away**2]]), phi, np.array([1.0, -1.0]), np.zeros((2, 2)))
    s, variance = sqrt(5) * away, np.exp(1.0)
    rho = (1 + s + s * s / 3) * np.exp(-s)

    def cdf(z):
        return 0.5 * (1 + erf(z / sqrt(2)))

    def integrand(u):
        f = 0.2 + sqrt(variance) * u
        other, rest = 0.2 + rho * (f - 0.2), variance * (1 - rho**2)
        return np.exp(-0.5 * u * u) / sqrt(2 * np.pi) * cdf(f) * cdf(-other / sqrt(1 + rest))

    assert np.isclose(value, np.log(quad(integrand, -8, 8)[0]), atol=2e-3)


def test_gradient_of_the_evidence():
    distances = np.array([pdist(POINTS[:30, [j]], "sqeuclidean") for j in range(2)])
    labels = np.where(border(POINTS[:30]), 1.0, -1.0)
    for phi in ([-0.5, 0.2, 1.0, 0.3], [0.3, -1.0, 2.0, -0.2]):
        _, gradient = _evidence(distances, np.array(phi), labels, np.zeros((2, 30)))
        by_hand = approx_fprime(np.array(phi), lambda p: _evidence(distances, p, labels, np.zeros((2, 30)))[0], 1e-4)
        assert np.allclose(gradient, by_hand, atol=0.02)


def test_caution():
    assert caution(np.ones(5, bool)) == 1.0
    assert caution(np.array([False] * 3)) == 8.0
    assert caution(np.array([False] * 40)) == 2.0**12
    assert caution(np.array([False] * 3 + [True] * 8)) == 1.0
    assert caution(np.array([False, True] * 10)) > 2**6


def test_stacking_changes_nothing():
    small, large = of_success(POINTS[:10], border(POINTS[:10])), of_success(POINTS, border(POINTS))
    points, scale, U, a, half_one, *numbers = stacked([small, large], 2)
    assert points.shape == (2, 60, 2)
    assert (a[0, 10:] == 0).all()
    assert (U[0, 10:, 10:] == np.eye(50)).all()
    assert [len(x) for x in numbers] == [2, 2, 2, 2]
    assert stacked([], 3)[0].shape == (0, 0, 3)


@pytest.mark.parametrize("z", [-200.0, -25.0, -3.0, -0.1, 0.0, 0.5, 4.0, 30.0])
def test_compiled_logarithm_of_the_normal_distribution(z):
    from scipy.special import log_ndtr

    value, ratio = log_cdf(z)
    assert np.isclose(value, log_ndtr(z), rtol=1e-9, atol=1e-300)
    assert np.isclose(ratio, np.exp(-0.5 * z * z - 0.5 * np.log(2 * np.pi) - log_ndtr(z)), rtol=1e-8)


def test_a_bound_of_a_smooth_number_is_learnt_from_few_evaluations():
    margins = 0.6 - POINTS[:20, 0] ** 2 - 0.3 * POINTS[:20, 1]
    chance = Chance.of_bound(Embedding.of(POINTS[:20]), POINTS[:20], margins)
    new = np.random.default_rng(1).random((300, 2))
    truth = 0.6 - new[:, 0] ** 2 - 0.3 * new[:, 1]
    clear = np.abs(truth) > 0.05
    assert np.array_equal(chance.at(new[clear]) > 0.5, truth[clear] > 0)


def test_a_bound_that_always_holds_by_as_much():
    assert (Chance.of_bound(Embedding.of(POINTS[:5]), POINTS[:5], np.ones(5)).at(POINTS) > 0.9).all()

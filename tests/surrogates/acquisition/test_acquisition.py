import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from spotsvm.acquisition import (
    expected_improvement,
    log_expected_improvement,
    log_expected_improvement_gradient,
    lower_confidence_bound,
    minimum_of_mean,
    probability_of_improvement,
)

# log h(z) with h(z) = phi(z) + z Phi(z), by mpmath 1.3 with 60 digits
LOG_H = {
    5.0: 1.60943792312643139,
    0.0: -0.918938533204672742,
    -1.0: -2.48512102571264134,
    -10.0: -55.5531220361223559,
    -29.9: -454.722998119496274,
    -30.1: -460.736287398743038,
    -37.0: -692.642960163270406,
    -100.0: -5010.12957880024979,
    -1000.0: -500014.734452091158,
}


def test_the_two_values_everyone_checks():
    assert round(float(expected_improvement(-0.5, 1.0, 0.0)), 6) == 0.697797
    assert round(float(expected_improvement(-0.5, 1.0, 0.0, maximize=True)), 6) == 0.197797


@pytest.mark.parametrize("sd", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("maximize", [False, True])
def test_expected_improvement_is_the_integral_and_the_monte_carlo_mean(sd, maximize):
    sign = -1.0 if maximize else 1.0
    draws = 0.3 + sd * np.random.default_rng(0).normal(size=100_000)
    gain = np.maximum(sign * (0.2 - draws), 0.0)
    ei = float(expected_improvement(0.3, sd, 0.2, maximize=maximize))
    integral = quad(lambda t: max(sign * (0.2 - 0.3 - sd * t), 0.0) * norm.pdf(t), -12, 12, points=[-0.1 / sd], limit=200)[0]
    assert np.isclose(ei, integral, rtol=1e-6, atol=1e-12)
    assert abs(ei - gain.mean()) <= 5 * gain.std() / np.sqrt(len(gain)) + 1e-15


@pytest.mark.parametrize(("z", "value"), LOG_H.items())
def test_log_expected_improvement_against_high_precision(z, value):
    assert np.isclose(float(log_expected_improvement(-z, 1.0, 0.0)), value, rtol=2e-14, atol=1e-13)


def test_log_expected_improvement_where_the_plain_one_underflows():
    gap = np.geomspace(1, 1e100, 300)
    value = log_expected_improvement(gap, 1.0, 0.0)
    assert np.isfinite(value).all()
    assert (np.diff(value) < 0).all()
    assert expected_improvement(40.0, 1.0, 0.0) == 0.0
    at = np.linspace(-5, 36, 500)
    assert np.allclose(np.exp(log_expected_improvement(at, 1.0, 0.0)), expected_improvement(at, 1.0, 0.0), rtol=1e-10)


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("mean", [-30.0, -2.0, -0.5, 0.0, 0.7, 5.0, 29.0, 31.0, 400.0, 1e5])
def test_gradient_of_log_expected_improvement(mean, maximize):
    mean = -mean if maximize else mean
    for sd in (0.3, 2.0):
        value, by_mean, by_sd = log_expected_improvement_gradient(mean, sd, 0.1, maximize=maximize)
        h = 1e-6 * max(1.0, abs(mean))
        ends = [log_expected_improvement(mean + e, sd, 0.1, maximize=maximize) for e in (h, -h)]
        assert np.isclose(by_mean, (ends[0] - ends[1]) / (2 * h), rtol=2e-4, atol=1e-7)
        ends = [log_expected_improvement(mean, sd * (1 + e), 0.1, maximize=maximize) for e in (1e-6, -1e-6)]
        assert np.isclose(by_sd, (ends[0] - ends[1]) / (2e-6 * sd), rtol=2e-4, atol=1e-7)
        assert np.isclose(value, log_expected_improvement(mean, sd, 0.1, maximize=maximize))


@pytest.mark.parametrize("z", [1e5, 1e10, 1e100])
def test_gradient_where_improvement_is_certain(z):
    """EI is then the gap itself: d log EI / d mean = -1 / gap, and the error adds nothing."""
    value, by_mean, by_sd = log_expected_improvement_gradient(-z, 1.0, 0.0)
    assert np.isclose(value, np.log(z))
    assert np.isclose(by_mean, -1 / z)
    assert by_sd == 0


def test_no_error_leaves_the_improvement_of_the_mean():
    assert expected_improvement([1.0, 3.0], 0.0, 2.0).tolist() == [1.0, 0.0]
    assert log_expected_improvement([1.0, 3.0], 0.0, 2.0).tolist() == [0.0, -np.inf]
    assert probability_of_improvement([1.0, 3.0], 0.0, 2.0).tolist() == [1.0, 0.0]


def test_the_other_criteria():
    assert np.isclose(probability_of_improvement(0.0, 2.0, -1.0), norm.cdf(-0.5))
    assert np.isclose(probability_of_improvement(0.0, 2.0, -1.0, maximize=True), norm.cdf(0.5))
    assert np.allclose(lower_confidence_bound([1.0, 2.0], [0.5, 0.1], kappa=3.0), [-0.5, 1.7])
    assert minimum_of_mean([1.0, 2.0], [0.5, 0.1]).tolist() == [1.0, 2.0]


@pytest.mark.parametrize("function", [expected_improvement, log_expected_improvement, probability_of_improvement])
def test_a_negative_error_is_refused(function):
    with pytest.raises(ValueError, match="sd has a negative entry, -1.0"):
        function(0.0, -1.0, 0.0)
    with pytest.raises(ValueError, match="kappa=-1 is negative"):
        lower_confidence_bound(0.0, 1.0, kappa=-1)


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_expected_improvement_is_at_least_the_improvement_of_the_mean(mean, sd, best):
    ei = float(expected_improvement(mean, sd, best))
    assert ei >= 0
    assert ei >= (best - mean) * (1 - 1e-12) - 1e-12
    assert float(expected_improvement(mean, 2 * sd, best)) >= ei * (1 - 1e-9)

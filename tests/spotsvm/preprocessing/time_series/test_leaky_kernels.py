import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.preprocessing.time_series._leaky_kernels import leaky_sums


def compiled(values, decay, window):
    out = np.empty(len(values))
    leaky_sums(values, decay, window, out)
    return out


def direct(values, decay, window):
    """The sum, term by term."""
    weights = np.float64(decay) ** np.arange(window + 1)
    return np.array([weights[: t + 1] @ values[t : None if t <= window else t - window - 1 : -1] for t in range(len(values))])


@given(
    st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=60),
    st.sampled_from([0.0, 1e-5, 0.1, 0.3, 0.9, 0.999, 1.0]) | st.floats(0, 1),
    st.integers(0, 70),
)
@settings(max_examples=50, deadline=None)
def test_it_is_the_direct_sum(values, decay, window):
    values = np.array(values)
    expected = direct(values, decay, window)
    np.testing.assert_allclose(compiled(values, decay, window), expected, rtol=1e-13, atol=1e-280)


@pytest.mark.parametrize("decay", [0.3, 0.9, 0.9999, 1.0])
def test_no_drift_over_a_million_steps_after_a_burst(decay):
    rng = np.random.default_rng(0)
    rain = np.where(rng.random(1_000_000) < 0.1, rng.gamma(1.0, 1.0, 1_000_000), 0.0)
    rain[1000] = 1e18
    window = 120
    found = compiled(rain, decay, window)
    weights = decay ** np.arange(window + 1)
    for late in (slice(1200, 3000), slice(500_000, 502_000), slice(998_000, 1_000_000)):
        expected = np.lib.stride_tricks.sliding_window_view(rain[late.start - window : late.stop], window + 1) @ weights[::-1]
        np.testing.assert_allclose(found[late], expected, rtol=1e-12)


def test_long_dry_times_give_no_denormal_numbers():
    rain = np.zeros(5000)
    rain[0] = 1.0
    found = compiled(rain, 0.5, 4000)
    np.testing.assert_allclose(found[:900], 0.5 ** np.arange(900.0), rtol=1e-13)
    assert not ((found > 0) & (found < np.finfo(float).tiny)).any()

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spotsvm.surrogates.magnitude import within_reach

FLOATS = st.floats(-1e308, 1e308)


@given(arrays(float, st.integers(1, 8), elements=FLOATS))
def test_squares_and_differences_are_numbers_and_the_digits_stay(values):
    scaled, unit = within_reach(values)
    assert np.isfinite(1e6 * np.ptp(scaled) ** 2)
    large = np.abs(values) > 1e-100
    assert (scaled * unit)[large].tolist() == values[large].tolist()


def test_failures_stay_failures_and_what_is_no_larger_than_usual_stays_as_it_is():
    scaled, unit = within_reach(np.array([np.nan, 1e308, np.inf]))
    np.testing.assert_array_equal(scaled * unit, [np.nan, 1e308, np.inf])
    values = np.array([1e100, -1.0, 0.0])
    assert within_reach(values)[0] is values

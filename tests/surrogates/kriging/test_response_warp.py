import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spotsvm.surrogates.kriging.response_warp import ResponseWarp

Y = np.array([3.0, 1.0, 2.0, 8.0, 1e6])


@pytest.mark.parametrize("strength", [-math.inf, -4.0, 0.0, 3.0])
def test_backward_undoes_forward_and_slope_and_jacobian_are_its_derivatives(strength):
    warp, h = ResponseWarp.of(Y), 1e-5
    z = warp.forward(Y, strength)
    assert np.allclose(warp.low + warp.unit * warp.backward(z, strength), Y)
    numeric = (warp.backward(z + h, strength) - warp.backward(z - h, strength)) / (2 * h)
    assert np.allclose(np.exp(warp.log_slope(z, strength)), numeric, rtol=1e-5)
    assert np.isclose(warp.log_jacobian(Y, strength), -np.log(numeric).sum(), atol=1e-4)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.floats(-9, 9))
@example([0.0, 2.2e-313, 1.0], 0.0)
def test_order_is_kept(values, strength):
    y = np.array(values)
    z = ResponseWarp.of(y).forward(y, strength)
    assert np.isfinite(z).all()
    assert (np.diff(z[np.argsort(y)]) >= 0).all()


def test_an_outlier_loses_its_weight():
    z = ResponseWarp.of(Y).forward(Y, 0.0)
    assert z[4] < 50 * z[2]


@pytest.mark.parametrize("y", [[2.0, 2.0], [1.0, 1.0, 1.0, 5.0]])
def test_ties_at_the_best_response(y):
    assert ResponseWarp.of(np.array(y)).unit > 0

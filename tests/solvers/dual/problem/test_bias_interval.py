import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual import solve_dual, solve_dual_regression
from spotsvm.solvers.dual.problem.bias_interval import bias_interval, middle_bias

SEEDS = st.integers(0, 10_000)


def gaussian(rng, n):
    X = rng.standard_normal((n, 2))
    return np.exp(-0.1 * ((X[:, None] - X) ** 2).sum(axis=2))


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 8), st.integers(1, 8))
def test_every_bias_of_the_interval_has_the_least_loss_and_no_other_one(seed, n_first, n_second):
    rng = np.random.default_rng(seed)
    y = np.r_[np.ones(n_first), -np.ones(n_second)]
    C = np.where(y > 0, 1e-3 / n_first, 1e-3 / n_second)  # so little that every variable ends at its bound
    K = gaussian(rng, len(y))
    decision = K @ (C * y)
    low, high = bias_interval(decision - y, C * y, np.minimum(C * y, 0), np.maximum(C * y, 0))

    def loss(bias):
        return C @ np.maximum(1 - y * (decision + bias), 0)

    assert high - low > 1.9
    assert max(loss(low), loss(high), loss(0.3 * low + 0.7 * high)) <= loss(middle_bias(low, high)) * (1 + 1e-12)
    assert min(loss(low - 0.01), loss(high + 0.01)) > loss(low) * (1 + 1e-6)


@pytest.mark.parametrize("left", [0.0, 1e-16, 1e-11])
def test_what_rounding_leaves_short_of_a_bound_changes_nothing(left):
    C = np.array([0.5, 0.5, 0.25, 0.25])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    slope = np.array([0.1, 0.2, 0.3, 0.4]) - y
    beta = y * C * (1 - np.array([left, 0, 0, left]))
    interval = bias_interval(slope, beta, np.minimum(C * y, 0), np.maximum(C * y, 0))
    assert interval == pytest.approx((-1.3, 0.8))
    # where nothing limits it on one side, or on both
    assert [middle_bias(*ends) for ends in ((-np.inf, 0.5), (-2.0, np.inf), (-np.inf, np.inf))] == [0.5, -2.0, 0.0]


@settings(max_examples=30, deadline=None)
@given(SEEDS)
def test_a_solution_whose_variables_are_all_at_bounds_has_the_middle(seed):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(30) < 9, 1.0, -1.0)
    C = np.where(y > 0, 1 / 9, 1 / 21) * 1e-3  # sums that are equal but for rounding
    K = gaussian(rng, 30)
    found = solve_dual(K, y, C, "exact", bias=True)
    gain = y - K @ (C * y)
    assert found.bias == pytest.approx((gain[y > 0].min() + gain[y < 0].max()) / 2, abs=1e-6)


def test_a_regression_at_its_bounds_has_the_middle():
    y = np.array([-3.0, -2.0, 1.0, 4.0])
    C = np.array([0.1, 0.2, 0.1, 0.2]) * 1e-3
    found = solve_dual_regression(np.eye(4), y, C, epsilon=0.5)
    np.testing.assert_allclose(found.alpha, C * [-1, -1, 1, 1], rtol=1e-9)
    assert found.bias == pytest.approx((-2.0 + 0.5 + 1.0 - 0.5) / 2, abs=1e-3)

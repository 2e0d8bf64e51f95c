"""The compiled steps of folds do what plain numpy does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual.exact import _fold_kernels as kernels
from spotsvm.solvers.dual.exact._smo_kernels import solve
from spotsvm.solvers.dual.problem.problem import bias_interval, middle_bias

SEEDS = st.integers(0, 10_000)
N, M, TOL = 40, 3, 1e-4


def drawn_machines(seed, regression):
    """Draw a kernel matrix of single precision, targets, and bounds around 0 of several machines, each on some of the rows."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 3))
    K = np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(np.float32)
    z = rng.standard_normal((M, N)) if regression else np.where(rng.random((M, N)) < 0.5, -1.0, 1.0)
    size = rng.choice([0.0, 0.5, 4.0], (M, N))
    lower, upper = (-size, size) if regression else (np.minimum(size * z, 0.0), np.maximum(size * z, 0.0))
    return rng, K, np.where(size > 0.0, z, 0.0), lower, upper


def plain_rebalance(beta, slope, lower, upper):
    """Take the sum of beta off the variables in the order of what that costs; None if there is too little room."""
    excess = beta.sum()
    order = np.argsort(-slope if excess > 0 else slope, kind="stable")
    room = (beta - lower if excess > 0 else upper - beta)[order]
    if room.sum() < abs(excess):
        return None
    before = np.concatenate([[0.0], np.cumsum(room)[:-1]])
    balanced = beta.copy()
    balanced[order] -= np.sign(excess) * np.clip(abs(excess) - before, 0.0, room)
    return balanced


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.booleans())
def test_rebalance(seed, regression):
    rng, _, _, lower, upper = drawn_machines(seed, regression)
    low, high = lower[0], upper[0]
    beta = low + rng.random(N) * (high - low)
    if seed % 3 == 0:  # no room on one side
        low, high = np.where(beta > 0, beta, low), np.where(beta < 0, 0.0, high)
    slope = rng.standard_normal(N).round(1)  # with ties
    expected = plain_rebalance(beta, slope, low, high)
    assert kernels.rebalance(beta, slope, low, high) == (expected is not None)
    if expected is not None:
        np.testing.assert_allclose(beta, expected, atol=1e-13 * N)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from([0.0, 0.5, 1.0]))
def test_biases(seed, regression, at_bounds):
    rng, _, _, lower, upper = drawn_machines(seed, regression)
    ends = np.where(rng.random((M, N)) < 0.5, lower, upper)
    beta = np.where(rng.random((M, N)) < at_bounds, ends, lower + rng.random((M, N)) * (upper - lower))
    beta[-1] = 0.0
    slope, epsilon = rng.standard_normal((M, N)), 0.3 * regression
    found = np.empty((M, 4))
    kernels.biases(slope, beta, lower, upper, epsilon, found)
    for row, g, b, low, high in zip(found, slope, beta, lower, upper, strict=True):
        interval = bias_interval(g, b, low, high, epsilon)
        np.testing.assert_allclose(row[:3], [*interval, middle_bias(*interval)], rtol=1e-12, atol=1e-14)
        assert row[3] == (((b == low) | (b == high)) & (b != 0.0)).any()


def test_the_middle_of_a_half_infinite_interval_and_of_all_biases():
    found = np.empty((3, 4))
    slope = np.array([[0.5, 0.2], [0.5, 0.2], [0.5, 0.2]])
    lower, upper = np.array([[0.0, 0.0], [-1.0, -1.0], [0.0, 0.0]]), np.array([[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]])
    kernels.biases(slope, np.zeros((3, 2)), lower, upper, 0.0, found)
    np.testing.assert_array_equal(found[:, :3], [[-0.2, np.inf, -0.2], [-np.inf, -0.5, -0.5], [-np.inf, np.inf, 0.0]])


@pytest.mark.parametrize("most_free", [None, N])
@pytest.mark.parametrize("same", [True, False])
@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, regression=st.booleans())
def test_train(same, most_free, seed, regression):
    rng, K, z, lower, upper = drawn_machines(seed, regression)
    epsilon = 0.1 * regression
    start = rng.standard_normal((M, N))
    from_z = rng.standard_normal((M, N))
    slope = start @ K - from_z if same else rng.standard_normal((M, N))
    beta, g, steps = np.empty((M, N)), np.empty((M, N)), np.empty((M, 3))
    room = np.empty(N * N, np.float32)
    diagonal = K.diagonal().copy()
    kernels.train(
        K, diagonal, 0.0, z, lower, upper, epsilon, start, slope, from_z, same, TOL, 20 if most_free else 10_000,
        10_000, most_free, room, beta, g, steps,
    )  # fmt: skip
    for k in range(M):
        b = plain_rebalance(np.clip(start[k], lower[k], upper[k]), slope[k], lower[k], upper[k])
        h = K @ b - z[k]
        solve(K, diagonal, h, b, lower[k], upper[k], epsilon, TOL, 10_000, room)
        assert steps[k, 1] == 1.0
        np.testing.assert_allclose(g[k], K @ beta[k] - z[k], atol=1e-5)
        np.testing.assert_allclose(0.5 * (g[k] - z[k]) @ beta[k] + epsilon * np.abs(beta[k]).sum(),
                                   0.5 * (h - z[k]) @ b + epsilon * np.abs(b).sum(), atol=1e-3)  # fmt: skip
        np.testing.assert_allclose(beta[k].sum(), 0.0, atol=1e-11)
        assert ((lower[k] <= beta[k]) & (beta[k] <= upper[k])).all()


def test_train_stops_at_a_cap_and_says_so():
    _, K, z, lower, upper = drawn_machines(1, False)
    beta, g, steps = np.empty((M, N)), np.empty((M, N)), np.empty((M, 3))
    kernels.train(
        K, K.diagonal().copy(), 0.0, z, lower, upper, 0.0, np.zeros((M, N)), -z, z, True, TOL, 2, 2, None,
        np.empty(N * N, np.float32), beta, g, steps,
    )  # fmt: skip
    np.testing.assert_array_equal(steps[:, :2], [[2.0, 0.0]] * M)
    np.testing.assert_allclose(g, beta @ K - z, atol=1e-6)

import subprocess
import sys

import numpy as np
import pytest
from dual_references import general_optimum, libsvm, objective, random_bounds
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import StandardScaler

from spotsvm.errors import SolverError
from spotsvm.solvers.dual import solve_dual_regression

SEEDS = st.integers(0, 10_000)
COSTS = st.sampled_from([0.1, 1.0, 100.0])
EPSILON = st.sampled_from([0.0, 0.1, 1.0])


def drawn_task(seed, n, kind="rbf"):
    """Draw a kernel matrix and a target."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    K = rbf_kernel(X, gamma=0.5) if kind == "rbf" else X @ X.T
    return (K + K.T) / 2, 2 * np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n) + 5


@pytest.mark.parametrize("kind", ["rbf", "linear"])
@pytest.mark.parametrize(("C", "epsilon", "weighted"), [(0.05, 0.1, True), (1.0, 0.0, False), (30.0, 1.0, True)])
def test_it_agrees_with_libsvm(kind, C, epsilon, weighted):
    K, y = drawn_task(0, 120, kind)
    bounds = random_bounds(1, 120, C) if weighted else np.full(120, C)
    found = solve_dual_regression(K, y, bounds, epsilon, tol=1e-7)
    machine, beta = libsvm(K, y, bounds, epsilon)
    assert found.converged
    assert found.objective == pytest.approx(objective(K, y, beta, epsilon), rel=1e-6)
    np.testing.assert_allclose(found.decision, machine.predict(K[:, bounds > 0]), atol=1e-4)
    assert found.bias == pytest.approx(machine.intercept_[0], abs=1e-4)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from(["rbf", "linear"]), COSTS, EPSILON)
def test_the_optimum_is_that_of_a_general_solver(seed, kind, C, epsilon):
    K, y = drawn_task(seed, 9, kind)
    bounds = random_bounds(seed, 9, C)
    found = solve_dual_regression(K, y, bounds, epsilon, tol=1e-8)
    sign = np.repeat([1.0, -1.0], 9)  # of the positive and the negative part of beta
    Q, linear = np.tile(K, (2, 2)) * np.outer(sign, sign), np.tile(y, 2) * sign - epsilon
    assert found.objective == pytest.approx(general_optimum(Q, linear, np.tile(bounds, 2), sign), rel=1e-6, abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from(["rbf", "linear"]), COSTS, EPSILON)
def test_what_is_reported_is_what_was_found(seed, kind, C, epsilon):
    K, y = drawn_task(seed, 40, kind)
    bounds = random_bounds(seed, 40, C)
    found = solve_dual_regression(K, y, bounds, epsilon, tol=1e-5)
    beta = found.alpha
    assert (np.abs(beta) <= bounds).all()
    assert abs(beta.sum()) <= 1e-12 * 40 * C
    assert found.objective == pytest.approx(objective(K, y, beta, epsilon), rel=1e-9)
    np.testing.assert_allclose(found.decision, K @ beta + found.bias, rtol=1e-9, atol=1e-9)
    slack = np.maximum(np.abs(y - found.decision) - epsilon, 0.0)
    primal = 0.5 * beta @ K @ beta + bounds @ slack
    assert found.duality_gap == pytest.approx(primal - found.objective, abs=1e-9 * primal)
    assert -1e-11 * primal <= found.duality_gap <= 1e-5 * 40 * C * 1.001
    assert found.converged
    assert found.kkt_violation <= 1e-5 + 1e-10
    # rows inside of the tube have no weight, those outside all of it
    residual = y - found.decision
    assert (np.abs(residual[(beta == 0) & (bounds > 0)]) <= epsilon + 1e-5).all()
    at_bound = (np.abs(beta) == bounds) & (bounds > 0)
    assert (residual[at_bound] * np.sign(beta[at_bound]) >= epsilon - 1e-5).all()


@settings(max_examples=15, deadline=None)
@given(SEEDS, COSTS, EPSILON, st.booleans())
def test_every_step_is_feasible_and_no_step_descends(seed, C, epsilon, warm):
    K, y = drawn_task(seed, 12, "linear")
    start = np.random.default_rng(seed).uniform(-1.5, 1.5, 12) * C if warm else None
    before = 0.0 if not warm else -np.inf
    for cap in (*range(1, 8), 24, 25, 50):
        found = solve_dual_regression(K, y, C, epsilon, start=start, max_iter=cap, tol=1e-7)
        assert found.iterations <= cap
        assert (np.abs(found.alpha) <= C).all()
        assert abs(found.alpha.sum()) <= 1e-12 * 12 * C
        assert found.objective >= before - 1e-12 * (C * np.abs(y).sum())
        before = found.objective


def test_the_cap_is_kept_and_told():
    K, y = drawn_task(0, 50)
    found = solve_dual_regression(K, y, 100.0, 0.01, max_iter=7, tol=1e-6)
    assert (found.iterations, found.converged) == (7, False)
    assert "cap of 7 steps" in found.message
    assert found.duality_gap > 0
    assert found.kkt_violation > 1e-6


@pytest.mark.parametrize(("n", "epsilon", "C"), [(1, 0.1, 1.0), (30, 0.0, 1.0), (30, 0.1, 1e6)])
def test_a_constant_target_is_the_bias(n, epsilon, C):
    found = solve_dual_regression(drawn_task(0, n)[0], np.full(n, -7.5), C, epsilon)
    assert (found.alpha == 0).all()
    assert (found.objective, found.converged) == (0.0, True)
    np.testing.assert_allclose(found.decision, -7.5)


@pytest.mark.parametrize("C", [0.1, 1e6])
@pytest.mark.parametrize(("a", "b", "c"), [(2.0, 1.0, 0.5), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)])
def test_two_rows_have_the_closed_solution(a, b, c, C):
    found = solve_dual_regression([[a, c], [c, b]], [1.0, 3.0], C, 0.25, tol=1e-9)
    curvature = a + b - 2 * c
    t = min(C, (3 - 1 - 2 * 0.25) / curvature) if curvature else C
    np.testing.assert_allclose(found.alpha, [-t, t], rtol=1e-9)
    assert found.objective == pytest.approx(1.5 * t - 0.5 * curvature * t**2, rel=1e-9)
    assert found.converged


def test_it_meets_libsvms_objective_on_real_data():
    X, y = load_diabetes(return_X_y=True)
    K = rbf_kernel(StandardScaler().fit_transform(X), gamma=0.1)
    _, beta = libsvm(K, y, np.full(len(y), 100.0), 0.1)
    found = solve_dual_regression(K, y, 100.0, 0.1, tol=1e-6)
    assert found.converged
    assert found.objective == pytest.approx(objective(K, y, beta, 0.1), rel=1e-6)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"K": np.ones((2, 3))}, r"K has shape \(2, 3\)"),
        ({"K": [[1.0, 2.0, 0], [0, 1, 0], [0, 0, 1]]}, "K is not symmetric"),
        ({"y": [1.0, 2.0]}, r"y must be 3 finite numbers.*\(2,\)"),
        ({"y": [1.0, np.nan, 2.0]}, "y must be 3 finite numbers"),
        ({"y": ["a", "b", "c"]}, "^y "),
        ({"C": 0}, "C=0;"),
        ({"C": [1, -1, 1]}, "C holds -1.0"),
        ({"epsilon": -0.1}, "epsilon=-0.1; use 0 or a positive number"),
        ({"epsilon": 10**400}, "epsilon=10+; use 0 or a positive number"),
        ({"C": 1e300}, "C=1e[+]300 is so large that the objective overflows; use a smaller one"),
        ({"start": 1j * np.ones(3)}, "start must be .*its entries are complex"),
        ({"epsilon": np.inf}, "epsilon=inf"),
        ({"epsilon": "wide"}, "^epsilon='wide'"),
        ({"start": [1.0]}, r"start must be 3 finite numbers.*\(1,\)"),
        ({"tol": 0}, "tol=0;"),
        ({"max_iter": 0}, "max_iter=0;"),
    ],
)
def test_bad_arguments_are_told(arguments, said):
    with pytest.raises(SolverError, match=said):
        solve_dual_regression(**{"K": np.eye(3), "y": [1.0, 2.0, 3.0], **arguments})


def test_a_tolerance_that_cannot_be_met_does_not_hang():
    code = """
from spotsvm.solvers.dual import solve_dual_regression
for tol in (-1.0, float("nan")):
    try:
        solve_dual_regression([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], tol=tol)
    except ValueError as error:
        print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert "tol=-1.0;" in ended.stdout
    assert "tol=nan;" in ended.stdout

"""The steps of the exact solver: feasible, ascending, and no more than the cap."""

import numpy as np
import pytest
from dual_references import random_bounds
from hypothesis import given, settings
from hypothesis import strategies as st

from spotsvm.solvers.dual import solve_dual
from spotsvm.solvers.dual.exact.exact import balanced, solve_exact
from spotsvm.solvers.dual.problem.result import iteration_cap

SEEDS = st.integers(0, 10_000)
BIAS = st.booleans()
KINDS = st.sampled_from(["rbf", "linear", "sigmoid", "distance", "wavy"])
COSTS = st.sampled_from([0.1, 1.0, 30.0, 1e3])


def exact(problem, **options):
    return solve_dual(problem.K, problem.y, problem.C, "exact", bias=problem.bias, **options)


def feasible(problem, alpha):
    lower, upper = problem.box
    beta = alpha * problem.y
    return np.abs(balanced(beta, lower, upper) if problem.bias else np.clip(beta, lower, upper))


def assert_feasible(problem, alpha):
    assert (alpha >= 0).all()
    assert (alpha <= problem.C).all()
    if problem.bias:
        assert abs(alpha @ problem.y) <= 1e-13 * problem.n * problem.C.max()


@settings(max_examples=20, deadline=None)
@given(SEEDS, KINDS, st.sampled_from([0.1, 30.0, 1e6]), BIAS, st.booleans())
def test_every_step_is_feasible_and_no_step_descends(drawn, seed, kind, C, bias, warm):
    problem = drawn(seed, 14, kind, random_bounds(seed, 14, C), bias)
    start = np.random.default_rng(seed).uniform(-0.5, 1.5, 14) * C if warm else np.zeros(14)
    before = problem.objective(feasible(problem, start))
    for cap in (*range(1, 8), 14, 28, 29, 60):
        found = solve_exact(problem, start, 1e-6, cap)
        assert found.iterations <= cap
        assert_feasible(problem, found.alpha)
        after = problem.objective(found.alpha)
        assert after >= before - 1e-14 * (found.alpha @ np.abs(problem.K) @ found.alpha + found.alpha.sum())  # rounding
        before = after


@pytest.mark.parametrize("bias", [True, False])
def test_the_cap_is_kept_and_told(drawn, bias):
    problem = drawn(0, 60, "rbf", 100.0, bias)
    found = exact(problem, max_iter=7, tol=1e-6)
    assert (found.iterations, found.converged) == (7, False)
    assert "7 steps" in found.message
    assert "tol=1e-06" in found.message
    assert min(found.kkt_violation, found.duality_gap) > 1e-6
    assert_feasible(problem, found.alpha)
    assert iteration_cap(60) < iteration_cap(600)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from(["sigmoid", "distance", "wavy"]), COSTS, BIAS)
def test_indefinite_kernels_end_at_a_stationary_point(drawn, seed, kind, C, bias):
    problem = drawn(seed, 40, kind, random_bounds(seed, 40, C), bias)
    start = np.random.default_rng(seed).random(40) * C
    found = exact(problem, start=start)
    assert found.converged
    assert found.kkt_violation <= 1e-3 + 1e-9
    assert_feasible(problem, found.alpha)
    assert found.objective >= problem.objective(feasible(problem, start))

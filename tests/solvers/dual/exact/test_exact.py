import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from dual_references import general_optimum, libsvm, objective, random_bounds
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel
from sklearn.preprocessing import StandardScaler

from spotsvm.solvers.dual import DualProblem, make_problem, solve_dual

SEEDS = st.integers(0, 10_000)
BIAS = st.booleans()
DEFINITE = st.sampled_from(["rbf", "linear"])
COSTS = st.sampled_from([0.1, 1.0, 30.0, 1e3])
KERNELS = {
    "linear": linear_kernel,
    "poly": lambda X: polynomial_kernel(X, degree=3, gamma=0.3, coef0=1.0),
    "rbf": lambda X: rbf_kernel(X, gamma=0.3),
    "narrow rbf": lambda X: rbf_kernel(X, gamma=5.0),
    "wide rbf": lambda X: rbf_kernel(X, gamma=1e-3),
}


def exact(problem, **options):
    return solve_dual(problem.K, problem.y, problem.C, "exact", bias=problem.bias, **options)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("C", "weights"), [(0.03, "classes"), (1.0, "none"), (30.0, "rows")])
def test_it_agrees_with_libsvm(kernel, C, weights):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((130, 4))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.standard_normal(130) > 0.3, 1.0, -1.0)
    bounds = {"none": np.full(130, C), "classes": np.where(y > 0, 3 * C, C), "rows": random_bounds(1, 130, C)}[weights]
    K = KERNELS[kernel](X)
    found = solve_dual(K, y, bounds, "exact", bias=True, tol=1e-7)
    machine, beta = libsvm(K, y, bounds)
    assert found.converged
    assert found.objective == pytest.approx(objective(K, y, beta), rel=1e-6)
    reference = machine.decision_function(K[:, bounds > 0])  # of a matrix in single precision
    np.testing.assert_allclose(found.decision, reference, atol=1e-4 + 1e-5 * np.abs(reference).max())
    assert found.bias == pytest.approx(machine.intercept_[0], rel=1e-4, abs=1e-4)


@settings(max_examples=25, deadline=None)
@given(SEEDS, DEFINITE, COSTS, BIAS)
def test_the_optimum_is_that_of_a_general_solver(drawn, seed, kind, C, bias):
    problem = drawn(seed, 10, kind, random_bounds(seed, 10, C), bias)
    found = exact(problem, tol=1e-8)
    Q = problem.K * np.outer(problem.y, problem.y)
    assert found.objective == pytest.approx(general_optimum(Q, np.ones(10), problem.C, problem.y if bias else None), rel=1e-6)


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.sampled_from([1e-12, 1e-8, 0.01, 300.0, 1e8, 1e12]), st.sampled_from([1.0, 1e3]), BIAS)
def test_a_factor_of_the_kernel_rescales_C(drawn, seed, factor, C, bias):
    problem = drawn(seed, 25, "rbf", C, bias)
    scaled = make_problem(problem.K * factor, problem.y, problem.C / factor, bias)
    one, other = exact(problem, tol=1e-8), exact(scaled, tol=1e-8)
    assert other.objective * factor == pytest.approx(one.objective, rel=1e-9)
    np.testing.assert_allclose(other.alpha * factor, one.alpha, atol=1e-5 * C)
    np.testing.assert_allclose(other.decision, one.decision, atol=1e-6)


@settings(max_examples=12, deadline=None)
@given(SEEDS, DEFINITE, COSTS, BIAS)
def test_the_gap_is_what_the_tolerance_allows_wherever_it_starts(drawn, seed, kind, C, bias):
    problem = drawn(seed, 40, kind, random_bounds(seed, 40, C), bias)
    found = exact(problem, tol=1e-4)
    assert found.converged
    assert found.kkt_violation <= 1e-4 + 1e-10 * C
    assert -1e-11 * found.objective <= found.duality_gap <= 1e-4 * problem.C.sum() * 1.001
    fine = exact(problem, tol=1e-7)
    again = exact(problem, tol=1e-6, start=fine.alpha)
    assert (again.converged, again.iterations) == (True, 0)
    np.testing.assert_allclose(again.alpha, fine.alpha, rtol=1e-12, atol=1e-13 * C)
    for start in (np.full(40, 9 * C), np.random.default_rng(seed).uniform(-1, 2, 40) * C, problem.y * C):
        other = exact(problem, tol=1e-7, start=start)
        assert other.converged
        assert other.objective == pytest.approx(fine.objective, rel=1e-7)


def test_rounding_above_the_tolerance_is_told_and_does_not_hang():
    # features of 100 and C = 1e6 make decisions of 1e10, whose rounding is above the tolerance
    code = """
import numpy as np
from spotsvm.solvers.dual import solve_dual
for seed in (1, 13, 15, 18):
    X = np.random.default_rng(seed).standard_normal((20 + seed, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 3] > 0, 1.0, -1.0)
    found = solve_dual(1e4 * X[:, :3] @ X[:, :3].T, y, 1e6, "exact", bias=True, tol=1e-6, max_iter=20_000)
    print(found.converged, found.kkt_violation, found.message, sep=";")
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    for line in ended.stdout.splitlines():
        converged, violation, message = line.split(";")
        assert (converged == "False" and message.startswith("not converged")) or float(violation) <= 2e-6, line


@pytest.mark.parametrize("C", [0.1, 1.0, 1e6])
@pytest.mark.parametrize(("a", "b", "c"), [(2.0, 1.0, 0.5), (1.0, 1.0, 1.0), (0.0, 0.0, 0.0), (1.0, 1.0, 2.0)])
def test_two_rows_have_the_closed_solution(a, b, c, C):
    found = solve_dual([[a, c], [c, b]], [1, -1], C, "exact", bias=True)
    curvature = a + b - 2 * c
    alpha = min(C, 2 / curvature) if curvature > 0 else C  # where it is 0 or negative more is always better
    assert found.converged
    np.testing.assert_allclose(found.alpha, alpha, rtol=1e-12)
    assert found.objective == pytest.approx(2 * alpha - 0.5 * curvature * alpha**2, rel=1e-9)
    assert found.bias == pytest.approx(-0.5 * alpha * (a - b), rel=1e-9, abs=1e-9 * C)


@pytest.mark.parametrize("C", [0.1, 1.0, 1e6])
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_a_constant_kernel_and_the_identity_have_the_closed_solution(C, value):
    y = np.array([1.0, -1, 1, 1, -1, 1, 1])
    found = solve_dual(np.full((7, 7), value), y, C, "exact", bias=True)
    assert found.converged
    np.testing.assert_array_equal(found.alpha[y < 0], C)  # the minority is at its bounds
    assert found.alpha[y > 0].sum() == pytest.approx(2 * C, rel=1e-12)
    assert found.objective == pytest.approx(4 * C, rel=1e-12)
    assert found.decision == pytest.approx(np.ones(7))  # the majority
    found = solve_dual(np.eye(7), y, C, "exact", bias=True, tol=1e-9)
    total = min(2 / (1 / 2 + 1 / 5), 2 * C)
    np.testing.assert_allclose(found.alpha, total / np.where(y > 0, 5, 2), rtol=0, atol=1e-9)  # as tol
    assert found.objective == pytest.approx(2 * total - total**2 * (1 / 2 + 1 / 5) / 2)


def test_a_hard_margin_is_half_the_distance_of_the_nearest_rows():
    x = np.array([-5.0, -4.0, -1.0, 3.0, 3.5, 9.0])
    found = solve_dual(np.outer(x, x), np.sign(x), 1e6, "exact", bias=True, tol=1e-9)
    np.testing.assert_allclose(found.alpha, [0, 0, 1 / 8, 1 / 8, 0, 0], atol=1e-9)
    np.testing.assert_allclose(found.decision, (x - 1) / 2, atol=1e-8)
    assert found.bias == pytest.approx(-0.5)


def test_a_class_without_a_positive_bound_leaves_nothing_to_do():
    for bias, expected in ((True, 0.0), (False, 0.5)):
        problem = DualProblem(2 * np.eye(3), np.array([1.0, 1.0, -1.0]), np.array([0.0, 0.0, 1.0]), bias)
        np.testing.assert_allclose(exact(problem).alpha, [0, 0, expected])


def assert_it_meets_libsvms_objective(X, classes):
    y = np.where(classes == np.unique(classes)[0], -1.0, 1.0)  # the first against the rest
    X = StandardScaler().fit_transform(X)
    K = rbf_kernel(X, gamma=1 / X.shape[1])
    for C in (1.0, 100.0):
        _, beta = libsvm(K, y, np.full(len(y), C))
        found = solve_dual(K, y, C, "exact", bias=True, tol=1e-6)
        assert found.converged
        assert found.objective == pytest.approx(objective(K, y, beta), rel=1e-6)
        assert found.kkt_violation <= 1e-6 + 1e-9


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_it_meets_libsvms_objective_on_real_data(load):
    assert_it_meets_libsvms_objective(*load(return_X_y=True))


@pytest.mark.data
def test_it_meets_libsvms_objective_on_all_sets_of_the_folder_with_fewer_than_3000_rows():
    folder = Path(os.environ["SPOTSVM_DATA"])
    manifest = pd.read_csv(folder / "MANIFEST.csv")
    files = manifest.loc[(manifest["n"] < 3000) & (manifest["task"] != "regression"), "file"]
    assert len(files) > 20
    for file in files:
        print(file)
        table = pd.read_csv(folder / file).drop(columns="part", errors="ignore").dropna()
        classes = table.pop("y").to_numpy()
        assert_it_meets_libsvms_objective(pd.get_dummies(table).to_numpy(np.float64), classes)

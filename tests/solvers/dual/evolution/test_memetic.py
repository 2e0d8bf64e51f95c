import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from spotsvm import solve_dual
from spotsvm.errors import SolverError
from spotsvm.solvers.dual import DualProblem
from spotsvm.solvers.dual.evolution.evolution import KINDS, evolve
from spotsvm.solvers.dual.evolution.memetic import MemeticSettings, memetic
from spotsvm.solvers.dual.evolution.swarm import swarm
from spotsvm.solvers.dual.exact.exact import solve_exact
from spotsvm.solvers.dual.problem.spectrum import is_concave

SEEDS = st.integers(0, 10_000)
INDEFINITE = st.sampled_from(["sigmoid", "distance", "wavy"])
BRIEF = MemeticSettings(searches=10, rivals=False)


@settings(max_examples=8, deadline=None)
@given(SEEDS, INDEFINITE, st.sampled_from([0.1, 50.0]))
def test_never_below_the_papers_four_nor_the_exact_solution_from_zero(drawn, seed, kind, C):
    problem = drawn(seed, 25, kind, C)
    found = memetic(problem, np.random.default_rng(seed), settings=MemeticSettings(searches=3))
    rivals = [evolve(problem, mutation, np.random.default_rng(seed)) for mutation in KINDS]
    rivals += [swarm(problem, np.random.default_rng(seed)), solve_exact(problem, np.zeros(25))]
    best = max(problem.objective(rival.alpha) for rival in rivals)
    assert problem.objective(found.alpha) >= best


def test_nor_below_the_four_on_concave_problems_whatever_the_tolerance(drawn):
    def found(problem, method):
        return solve_dual(problem.K, problem.y, problem.C, method, tol=2.0, random_state=0).objective

    for n, C, seed in itertools.product([4, 12], [10.0, 1000.0], range(2)):
        problem = drawn(seed, n, "rbf", C)
        least = max(found(problem, method) for method in ("gaussian", "switching", "hybrid", "swarm"))
        assert found(problem, "memetic") >= least * (1 - 1e-9)
    assert found(DualProblem(np.eye(2), np.array([1.0, -1.0]), np.ones(2), False), "memetic") == pytest.approx(1.0)


def test_a_fine_tolerance_that_rounding_denies_is_no_failure():
    rng = np.random.default_rng(0)
    X = 1e4 * rng.standard_normal((30, 3))
    K, y = X @ X.T, rng.choice([-1.0, 1.0], 30)
    fine, found = (solve_dual(K, y, 1e6, method, tol=tol) for method, tol in (("exact", 1e-6), ("memetic", 1e5)))
    assert not fine.converged
    assert found.converged
    assert found.kkt_violation <= 1e5


@settings(max_examples=12, deadline=None)
@given(SEEDS, INDEFINITE, st.booleans(), st.sampled_from([0.1, 50.0]))
def test_always_feasible_and_stationary(drawn, seed, kind, bias, C):
    bounds = C * np.random.default_rng(seed).choice([0.0, 0.2, 1.0], 25)
    bounds[[0, -1]] = C
    problem = drawn(seed, 25, kind, bounds, bias)
    found = memetic(problem, np.random.default_rng(seed), settings=BRIEF)
    assert (found.alpha >= 0).all()
    assert (found.alpha <= bounds).all()
    if bias:
        assert abs(found.alpha @ problem.y) <= 1e-9 * C * 25
    assert found.converged
    assert problem.kkt(found.alpha, problem.decision(found.alpha))[0] <= 1e-3 + 1e-6
    assert problem.objective(found.alpha) >= problem.objective(solve_exact(problem, np.zeros(25)).alpha)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("bias", [True, False])
def test_the_best_corner_is_found_where_the_optimum_is_a_corner(seed, bias):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((8, 8))
    y = np.repeat([1.0, -1.0], 4)
    # curved upwards in every direction, so the optimum is a corner; with a bias, of the balanced ones
    problem = DualProblem(-(A @ A.T), y, np.ones(8), bias)
    corners = [np.array(c, float) for c in itertools.product([0, 1], repeat=8)]
    best = max(problem.objective(c) for c in corners if not bias or c @ y == 0)
    found = memetic(problem, rng, settings=MemeticSettings(rivals=False))
    assert problem.objective(found.alpha) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("bias", [True, False])
def test_a_semidefinite_problem_gets_the_exact_solution(drawn, bias):
    problem = drawn(0, 40, "rbf", 10.0, bias)
    exact = solve_exact(problem, np.zeros(40), 1e-6)
    for definite in (None, True):
        found = memetic(problem, np.random.default_rng(0), definite=definite)
        np.testing.assert_array_equal(found.alpha, exact.alpha)
        assert found.iterations == exact.iterations
    searched = memetic(problem, np.random.default_rng(0), definite=False, settings=BRIEF)
    assert problem.objective(searched.alpha) == pytest.approx(problem.objective(exact.alpha), rel=1e-4)


@pytest.mark.parametrize("kind", ["sigmoid", "distance", "wavy"])
def test_not_below_libsvm(drawn, kind):
    for seed in range(2):
        problem = drawn(seed, 60, kind, 10.0, bias=True)
        svc = SVC(kernel="precomputed", C=10.0, max_iter=1_000_000).fit(problem.K, problem.y)
        alpha = np.zeros(60)
        alpha[svc.support_] = np.abs(svc.dual_coef_[0])
        found = memetic(problem, np.random.default_rng(0))
        assert problem.objective(found.alpha) >= 0.999 * problem.objective(alpha)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("K", [np.zeros((4, 4)), np.ones((4, 4)), np.eye(4), -np.eye(4), np.full((4, 4), -1.0)])
def test_degenerate_matrices_and_one_and_two_rows(K, bias):
    for n, C in itertools.product((1, 2, 4), (0.5, 1e6)):
        problem = DualProblem(K[:n, :n].copy(), np.array([1.0, -1, 1, -1])[:n], np.full(n, C), bias)
        found = memetic(problem, np.random.default_rng(0), settings=BRIEF)
        assert problem.objective(found.alpha) >= problem.objective(solve_exact(problem, np.zeros(n)).alpha)
        assert (found.alpha <= C).all()


def test_what_is_concave(drawn):
    assert is_concave(drawn(0, 30, "rbf"))
    assert is_concave(drawn(0, 30, "linear"))
    assert not is_concave(drawn(0, 30, "sigmoid"))
    points = np.random.default_rng(0).standard_normal((30, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    y = np.where(points[:, 0] > 0, 1.0, -1.0)
    # the negative distance is semidefinite where the coefficients sum to zero, and only there
    assert is_concave(DualProblem(-distances, y, np.ones(30), True))
    assert not is_concave(DualProblem(-distances, y, np.ones(30), False))
    assert not is_concave(DualProblem(distances, y, np.ones(30), True))
    assert is_concave(DualProblem(np.zeros((30, 30)), y, np.ones(30), False))
    assert not is_concave(DualProblem(np.eye(30)[::-1].copy(), y, np.ones(30), False))


@pytest.mark.parametrize("name", ["searches", "population_size"])
@pytest.mark.parametrize("value", [0, 2.5, np.nan, "3", True])
def test_bad_settings(name, value):
    with pytest.raises(SolverError, match=f"{name}={value!r}; use 1 or more, a whole number"):
        MemeticSettings(**{name: value})
    with pytest.raises(SolverError, match="rivals='no'; use True or False"):
        MemeticSettings(rivals="no")

import numpy as np
import pytest
from dual_references import objective
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from spotsvm.kernels import Kernel
from spotsvm.solvers.dual import solve_dual, solve_dual_regression
from spotsvm.solvers.dual.exact import _fold_kernels
from spotsvm.solvers.dual.exact._face_kernels import small_newton_step
from spotsvm.solvers.dual.exact.fold_solver import FoldSolver, Target, symmetric_bounds
from spotsvm.solvers.kernels.matrices.single_gram import SingleGram

SEEDS = st.integers(0, 10_000)
COSTS = st.sampled_from([0.1, 1.0, 100.0])
TASKS = st.sampled_from(["classes", "numbers"])
N, TOL = 60, 1e-5


def drawn_target(seed, task, C, gamma=0.4):
    """Draw data, their kernel matrix in single precision and in double, and a machine."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, 3))
    signal = X[:, 0] + 0.5 * rng.standard_normal(N)
    z = np.where(signal > 0, 1.0, -1.0) if task == "classes" else signal + 3
    target = Target(z, *symmetric_bounds(C, z, task == "numbers"), 0.0 if task == "classes" else 0.1)
    single, offset = SingleGram(X).matrix(Kernel("rbf", gamma))
    exact = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
    return single, offset, exact, target


def on(target, rows):
    """Return the same machine, trained on some of the rows only."""
    return Target(*(np.where(rows, a, 0.0) for a in (target.z, target.lower, target.upper)), target.epsilon)


def folds(seed):
    """Draw three folds; return the rows that each is trained on."""
    part = np.random.default_rng(seed).permutation(np.arange(N) % 3)
    return [part != k for k in range(3)]


def reference(K, target, rows):
    """Train on some rows with `solve_dual` or `solve_dual_regression`; return what was found, and the decision on all rows."""
    part, C, z = K[np.ix_(rows, rows)], (target.upper - target.lower)[rows], target.z[rows]
    if target.epsilon:
        found = solve_dual_regression(part, z, C / 2, target.epsilon, tol=TOL)
        return found, K[:, rows] @ found.alpha + found.bias
    found = solve_dual(part, z, C, "exact", bias=True, tol=TOL)
    return found, K[:, rows] @ (found.alpha * z) + found.bias


def assert_solved(K, target, state):
    assert state.converged
    assert ((target.lower <= state.beta) & (state.beta <= target.upper)).all()
    assert abs(state.beta.sum()) <= 1e-12 * N * (target.upper - target.lower).max()
    # the slope on all rows, also on those that are not trained on; a constant in K changes it by sum(beta) = 0
    scale = np.abs(state.beta).sum() + 1
    np.testing.assert_allclose(state.slope, K @ state.beta - target.z, atol=2e-7 * scale)


@settings(max_examples=10, deadline=None)
@given(SEEDS, TASKS, COSTS)
def test_a_cold_fold_is_the_exact_solution(seed, task, C):
    single, offset, K, target = drawn_target(seed, task, C)
    solver = FoldSolver(N)
    for rows in folds(seed):
        fold = on(target, rows)
        state = solver.cold(single, offset, fold, TOL)
        assert_solved(K, fold, state)
        assert (state.beta[~rows] == 0).all()
        found, decision = reference(K, target, rows)
        assert objective(K, fold.z, state.beta, fold.epsilon) == pytest.approx(found.objective, rel=1e-5)
        np.testing.assert_allclose(state.decision(fold), decision, atol=1e-3)
        assert state.bias(fold) == pytest.approx(found.bias, abs=1e-3)


@settings(max_examples=10, deadline=None)
@given(SEEDS, TASKS, COSTS, st.booleans())
def test_a_warm_fold_says_what_a_cold_one_does(seed, task, C, same):
    single, offset, K, target = drawn_target(seed, task, C)
    solver = FoldSolver(N)
    start = solver.cold(single, offset, target, TOL)
    before = start.beta.copy(), start.slope.copy()
    for rows in folds(seed):
        fold = on(target, rows)
        warm = solver.warm(single, offset, fold, start, target.z, TOL, same=same)
        assert_solved(K, fold, warm)
        assert (warm.beta[~rows] == 0).all()
        cold = solver.cold(single, offset, fold, TOL)
        np.testing.assert_allclose(warm.decision(fold), cold.decision(fold), atol=1e-3)
        np.testing.assert_array_equal((start.beta, start.slope), before)  # it serves the next fold as well


@settings(max_examples=10, deadline=None)
@given(SEEDS, TASKS, COSTS)
def test_a_start_with_another_kernel_or_another_cost(seed, task, C):
    single, offset, _, target = drawn_target(seed, task, C)
    solver = FoldSolver(N)
    start = solver.cold(single, offset, target, TOL)
    other, _, K, dearer = drawn_target(seed, task, 3 * C, gamma=0.1)
    own = solver.warm(single, offset, target, start, target.z, 10 * TOL)  # at its own solution nothing changes
    np.testing.assert_allclose((own.beta, own.slope), (start.beta, start.slope), atol=1e-12 * max(C, 1.0))
    warm = solver.warm(other, offset, dearer, start, target.z, TOL, same=False)
    assert_solved(K, dearer, warm)
    cold = solver.cold(other, offset, dearer, TOL)
    np.testing.assert_allclose(warm.decision(dearer), cold.decision(dearer), atol=1e-3)


@pytest.mark.parametrize("gamma", [1e-6, 100.0])
def test_hard_settings_agree_with_scikit_learn(gamma):
    single, offset, K, target = drawn_target(3, "classes", 1000.0, gamma)
    rows = folds(3)[0]
    state = FoldSolver(N).cold(single, offset, on(target, rows), 1e-5)
    machine = SVC(C=1000.0, kernel="precomputed", tol=1e-5).fit(K[np.ix_(rows, rows)], target.z[rows])
    np.testing.assert_allclose(state.decision(on(target, rows)), machine.decision_function(K[:, rows]), atol=5e-3)


def test_without_free_rows_the_bias_is_in_the_middle():
    z = np.array([1.0, 1, -1, -1])
    fold = Target(z, *symmetric_bounds(0.1, z, False))
    K = np.diag([0.5, 1.0, 2.0, 4.0]).astype(np.float32)
    state = FoldSolver(4).cold(K, 0.0, fold, 1e-6)
    np.testing.assert_array_equal(state.beta, 0.1 * z)
    gain = z - K.diagonal() * 0.1 * z  # at their bounds positive rows ask for at most, negative for at least
    assert state.bias(fold) == pytest.approx((gain[:2].min() + gain[2:].max()) / 2)


@settings(max_examples=40, deadline=None)
@given(SEEDS, st.integers(1, 30), st.booleans())
@example(270, 7, True)  # the room adds up to less than the sum, by rounding
def test_rebalance_makes_the_sum_zero_inside_the_bounds(seed, n, one_sided):
    rng = np.random.default_rng(seed)
    lower, upper = -rng.choice([0.0, 0.1, 2.5], n), rng.choice([0.0, 0.1, 2.5], n)
    if one_sided:
        lower, upper = np.where(rng.random(n) < 0.5, (lower, 0 * upper), (0 * lower, upper))
    beta = np.clip(lower + (upper - lower) * rng.choice([0.0, 1.0, rng.random()], n), lower, upper)
    slope, before = rng.standard_normal(n), beta.copy()
    assert _fold_kernels.rebalance(beta, slope, lower, upper)  # 0 is always inside
    assert ((lower <= beta) & (beta <= upper)).all()
    assert abs(beta.sum()) <= 1e-13 * n
    moved = np.sign(beta - before)[beta != before]
    assert (moved == -np.sign(before.sum())).all()
    # those that cost least moved first: all but the last one moved is at its end, and none cheaper stayed
    changed = np.flatnonzero(beta != before)
    cost = -slope if before.sum() > 0 else slope
    end = lower if before.sum() > 0 else upper
    for k in changed:
        cheaper = cost < cost[k]
        np.testing.assert_allclose(beta[cheaper], end[cheaper], atol=1e-13)


def test_rebalance_says_where_it_cannot_leaves_what_is_balanced_and_passes_no_bound_by_rounding():
    beta = np.array([0.5, 0.7])
    assert not _fold_kernels.rebalance(beta, np.zeros(2), np.array([0.2, 0.1]), np.ones(2))
    beta = np.array([-0.25, 0.25])
    assert _fold_kernels.rebalance(beta, np.array([3.0, -1.0]), -np.ones(2), np.ones(2))
    assert beta.tolist() == [-0.25, 0.25]
    lower, upper = np.array([-0.1, -0.1]), np.zeros(2)
    for share in np.random.default_rng(0).random(200):
        beta = np.array([-0.1, -0.1 * share])
        assert _fold_kernels.rebalance(beta, np.array([0.0, 1.0]), lower, upper)
        assert ((lower <= beta) & (beta <= upper)).all()


@pytest.mark.parametrize(("C", "gamma"), [(1.0, 0.4), (1e4, 0.01)])
def test_machines_of_pairs_of_classes_are_solved_to_the_tolerance(C, gamma):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((90, 3))
    code = np.digitize(X[:, 0] + 0.7 * rng.standard_normal(90), [-0.5, 0.5])
    z = np.array([np.where(code == i, 1.0, np.where(code == j, -1.0, 0.0)) for i, j in ((0, 1), (0, 2), (1, 2))])
    target = Target(z, *symmetric_bounds(C, z, False))
    K, offset = SingleGram(X).matrix(Kernel("rbf", gamma))
    state = FoldSolver(90).cold(K, offset, target, TOL)
    assert state.converged
    double = K.astype(np.float64) + offset
    for k in range(3):
        slope = double @ state.beta[k] - z[k]
        beta, low, high = state.beta[k], target.lower[k], target.upper[k]
        assert slope[beta > low].max() - slope[beta < high].min() <= 2 * TOL
        assert abs(beta.sum()) <= 1e-9 * C


@pytest.mark.parametrize("bound", [1e6, 0.7])
def test_a_small_newton_step_reaches_the_minimum_of_its_face(bound):
    rng = np.random.default_rng(0)
    K = np.exp(-((rng.standard_normal((30, 2))[:, None] - rng.standard_normal((30, 2))) ** 2).sum(axis=2))
    K = (K @ K.T + 0.1 * np.eye(30)).astype(np.float32)
    z, beta = np.where(rng.random(30) < 0.5, 1.0, -1.0), rng.uniform(-0.5, 0.5, 30)
    free = np.flatnonzero(rng.random(30) < 0.5)
    double = K.astype(np.float64) + 0.25
    before, g = beta.copy(), double @ beta - z
    stops = small_newton_step(K, 0.25, g, beta, np.full(30, -bound), np.full(30, bound), 0.0, free)
    assert (stops == 0) == (bound > 1.0)
    assert np.allclose(g - g[free[0]], (double @ beta - z) - (double @ beta - z)[free[0]], atol=1e-9)
    assert beta.sum() == pytest.approx(before.sum(), abs=1e-9)
    assert np.abs(beta).max() <= bound
    assert objective(double, z, beta) > objective(double, z, before)
    inner = free[np.abs(beta[free]) < bound]
    assert np.ptp(g[inner]) < 1e-7  # where all may move, no pair gains anything
